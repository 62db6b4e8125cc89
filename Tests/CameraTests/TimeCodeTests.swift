import Base
import Frames
import Testing

@testable import Camera

struct TimeCodeTests {
  @Test(arguments: [(160, 120), (320, 180), (641, 359), (1_280, 720), (90, 160)])
  func whatIsDrawnIsRead(width: Int, height: Int) {
    let code = TimeCode(index: 0xDEAD_BEEF, milliseconds: 0xAB_1234_5678)
    let buffer = VideoBuffer(width: width, height: height)
    code.draw(into: buffer)
    #expect(TimeCode.read(from: buffer) == code)
  }

  @Test(arguments: [(160, 90), (320, 240), (480, 270), (853, 480), (1_920, 1_080)])
  func isReadAfterScaling(width: Int, height: Int) {
    let frame = SyntheticCamera(width: 640, height: 360).frame(at: 1_234)
    let scaled = frame.buffer.scaled(width: width, height: height, from: VideoBufferPool())
    // The strip's height follows the width: other proportions move its rows.
    let keepsProportions = abs(width * 9 - height * 16) < 32
    #expect((TimeCode.read(from: scaled)?.index == 1_234) == keepsProportions)
  }

  @Test func isReadInsideOfAComposedPicture() {
    let small = SyntheticCamera(width: 320, height: 180).frame(at: 9).buffer
    let screen = VideoBuffer(width: 640, height: 480)
    screen.fill(luma: 90)
    for row in 0..<180 {
      for column in 0..<320 { screen.luma[(200 + row) * screen.lumaStride + 100 + column] = small.luma[row * small.lumaStride + column] }
    }
    #expect(TimeCode.read(from: screen) == nil)
    #expect(TimeCode.read(from: screen, x: 100, y: 200, width: 320)?.index == 9)
    #expect(TimeCode.read(from: screen, x: 400, y: 200, width: 320) == nil, "outside of the picture")
  }

  @Test func aPictureWithoutCodeHasNone() {
    let buffer = VideoBuffer(width: 320, height: 180)
    buffer.fill(luma: 235)
    #expect(TimeCode.read(from: buffer) == nil)
    var random = RandomSource(seed: 3)
    for _ in 0..<200 {
      for row in 0..<60 {
        for column in 0..<320 { buffer.luma[row * buffer.lumaStride + column] = UInt8(truncatingIfNeeded: random.next()) }
      }
      #expect(TimeCode.read(from: buffer) == nil)
    }
  }

  @Test func aDamagedBlockIsNoticed() {
    let code = TimeCode(index: 77, milliseconds: 123_456)
    for column in 0..<32 {
      for row in 0..<3 {
        let buffer = VideoBuffer(width: 640, height: 360)
        code.draw(into: buffer)
        let inverted: UInt8 = buffer.luma[(row * 20 + 10) * buffer.lumaStride + column * 20 + 10] > 128 ? 32 : 220
        buffer.fillLuma(x: column * 20..<column * 20 + 20, y: row * 20..<row * 20 + 20, with: inverted)
        #expect(TimeCode.read(from: buffer) == nil)
      }
    }
  }
}
