import Testing

@testable import Call

@Suite(.serialized) struct DemoTests {
  @Test func aCallConnectsIsSeenAndHeard() async throws {
    var options = Demo.Options()
    options.seconds = 2.5
    let measured = try await Demo(options: options) { _ in }.run()
    #expect(measured.result.connectMilliseconds > 0)
    #expect(measured.result.firstFrameMilliseconds > 0)
    #expect(measured.result.framesSent > 10)
    #expect(measured.result.framesShown > 10)
    #expect(measured.result.captureToDisplay.p50 > 0)
    #expect(measured.result.audioDelayMilliseconds != nil)
    #expect(measured.result.bitrateKilobits > 50)
    #expect(measured.result.codec == "VP8")
    #expect(measured.png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
  }
}
