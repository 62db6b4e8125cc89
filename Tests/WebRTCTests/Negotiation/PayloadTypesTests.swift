import Testing

@testable import WebRTC

@Suite struct PayloadTypesTests {
  @Test func theNumberBehindTheLastOneIsNotUsed() {
    var payloadTypes = PayloadTypes()
    payloadTypes.note(127, name: "VP8", clockRate: 90_000, channelCount: nil, parameters: "")
    #expect(payloadTypes.retransmissionNumber(for: 127) == 96)
  }

  @Test func numbersThatLookLikeControlPacketsAreNotUsed() {
    var payloadTypes = PayloadTypes()
    payloadTypes.note(63, name: "VP8", clockRate: 90_000, channelCount: nil, parameters: "")
    #expect(payloadTypes.retransmissionNumber(for: 63) == 96)
  }

  @Test func thereIsNoNumberWhenAllAreTaken() {
    var payloadTypes = PayloadTypes()
    for number in 0...127 {
      payloadTypes.note(UInt8(number), name: "codec\(number)", clockRate: 90_000, channelCount: nil, parameters: "")
    }
    #expect(payloadTypes.retransmissionNumber(for: 96) == nil)
  }
}
