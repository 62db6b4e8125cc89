/// Pixels of one surface as its client committed them: premultiplied, blue first, in memory the stage owns.
///
/// Written by the Wayland server and read by the composition, both on the stage's thread.
package final class SurfaceBitmap: @unchecked Sendable {
  // Unchecked: the stage's thread alone touches the pixels.

  /// Width in pixels.
  package let width: Int
  /// Height in pixels.
  package let height: Int
  /// Bytes from one row to the next.
  package let stride: Int
  /// The first pixel of the first row.
  package let pixels: UnsafeMutablePointer<UInt8>
  /// Whether every pixel hides what lies under it; the fourth byte of each then means nothing.
  package var isOpaque: Bool

  /// A transparent bitmap of `width` by `height` pixels, each at least 1.
  package init(width: Int, height: Int, isOpaque: Bool = false) {
    precondition(width > 0 && height > 0, "a bitmap has pixels")
    (self.width, self.height, self.isOpaque) = (width, height, isOpaque)
    stride = (width * 4 + 63) & ~63
    let memory = UnsafeMutableRawPointer.allocate(byteCount: stride * height, alignment: 64)
    pixels = unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: stride * height)
  }

  deinit { unsafe pixels.deallocate() }
}
