import Base
import Testing

@testable import STUN

@Suite struct MessageBuilderTests {
  let id = TransactionID(high: 0xb7e7_a701, low: 0xbc34_d686_fa87_dfae)

  @Test func `a response is written as RFC 5769 has it, but for the padding's value`() throws {
    var builder = MessageBuilder(.success, .binding, transactionID: id)
    builder.append(.software, text: "test vector")
    builder.append(.xorMappedAddress, xorAddress: try #require(SocketAddress("192.0.2.1:32853")))
    var expected = Vectors.response4
    expected[35] = 0  // The sample pads with a space.
    #expect(builder.bytes.dropFirst(4) == expected[4..<48])
    #expect(builder.bytes[2...3] == [0, 28])
  }

  @Test(arguments: ["192.0.2.1:1", "255.255.255.255:65535", "[2001:db8::1]:3478", "[::]:0"])
  func `addresses come back as they were written`(text: String) throws {
    let address = try #require(SocketAddress(text))
    var builder = MessageBuilder(.success, .allocate, transactionID: id)
    builder.append(.xorRelayedAddress, xorAddress: address)
    builder.append(.xorRelayedAddress, xorAddress: SocketAddress(.loopback4, 9))
    builder.append(.alternateServer, address: address)
    let bytes = builder.bytes
    #expect(try read(bytes) { $0.xorAddress(.xorRelayedAddress) } == address)
    #expect(try read(bytes) { $0.xorAddresses(.xorRelayedAddress) } == [address, SocketAddress(.loopback4, 9)])
    #expect(try read(bytes) { $0.address(.alternateServer) } == address)
  }

  @Test func `every class and method survives the interleaved type field`() {
    for method in [Method.binding, .allocate, .channelBind, Method(rawValue: 0xFFF), Method(rawValue: 0xA5A)] {
      for messageClass in [MessageClass.request, .indication, .success, .error] {
        let type = MessageType(field: MessageType(messageClass, method).field)
        #expect(type.method == method && type.messageClass == messageClass)
        #expect(MessageType(messageClass, method).field < 0x4000)
      }
    }
  }

  @Test func `both integrities and the fingerprint hold together, a shortened SHA-256 as well`() throws {
    var builder = MessageBuilder(.request, .refresh, transactionID: id)
    builder.append(.lifetime, uint32: 600)
    builder.appendIntegrity(key: [1, 2, 3])
    builder.appendIntegritySHA256(key: [4, 5, 6])
    builder.appendFingerprint()
    var bytes = builder.bytes
    #expect(try read(bytes) { $0.hasValidIntegrity(key: [1, 2, 3]) && !$0.hasValidIntegrity(key: [4, 5, 6]) })
    #expect(try read(bytes) { $0.hasValidIntegritySHA256(key: [4, 5, 6]) && !$0.hasValidIntegritySHA256(key: [1, 2, 3]) })
    #expect(try read(bytes) { $0.isFingerprintValid } == true)
    // Cut to 16 bytes it is another digest, as the length counts; so only a short one that was computed as such may pass.
    bytes.replaceSubrange(bytes.count - 24..<bytes.count, with: [])
    bytes[bytes.count - 17] = 16
    bytes[3] -= 24
    #expect(try !read(bytes) { $0.hasValidIntegritySHA256(key: [4, 5, 6]) })
  }

  @Test func `errors and unknown attributes are told`() throws {
    var builder = MessageBuilder(.error, .binding, transactionID: id)
    builder.append(ErrorCode(487, "Role Conflict"))
    builder.append(AttributeType(rawValue: 0x7777), uint32: 1)
    builder.append(AttributeType(rawValue: 0x7777), uint32: 2)
    builder.append(AttributeType(rawValue: 0x9999), uint32: 2)
    let bytes = builder.bytes
    #expect(try read(bytes) { $0.errorCode } == ErrorCode(487, "Role Conflict"))
    #expect(try read(bytes) { $0.errorCode?.description } == "487 Role Conflict")
    #expect(try read(bytes) { $0.unknownAttributes(known: [.errorCode]) } == [AttributeType(rawValue: 0x7777)])
    #expect(try read(bytes) { MessageBuilder(.success, to: $0).transactionID } == id)
  }
}
