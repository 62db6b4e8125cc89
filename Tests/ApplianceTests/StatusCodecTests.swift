import Codecs
import Testing

@testable import Appliance

@Suite struct StatusCodecTests {
  @Test func whoCodesIsToldWithTheReason() throws {
    let choice = CodecChoice(
      codec: .h264, direction: .encode, implementation: "OpenH264", isHardware: false,
      reason: "V4L2 chip (/dev/video11) hung: no coded picture within 100 ms")
    let codec = Status.Codec(choice)
    #expect(codec.text == "H264 encode: OpenH264 (V4L2 chip (/dev/video11) hung: no coded picture within 100 ms)")
    #expect(
      try JSON(codec) == [
        "codec": "H264", "direction": "encode", "implementation": "OpenH264", "hardware": false,
        "reason": "V4L2 chip (/dev/video11) hung: no coded picture within 100 ms",
      ])
  }
}
