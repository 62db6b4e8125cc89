import CYUV
import Frames

/// Paints composed pixels into a buffer that a monitor is fed from: strip by strip in the processor's cache, each then written once, in order,
/// turned as the monitor hangs. The buffer may be memory that is slow to read, so it never is.
final class ScanoutPainter {
  private var strip: UnsafeMutablePointer<UInt8>
  private let stride: Int
  private let width: Int
  /// The picture at its own size, and as large as the monitor takes it, when these differ.
  private var canvas: SurfaceBitmap?
  private var fitted: SurfaceBitmap?

  /// A painter for upright pictures up to `width` pixels wide.
  init(width: Int) {
    self.width = width
    stride = (width * 4 + 63) & ~63
    let memory = UnsafeMutableRawPointer.allocate(byteCount: stride * PageComposition.stripHeight, alignment: 64)
    strip = unsafe memory.bindMemory(to: UInt8.self, capacity: stride * PageComposition.stripHeight)
  }

  deinit { unsafe strip.deallocate() }

  /// Paints an area of the upright picture; `turn` says how far it is turned clockwise in the buffer.
  func paint(
    _ area: Rectangle, of composer: Composer, _ content: PlaneContent, overlay: PageComposition.Overlay, turn: VideoFrame.Rotation,
    to buffer: DumbBuffer
  ) {
    let mounting = Mounting(width: buffer.width, height: buffer.height, rotation: turn)
    guard composer.screen == mounting.upright else {
      return paintScaled(area, of: composer, content, overlay: overlay, mounting, to: buffer)
    }
    PageComposition.forEachStrip(of: area) { part in
      let raster = unsafe Raster(pixels: strip, stride: stride, bounds: part)
      composer.page.composeStrip(part, content, on: raster, overlay: overlay)
      write(raster, mounting, to: buffer)
    }
  }

  /// Paints an area of a picture that is larger or smaller than the monitor, because it is made for another one: as large as fits, in the middle.
  private func paintScaled(
    _ area: Rectangle, of composer: Composer, _ content: PlaneContent, overlay: PageComposition.Overlay, _ mounting: Mounting,
    to buffer: DumbBuffer
  ) {
    let (screen, monitor) = (composer.screen, mounting.upright)
    let canvas = SurfaceBitmap.reuse(self.canvas, width: screen.width, height: screen.height)
    let fitted = SurfaceBitmap.reuse(self.fitted, width: monitor.width, height: monitor.height)
    (self.canvas, self.fitted) = (canvas, fitted)
    PageComposition.forEachStrip(of: area) { part in
      composer.page.composeStrip(part, content, on: canvas.raster(x: 0, y: 0), overlay: overlay)
    }
    let place = VideoFit.contain.placement(width: screen.width, height: screen.height, in: monitor).target
    let pixels = fitted.raster(x: 0, y: 0)
    if area == screen { monitor.subtracting(place) { pixels.fill($0, Color.black.opaqueValue) } }
    let part = area == screen ? place : ScanoutPainter.reach(area, from: screen, to: place)
    let target = unsafe pixels.address(x: place.x, y: place.y)
    unsafe ARGBScaleClip(
      canvas.pixels, Int32(canvas.stride), Int32(screen.width), Int32(screen.height), target, Int32(fitted.stride), Int32(place.width),
      Int32(place.height), Int32(part.x - place.x), Int32(part.y - place.y), Int32(part.width), Int32(part.height), kFilterBilinear)
    if let changed = pixels.clipped(to: area == screen ? monitor : part) { write(changed, mounting, to: buffer) }
  }

  /// The pixels at `place` that an area of `screen` has a part in: each mixes pixels around where it comes from.
  private static func reach(_ area: Rectangle, from screen: Rectangle, to place: Rectangle) -> Rectangle {
    func edge(_ value: Int, _ scaled: Int, _ whole: Int, isUpper: Bool) -> Int {
      (value * scaled + (isUpper ? whole - 1 : 0)) / whole
    }
    let (left, top) = (
      edge(area.x - 2, place.width, screen.width, isUpper: false), edge(area.y - 2, place.height, screen.height, isUpper: false)
    )
    let right = edge(area.x + area.width + 2, place.width, screen.width, isUpper: true)
    let bottom = edge(area.y + area.height + 2, place.height, screen.height, isUpper: true)
    return Rectangle(x: place.x + left - 1, y: place.y + top - 1, width: right - left + 2, height: bottom - top + 2).intersection(place)
  }

  /// Writes pixels of the upright picture where they belong in the buffer.
  private func write(_ raster: Raster, _ mounting: Mounting, to buffer: DumbBuffer) {
    let area = raster.bounds
    let place = mounting.onMonitor(area)
    let (base, stride) = unsafe buffer.planes[0]
    let target = unsafe base + place.y * stride + place.x * 4
    unsafe ARGBRotate(
      raster.pixels, Int32(raster.stride), target, Int32(stride), Int32(area.width), Int32(area.height),
      RotationMode(rawValue: UInt32(mounting.rotation.rawValue)))
  }
}
