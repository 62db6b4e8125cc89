import CYUV
import Frames

/// Paints composed pixels into a buffer that a monitor is fed from: strip by strip in the processor's cache, each then written once, in order,
/// turned as the monitor hangs. The buffer may be memory that is slow to read, so it never is.
final class ScanoutPainter {
  private var strip: UnsafeMutablePointer<UInt8>
  private let stride: Int
  private let width: Int

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
    PageComposition.forEachStrip(of: area) { part in
      let raster = unsafe Raster(pixels: strip, stride: stride, bounds: part)
      composer.page.composeStrip(part, content, on: raster, overlay: overlay)
      write(raster, mounting, to: buffer)
    }
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
