import Frames
import Testing

@testable import Stage

@Suite struct ScanoutPainterTests {
  private static let screen = (width: 96, height: 64)

  /// A picture of four colours, and a fifth in the middle when `isMarked`.
  private static func show(on composer: Composer, isMarked: Bool) {
    let colors = [TestFrames.Paint.red, .green, .blue, .white].map(\.color)
    let layer = TestSurfaces.page(width: screen.width, height: screen.height) { bitmap in
      for (index, color) in colors.enumerated() {
        let area = Rectangle(x: index % 2 * 48, y: index / 2 * 32, width: 48, height: 32)
        TestSurfaces.fill(bitmap, area, TestSurfaces.pixel(color))
      }
      if isMarked { TestSurfaces.fill(bitmap, mark, TestSurfaces.pixel(TestFrames.Paint.gray.color)) }
    }
    composer.update(LayersUpdate(layers: [layer], isRearranged: true))
  }
  private static let mark = Rectangle(x: 37, y: 23, width: 21, height: 17)

  /// A buffer of the mode's size, with a border of other memory around it that must stay as it is.
  private final class Target {
    let buffer: DumbBuffer
    private let memory: UnsafeMutableRawBufferPointer
    private let border = 64

    init(width: Int, height: Int) {
      let stride = width * 4 + 2 * border
      memory = .allocate(byteCount: stride * (height + 2), alignment: 64)
      memory.initializeMemory(as: UInt8.self, repeating: 0xA5)
      let base = memory.baseAddress!.assumingMemoryBound(to: UInt8.self) + stride + border
      buffer = DumbBuffer(
        framebuffer: Framebuffer(id: 1), format: .xrgb8888, width: width, height: height, planes: [(base, stride)], handle: 1,
        memory: memory)
    }

    deinit { memory.deallocate() }

    subscript(x: Int, y: Int) -> Color {
      let pixel = buffer.planes[0].base + y * buffer.planes[0].stride + x * 4
      return Color(red: pixel[2], green: pixel[1], blue: pixel[0])
    }

    var pixels: [Color] { (0..<buffer.width * buffer.height).map { self[$0 % buffer.width, $0 / buffer.width] } }

    /// Whether nothing was written outside of the buffer.
    var isBorderWhole: Bool {
      memory.indices.allSatisfy { index in
        let (row, column) = (index / buffer.planes[0].stride - 1, index % buffer.planes[0].stride - border)
        return (0..<buffer.height).contains(row) && (0..<buffer.width * 4).contains(column) || memory[index] == 0xA5
      }
    }
  }

  /// A monitor of another shape, or turned, shows the whole picture in its middle, on black.
  @Test(arguments: [
    (96, 64, VideoFrame.Rotation.none), (64, 96, .quarter), (48, 48, .none), (200, 100, .none), (100, 200, .threeQuarters), (24, 16, .half),
  ])
  func everyMonitorShowsTheWholePicture(_ width: Int, _ height: Int, _ rotation: VideoFrame.Rotation) {
    let composer = Composer(width: Self.screen.width, height: Self.screen.height)
    let mounting = Mounting(width: width, height: height, rotation: rotation)
    let painter = ScanoutPainter(width: mounting.uprightWidth)
    let target = Target(width: width, height: height)
    Self.show(on: composer, isMarked: false)
    painter.paint(
      composer.screen, of: composer, .composed(without: []), overlay: composer.overlay, turn: rotation, to: target.buffer)
    let place = VideoFit.contain.placement(width: 96, height: 64, in: mounting.upright).target
    for (index, paint) in [TestFrames.Paint.red, .green, .blue, .white].enumerated() {
      let (x, y) = (place.x + place.width * (1 + index % 2 * 2) / 4, place.y + place.height * (1 + index / 2 * 2) / 4)
      let pixel = mounting.onMonitor(Rectangle(x: x, y: y, width: 1, height: 1))
      #expect(target[pixel.x, pixel.y].resembles(paint.color))
    }
    for y in 0..<mounting.uprightHeight {
      for x in 0..<mounting.uprightWidth where !place.contains(x: x, y: y) {
        let pixel = mounting.onMonitor(Rectangle(x: x, y: y, width: 1, height: 1))
        #expect(target[pixel.x, pixel.y] == .black)
      }
    }
    #expect(target.isBorderWhole)

    // What changed alone gives the same as everything.
    Self.show(on: composer, isMarked: true)
    painter.paint(Self.mark, of: composer, .composed(without: []), overlay: composer.overlay, turn: rotation, to: target.buffer)
    let whole = Target(width: width, height: height)
    ScanoutPainter(width: mounting.uprightWidth).paint(
      composer.screen, of: composer, .composed(without: []), overlay: composer.overlay, turn: rotation, to: whole.buffer)
    #expect(target.pixels == whole.pixels)
    #expect(target.isBorderWhole)
  }
}
