import CPango
import CYUV

/// A view of pixels that stand somewhere on the screen: 32 bits each, blue first in memory. Whoever made the view keeps the memory.
struct Raster {
  /// The first pixel of the first row.
  let pixels: UnsafeMutablePointer<UInt8>
  /// Bytes from one row to the next.
  let stride: Int
  /// Which pixels of the screen these are.
  let bounds: Rectangle
  /// Whether what is laid over it may meet transparent pixels, which stay so where nothing is.
  var isTransparent = false

  /// The address of the screen's pixel at (`x`, `y`), which must lie inside.
  func address(x: Int, y: Int) -> UnsafeMutablePointer<UInt8> { unsafe pixels + (y - bounds.y) * stride + (x - bounds.x) * 4 }

  /// The part of it that lies in `area`; nil when there is none.
  func clipped(to area: Rectangle) -> Raster? {
    let part = bounds.intersection(area)
    guard !part.isEmpty else { return nil }
    return unsafe Raster(pixels: address(x: part.x, y: part.y), stride: stride, bounds: part, isTransparent: isTransparent)
  }

  /// Makes an area one colour (alpha, red, green, blue from the highest byte), whatever was there.
  func fill(_ area: Rectangle, _ value: UInt32) {
    guard !area.isEmpty else { return }
    unsafe ARGBRect(address(x: area.x, y: area.y), Int32(stride), 0, 0, Int32(area.width), Int32(area.height), value)
  }

  /// Replaces an area by that of `source`.
  func copy(_ source: Raster, _ area: Rectangle) {
    guard !area.isEmpty else { return }
    _ = unsafe ARGBCopy(
      source.address(x: area.x, y: area.y), Int32(source.stride), address(x: area.x, y: area.y), Int32(stride), Int32(area.width),
      Int32(area.height))
  }

  /// Lays premultiplied pixels of `source` over an area.
  func blend(_ source: Raster, _ area: Rectangle) {
    guard !area.isEmpty else { return }
    if isTransparent { return lay(source, area) }
    let target = unsafe address(x: area.x, y: area.y)
    _ = unsafe ARGBBlend(
      source.address(x: area.x, y: area.y), Int32(source.stride), target, Int32(stride), target, Int32(stride), Int32(area.width),
      Int32(area.height))
  }

  /// libyuv takes what lies below for opaque, Cairo does not.
  private func lay(_ source: Raster, _ area: Rectangle) {
    guard let part = source.clipped(to: area) else { return }
    let from = unsafe part.makeSurface()
    lay(part.bounds) { context, x, y in unsafe cairo_set_source_surface(context, from, x, y) }
    unsafe cairo_surface_finish(from)
    unsafe cairo_surface_destroy(from)
  }

  private func lay(_ color: UInt32, _ area: Rectangle) {
    let alpha = Double(color >> 24)
    func channel(_ shift: UInt32) -> Double { Double(color >> shift & 255) / alpha }
    lay(area) { context, _, _ in unsafe cairo_set_source_rgba(context, channel(16), channel(8), channel(0), alpha / 255) }
  }

  /// Paints over an area with Cairo; `setSource` gets where the area begins in its coordinates.
  private func lay(_ area: Rectangle, _ setSource: (_ context: OpaquePointer?, _ x: Double, _ y: Double) -> Void) {
    guard let target = clipped(to: area) else { return }
    let surface = unsafe target.makeSurface()
    let context = unsafe cairo_create(surface)
    unsafe setSource(context, Double(area.x - target.bounds.x), Double(area.y - target.bounds.y))
    unsafe cairo_paint(context)
    unsafe cairo_destroy(context)
    unsafe cairo_surface_finish(surface)
    unsafe cairo_surface_destroy(surface)
  }

  private func makeSurface() -> OpaquePointer? {
    unsafe cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32, Int32(bounds.width), Int32(bounds.height), Int32(stride))
  }

  /// Lays a premultiplied colour over an area.
  func blend(_ color: UInt32, _ area: Rectangle) {
    guard !area.isEmpty, color != 0 else { return }
    guard color >> 24 < 255 else { return fill(area, color) }
    if isTransparent { return lay(color, area) }
    let span = 64
    unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: span) { row in
      unsafe row.initialize(repeating: color)
      for x in Swift.stride(from: area.x, to: area.x + area.width, by: span) {
        let target = unsafe address(x: x, y: area.y)
        let width = Int32(min(span, area.x + area.width - x))
        // With a stride of 0 the row is read again for each row of the area.
        _ = unsafe ARGBBlend(row.baseAddress, 0, target, Int32(stride), target, Int32(stride), width, Int32(area.height))
      }
    }
  }

  /// Multiplies all channels of an area by `factor` of 255.
  func shade(_ area: Rectangle, by factor: UInt8) {
    guard !area.isEmpty, factor < 255 else { return }
    guard factor > 0 else { return fill(area, 0) }
    let target = unsafe address(x: area.x, y: area.y)
    _ = unsafe ARGBShade(
      target, Int32(stride), target, Int32(stride), Int32(area.width), Int32(area.height), UInt32(factor) * 0x0101_0101)
  }
}

extension SurfaceBitmap {
  /// A view of the whole bitmap with its upper left pixel at (`x`, `y`) of the screen.
  func raster(x: Int, y: Int) -> Raster {
    unsafe Raster(pixels: pixels, stride: stride, bounds: Rectangle(x: x, y: y, width: width, height: height))
  }

  /// A bitmap of the wanted size: the one given when it fits, its pixels left as they are; else a new one.
  static func reuse(_ bitmap: SurfaceBitmap?, width: Int, height: Int) -> SurfaceBitmap {
    if let bitmap, bitmap.width == width, bitmap.height == height { return bitmap }
    return SurfaceBitmap(width: width, height: height)
  }
}
