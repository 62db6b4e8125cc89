import CPango
import Glibc

/// A picture that a site brings along, such as its logo: a PNG file's pixels, transparency included.
public struct Artwork: Sendable, Hashable {
  /// Why a file is no artwork.
  public enum Failure: Error, Equatable, CustomStringConvertible {
    /// The system's words.
    case unreadable(reason: String)
    /// The file does not begin as PNG files do.
    case notPNG
    /// More bytes, or more pixels from side to side, than allowed.
    case tooLarge(found: String, limit: String)
    /// Cairo's words.
    case damaged(reason: String)

    public var description: String {
      switch self {
      case .unreadable(let reason): "cannot be read: \(reason)"
      case .notPNG: "is no PNG file"
      case .tooLarge(let found, let limit): "is too large: \(found); accepted: at most \(limit)"
      case .damaged(let reason): "is damaged: \(reason)"
      }
    }
  }

  /// Files longer than this many bytes are refused.
  public static let maximumFileSize = 32 << 20

  /// Width in pixels.
  public let width: Int
  /// Height in pixels.
  public let height: Int
  /// The rows from the top, four bytes a pixel: blue, green, red, alpha, the colours premultiplied.
  let pixels: [UInt8]

  /// Reads the PNG file at `path`. `maximumSide` is in pixels, for either side.
  public init(path: String, maximumSide: Int = 4_096) throws(Failure) {
    guard let file = unsafe fopen(path, "re") else { throw .unreadable(reason: unsafe String(cString: strerror(errno))) }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= Artwork.maximumFileSize {
      let count = unsafe fread(&part, 1, part.count, file)
      if count == 0 { break }
      bytes.append(contentsOf: part[..<count])
    }
    if unsafe ferror(file) != 0 { throw .unreadable(reason: unsafe String(cString: strerror(errno))) }
    try self.init(png: bytes, maximumSide: maximumSide)
  }

  /// Reads a PNG file's bytes. `maximumSide` is in pixels, for either side.
  public init(png: [UInt8], maximumSide: Int = 4_096) throws(Failure) {
    guard png.count <= Artwork.maximumFileSize else {
      throw .tooLarge(found: "more than \(Artwork.maximumFileSize) bytes", limit: "\(Artwork.maximumFileSize) bytes")
    }
    // Signature and header chunk (PNG, section 5.2 and 11.2.2): the size is known before anything is unpacked.
    guard png.count >= 33, png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), Array(png[12..<16]) == Array("IHDR".utf8)
    else { throw .notPNG }
    func side(_ start: Int) -> Int { png[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
    guard side(16) <= maximumSide, side(20) <= maximumSide else {
      throw .tooLarge(found: "\(side(16))x\(side(20)) pixels", limit: "\(maximumSide)x\(maximumSide)")
    }
    self = try Artwork.decode(png)
  }

  private static func decode(_ png: [UInt8]) throws(Failure) -> Artwork {
    var rest = png[...]
    let file = unsafe withUnsafeMutablePointer(to: &rest) { rest in
      unsafe cairo_image_surface_create_from_png_stream(
        { rest, bytes, count in
          let rest = unsafe rest!.assumingMemoryBound(to: ArraySlice<UInt8>.self)
          guard unsafe rest.pointee.count >= Int(count) else { return CAIRO_STATUS_READ_ERROR }
          unsafe rest.pointee.prefix(Int(count)).withUnsafeBytes {
            unsafe bytes!.update(from: $0.baseAddress!.assumingMemoryBound(to: UInt8.self), count: Int(count))
          }
          unsafe rest.pointee.removeFirst(Int(count))
          return CAIRO_STATUS_SUCCESS
        }, rest)
    }
    defer { unsafe cairo_surface_destroy(file) }
    let status = unsafe cairo_surface_status(file)
    guard status == CAIRO_STATUS_SUCCESS, let file else {
      throw .damaged(reason: unsafe String(cString: cairo_status_to_string(status)))
    }
    // Files come in several pixel formats; from here on there is one.
    let (width, height) = unsafe (Int(cairo_image_surface_get_width(file)), Int(cairo_image_surface_get_height(file)))
    let bitmap = SurfaceBitmap(width: width, height: height)
    bitmap.draw { context in
      unsafe cairo_set_source_surface(context, file, 0, 0)
      unsafe cairo_paint(context)
    }
    var pixels: [UInt8] = []
    pixels.reserveCapacity(width * height * 4)
    for y in 0..<height {
      unsafe pixels.append(contentsOf: UnsafeBufferPointer(start: bitmap.pixels + y * bitmap.stride, count: width * 4))
    }
    return Artwork(width: width, height: height, pixels: pixels)
  }

  private init(width: Int, height: Int, pixels: [UInt8]) { (self.width, self.height, self.pixels) = (width, height, pixels) }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(width)
    hasher.combine(height)
  }

  /// Draws it into a rectangle of the context, stretched.
  func draw(on context: OpaquePointer, x: Double, y: Double, width: Double, height: Double) {
    unsafe pixels.withUnsafeBytes { bytes in
      // Cairo wants a mutable pointer, and only reads through it here.
      let base = unsafe UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
      let surface = unsafe cairo_image_surface_create_for_data(
        base, CAIRO_FORMAT_ARGB32, Int32(self.width), Int32(self.height), Int32(self.width * 4))
      unsafe cairo_save(context)
      unsafe cairo_translate(context, x, y)
      unsafe cairo_scale(context, width / Double(self.width), height / Double(self.height))
      unsafe cairo_set_source_surface(context, surface, 0, 0)
      unsafe cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
      // Without it the edges would fade towards what lies outside.
      unsafe cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD)
      unsafe cairo_rectangle(context, 0, 0, Double(self.width), Double(self.height))
      unsafe cairo_fill(context)
      unsafe cairo_restore(context)
      unsafe cairo_surface_finish(surface)
      unsafe cairo_surface_destroy(surface)
    }
  }
}
