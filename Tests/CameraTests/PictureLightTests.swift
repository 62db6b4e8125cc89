import Camera
import Frames
import Testing

@testable import Camera

@Suite struct PictureLightTests {
  private func picture(_ luma: (Int, Int) -> UInt8) -> PictureLight {
    let buffer = VideoBuffer(width: 96, height: 60)
    for y in 0..<60 { for x in 0..<96 { buffer.luma[y * buffer.lumaStride + x] = luma(x, y) } }
    return PictureLight(of: buffer)
  }

  @Test func aCoveredLensIsDark() {
    let light = picture { x, y in UInt8(16 + (x + y) % 5) }
    #expect(light.isDark)
  }

  @Test func blackAndWhiteAreTheEnds() {
    let (black, white) = (picture { _, _ in 16 }, picture { _, _ in 235 })
    #expect(black.brightness == 0 && black.isDark && black.isFlat)
    #expect(white.brightness == 1 && !white.isDark && white.isFlat)
    // Drivers that fill buffers with nothing are below black.
    #expect(picture { _, _ in 0 }.brightness == 0)
  }

  @Test func aPictureWithSomethingInItIsNeither() throws {
    let light = picture { x, _ in x & 4 == 0 ? 60 : 180 }
    #expect(!light.isDark && !light.isFlat && abs(light.brightness - 104.0 / 219) < 0.01 && abs(light.contrast - 60.0 / 219) < 0.01)
    var camera = SyntheticCamera(width: 320, height: 180)
    let shown = PictureLight(of: try camera.frame(at: 3, captureTime: .zero).buffer)
    #expect(!shown.isDark && !shown.isFlat)
  }
}
