import Base
import Testing

@testable import STUN

@Suite struct MessageTests {
  @Test func `the sample request of RFC 5769 is read and its integrity holds`() throws {
    try read(Vectors.request) { message in
      let (messageClass, method, id) = (message.messageClass, message.method, message.transactionID)
      #expect(messageClass == .request && method == .binding)
      #expect(id == TransactionID(high: 0xb7e7_a701, low: 0xbc34_d686_fa87_dfae))
      let (software, username) = (message.text(.software), message.text(.username))
      #expect(software == "STUN test client" && username == "evtj:h6vY")
      let (priority, tieBreaker) = (message.uint32(.priority), message.uint64(.iceControlled))
      #expect(priority == 0x6e00_01ff && tieBreaker == 0x932f_f9b1_5126_3b36)
    }
    #expect(try read(Vectors.request) { $0.hasValidIntegrity(key: Vectors.password) })
    #expect(try !read(Vectors.request) { $0.hasValidIntegrity(key: Array("another password".utf8)) })
    #expect(try read(Vectors.request) { $0.isFingerprintValid } == true)
  }

  @Test func `the sample responses of RFC 5769 give their addresses`() throws {
    for (bytes, address) in [
      (Vectors.response4, "192.0.2.1:32853"), (Vectors.response6, "[2001:db8:1234:5678:11:2233:4455:6677]:32853"),
    ] {
      #expect(try read(bytes) { $0.messageClass } == .success)
      #expect(try read(bytes) { $0.xorAddress(.xorMappedAddress)?.description } == address)
      #expect(try read(bytes) { $0.hasValidIntegrity(key: Vectors.password) })
      #expect(try read(bytes) { $0.isFingerprintValid } == true)
    }
  }

  @Test func `one changed bit anywhere is noticed`() throws {
    for index in Vectors.response4.indices {
      var bytes = Vectors.response4
      bytes[index] ^= 0x10
      let passes = try? read(bytes) { $0.isFingerprintValid == true && $0.hasValidIntegrity(key: Vectors.password) }
      #expect(passes != true, "byte \(index)")
    }
  }

  @Test func `bytes that are not STUN are named as such`() {
    func error(_ bytes: [UInt8]) -> MessageError? {
      do {
        _ = try Message(bytes.span.bytes)
        return nil
      } catch { return error }
    }
    var bytes = Vectors.request
    #expect(error(bytes) == nil)
    #expect(error(Array(bytes.prefix(19))) == .tooShort)
    #expect(error(Array(bytes.prefix(60))) == .tooShort)
    #expect(error(bytes + [0, 0, 0, 0]) == .badLength)
    bytes[4] = 0x22
    #expect(error(bytes) == .notSTUN)
    let isSTUN = Message.isSTUN(bytes.span.bytes)
    #expect(!isSTUN)
    bytes = Vectors.request
    bytes[0] = 0x80
    #expect(error(bytes) == .notSTUN)
    bytes = Vectors.request
    bytes[23] = 0xFF
    #expect(error(bytes) == .truncatedAttribute(.software))
  }

  @Test func `what follows the integrity is not believed`() throws {
    var builder = MessageBuilder(.request, .binding, transactionID: TransactionID(high: 1, low: 2))
    builder.append(.username, text: "a:b")
    builder.appendIntegrity(key: [1])
    builder.append(.useCandidate)
    let bytes = builder.bytes
    #expect(try read(bytes) { $0.hasValidIntegrity(key: [1]) })
    #expect(try !read(bytes) { $0.has(.useCandidate) })
    #expect(try read(bytes) { $0.text(.username) } == "a:b")
  }
}
