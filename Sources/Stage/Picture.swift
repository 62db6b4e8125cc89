import CPango
import Glibc

/// A copy of what a screen showed, which can be looked at pixel by pixel and written as PNG.
public struct Picture: Sendable, Equatable {
  /// Why a PNG could not be written or read: Cairo's own words.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// Cairo's own words.
    public let description: String

    init(_ status: cairo_status_t) { description = unsafe String(cString: cairo_status_to_string(status)) }
  }

  /// Width in pixels.
  public let width: Int
  /// Height in pixels.
  public let height: Int
  /// The rows from the top, four bytes a pixel: blue, green, red, 255.
  public let pixels: [UInt8]

  init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(pixels.count == width * height * 4, "four bytes a pixel")
    (self.width, self.height, self.pixels) = (width, height, pixels)
  }

  /// The colour at (`x`, `y`), which must lie inside.
  public subscript(x: Int, y: Int) -> Color {
    let index = (y * width + x) * 4
    return Color(red: pixels[index + 2], green: pixels[index + 1], blue: pixels[index])
  }

  /// The picture as a PNG file's bytes.
  public func png() throws(Failure) -> [UInt8] {
    var output: [UInt8] = []
    let status = unsafe pixels.withUnsafeBytes { bytes in
      // Cairo wants a mutable pointer, and only reads through it here.
      let base = unsafe UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
      let surface = unsafe cairo_image_surface_create_for_data(base, CAIRO_FORMAT_RGB24, Int32(width), Int32(height), Int32(width * 4))
      defer { unsafe cairo_surface_destroy(surface) }
      return unsafe withUnsafeMutablePointer(to: &output) { output in
        unsafe cairo_surface_write_to_png_stream(
          surface,
          { output, bytes, count in
            let output = unsafe output!.assumingMemoryBound(to: [UInt8].self)
            unsafe output.pointee.append(contentsOf: UnsafeBufferPointer(start: bytes, count: Int(count)))
            return CAIRO_STATUS_SUCCESS
          }, output)
      }
    }
    guard status == CAIRO_STATUS_SUCCESS else { throw Failure(status) }
    return output
  }

  /// Reads a PNG file's bytes.
  public init(png: [UInt8]) throws(Failure) {
    var rest = png[...]
    let surface = unsafe withUnsafeMutablePointer(to: &rest) { rest in
      unsafe cairo_image_surface_create_from_png_stream(
        { rest, bytes, count in
          let rest = unsafe rest!.assumingMemoryBound(to: ArraySlice<UInt8>.self)
          guard unsafe rest.pointee.count >= Int(count) else { return CAIRO_STATUS_READ_ERROR }
          for (index, byte) in unsafe rest.pointee.prefix(Int(count)).enumerated() { unsafe bytes![index] = byte }
          unsafe rest.pointee.removeFirst(Int(count))
          return CAIRO_STATUS_SUCCESS
        }, rest)
    }
    defer { unsafe cairo_surface_destroy(surface) }
    let status = unsafe cairo_surface_status(surface)
    guard status == CAIRO_STATUS_SUCCESS, let data = unsafe cairo_image_surface_get_data(surface) else { throw Failure(status) }
    let (width, height) = unsafe (Int(cairo_image_surface_get_width(surface)), Int(cairo_image_surface_get_height(surface)))
    let stride = unsafe Int(cairo_image_surface_get_stride(surface))
    var pixels: [UInt8] = []
    pixels.reserveCapacity(width * height * 4)
    for y in 0..<height { unsafe pixels.append(contentsOf: UnsafeBufferPointer(start: data + y * stride, count: width * 4)) }
    for index in Swift.stride(from: 3, to: pixels.count, by: 4) { pixels[index] = 255 }
    self.init(width: width, height: height, pixels: pixels)
  }
}
