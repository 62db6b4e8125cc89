import Testing

@testable import STUN

@Suite struct LongTermCredentialTests {
  let id = TransactionID(high: 1, low: 2)

  func challenge(realm: String = "example.org", nonce: String, algorithms: [UInt8]? = nil) -> [UInt8] {
    var builder = MessageBuilder(.error, .allocate, transactionID: id)
    builder.append(ErrorCode(401, "Unauthorized"))
    builder.append(.realm, text: realm)
    builder.append(.nonce, text: nonce)
    if let algorithms { builder.append(.passwordAlgorithms, bytes: algorithms) }
    return builder.bytes
  }

  @Test func `the long-term sample of RFC 5769 is signed with the same digest`() throws {
    var credential = LongTermCredential(username: "マトリックス", password: "TheMatrIX")
    let answer = challenge(nonce: "f//499k954d6OL34oL9FSTvy64sA")
    #expect(try credential.learn(answer))
    let sample = Vectors.longTermRequest
    #expect(try read(sample) { credential.verifies($0) })
    #expect(try !credential.learn(answer), "the same challenge again changes nothing")
  }

  @Test func `nothing is signed before the server asked`() {
    var builder = MessageBuilder(.request, .allocate, transactionID: id)
    let before = builder.bytes
    LongTermCredential(username: "u", password: "p").sign(&builder)
    #expect(builder.bytes == before)
  }

  @Test func `SHA-256 is used when list and nonce both offer it`() throws {
    let list: [UInt8] = [0, 2, 0, 0, 0, 1, 0, 0]
    var credential = LongTermCredential(username: "u", password: "p")
    let offer = challenge(nonce: "obMatJos2gAAArest", algorithms: list)
    #expect(try credential.learn(offer))
    #expect(credential.algorithm == .sha256)
    var builder = MessageBuilder(.request, .allocate, transactionID: id)
    credential.sign(&builder)
    let bytes = builder.bytes
    #expect(try read(bytes) { credential.verifies($0) })
    #expect(try read(bytes) { $0.has(.passwordAlgorithm) && $0.attribute(.passwordAlgorithms)?.byteCount == 8 })
    #expect(try read(bytes) { $0.hasIntegrity && !$0.hasValidIntegrity(key: []) })

    let withoutFlag = challenge(nonce: "plain", algorithms: list)
    #expect(try credential.learn(withoutFlag))
    #expect(credential.algorithm == .md5)
  }

  @Test func `a challenge without nonce is no challenge`() throws {
    var credential = LongTermCredential(username: "u", password: "p")
    let bytes = MessageBuilder(.error, .allocate, transactionID: id).bytes
    #expect(try !credential.learn(bytes))
    #expect(!credential.isChallenged)
  }
}
