import CPango
import CYUV
import Glibc

/// The pixels that a scene is composed on: 32 bits each, blue first in memory, the fourth byte means nothing.
///
/// Sized once, owned by one output.
final class Canvas {
  let width: Int
  let height: Int
  /// Bytes from one row to the next.
  let stride: Int
  private let pixels: UnsafeMutablePointer<UInt8>

  init(width: Int, height: Int) {
    precondition((1...16_384).contains(width) && (1...16_384).contains(height), "a screen has pixels, and libyuv has limits")
    (self.width, self.height) = (width, height)
    stride = (width * 4 + 63) & ~63
    let memory = UnsafeMutableRawPointer.allocate(byteCount: stride * height, alignment: 64)
    pixels = unsafe memory.bindMemory(to: UInt8.self, capacity: stride * height)
    fill(bounds, .black)
  }

  deinit { unsafe pixels.deallocate() }

  /// The whole canvas.
  var bounds: Rectangle { Rectangle(x: 0, y: 0, width: width, height: height) }

  /// A view of all pixels.
  var raster: Raster { unsafe Raster(pixels: pixels, stride: stride, bounds: bounds) }

  /// Paints a rectangle, which must lie inside, in one colour.
  func fill(_ area: Rectangle, _ color: Color) {
    raster.fill(area, color.opaqueValue)
  }

  /// Lays a Cairo surface over the canvas with its upper left corner at (`x`, `y`), its transparency respected.
  func paint(_ surface: OpaquePointer, x: Int, y: Int) {
    let target = unsafe cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_RGB24, Int32(width), Int32(height), Int32(stride))
    let context = unsafe cairo_create(target)
    unsafe cairo_set_source_surface(context, surface, Double(x), Double(y))
    unsafe cairo_paint(context)
    unsafe cairo_destroy(context)
    unsafe cairo_surface_finish(target)
    unsafe cairo_surface_destroy(target)
  }

  /// A copy of the pixels as they are now.
  func picture() -> Picture {
    let copy = [UInt8](unsafeUninitializedCapacity: width * 4 * height) { bytes, count in
      unsafe ARGBCopy(pixels, Int32(stride), bytes.baseAddress, Int32(width * 4), Int32(width), Int32(height))
      unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width) { opaque in
        unsafe opaque.initialize(repeating: 255)
        // With a stride of 0 the row serves for all rows.
        _ = unsafe ARGBCopyYToAlpha(opaque.baseAddress, 0, bytes.baseAddress, Int32(width * 4), Int32(width), Int32(height))
      }
      count = width * 4 * height
    }
    return Picture(width: width, height: height, pixels: copy)
  }
}
