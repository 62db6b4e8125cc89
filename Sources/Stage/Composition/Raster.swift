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

  /// The address of the screen's pixel at (`x`, `y`), which must lie inside.
  func address(x: Int, y: Int) -> UnsafeMutablePointer<UInt8> { unsafe pixels + (y - bounds.y) * stride + (x - bounds.x) * 4 }

  /// The part of it that lies in `area`; nil when there is none.
  func clipped(to area: Rectangle) -> Raster? {
    let part = bounds.intersection(area)
    return part.isEmpty ? nil : unsafe Raster(pixels: address(x: part.x, y: part.y), stride: stride, bounds: part)
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

  /// Lays premultiplied pixels of `source` over an area that is opaque.
  func blend(_ source: Raster, _ area: Rectangle) {
    guard !area.isEmpty else { return }
    let target = unsafe address(x: area.x, y: area.y)
    _ = unsafe ARGBBlend(
      source.address(x: area.x, y: area.y), Int32(source.stride), target, Int32(stride), target, Int32(stride), Int32(area.width),
      Int32(area.height))
  }

  /// Lays premultiplied pixels of `source` over an area that may be transparent, and stays so where both are.
  func lay(_ source: Raster, _ area: Rectangle) {
    guard let part = source.clipped(to: area), let target = clipped(to: area) else { return }
    func surface(_ raster: Raster) -> OpaquePointer? {
      unsafe cairo_image_surface_create_for_data(
        raster.pixels, CAIRO_FORMAT_ARGB32, Int32(raster.bounds.width), Int32(raster.bounds.height), Int32(raster.stride))
    }
    let (from, to) = (surface(part), surface(target))
    let context = unsafe cairo_create(to)
    unsafe cairo_set_source_surface(context, from, Double(part.bounds.x - target.bounds.x), Double(part.bounds.y - target.bounds.y))
    unsafe cairo_paint(context)
    unsafe cairo_destroy(context)
    for surface in [from, to] {
      unsafe cairo_surface_finish(surface)
      unsafe cairo_surface_destroy(surface)
    }
  }

  /// Lays a premultiplied colour over an area that is opaque.
  func blend(_ color: UInt32, _ area: Rectangle) {
    guard !area.isEmpty, color != 0 else { return }
    guard color >> 24 < 255 else { return fill(area, color) }
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
