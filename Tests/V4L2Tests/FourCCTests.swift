import Testing
import V4L2

@Suite struct FourCCTests {
  @Test func codesAreThoseOfTheKernel() {
    #expect(FourCC.yuyv.rawValue == 0x5659_5559)
    #expect(FourCC.mjpeg.rawValue == 0x4750_4A4D)
    #expect(FourCC.nv12.description == "NV12")
    #expect(FourCC(rawValue: FourCC("Y16 ").rawValue | 1 << 31).description == "Y16 (big-endian)")
  }
}
