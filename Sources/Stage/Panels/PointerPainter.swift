import CPango

/// Draws an arrow where the pointer is while a panel has it: clients' own pointers lie below.
struct PointerPainter {
  private var bitmap: SurfaceBitmap?
  private let screen: Rectangle
  private var place: Rectangle?

  init(screen: Rectangle) { self.screen = screen }

  /// The arrow, where it stands; nil when there is none.
  var raster: Raster? {
    guard let bitmap, let place else { return nil }
    return bitmap.raster(x: place.x, y: place.y).clipped(to: screen)
  }

  /// Puts the arrow elsewhere, and returns what has to be painted again.
  mutating func move(to point: (x: Double, y: Double)?) -> [Rectangle] {
    let size = max(8, Int(Lettering.unit(width: screen.width, height: screen.height) / 25))
    let wanted = point.map { point in
      // Any number may come in; where it is none of the screen's, the arrow stands at the edge.
      func edge(_ value: Double, _ end: Int) -> Int { value > 0 ? Int(min(value, Double(end - 1))) : 0 }
      return Rectangle(x: edge(point.x, screen.width), y: edge(point.y, screen.height), width: size, height: size)
    }
    guard wanted != place else { return [] }
    if wanted != nil && bitmap == nil { bitmap = PointerPainter.arrow(size) }
    defer { place = wanted }
    return [place, wanted].compactMap { $0 }
  }

  private static func arrow(_ size: Int) -> SurfaceBitmap {
    let bitmap = SurfaceBitmap(width: size, height: size)
    let surface = unsafe cairo_image_surface_create_for_data(
      bitmap.pixels, CAIRO_FORMAT_ARGB32, Int32(size), Int32(size), Int32(bitmap.stride))
    let context = unsafe cairo_create(surface)
    unsafe cairo_scale(context, Double(size) / 24, Double(size) / 24)
    for (index, (x, y)) in [(1.5, 1.5), (1.5, 19.0), (6.0, 15.0), (9.0, 22.0), (12.5, 20.5), (9.5, 13.5), (15.5, 13.5)].enumerated() {
      if index == 0 { unsafe cairo_move_to(context, x, y) } else { unsafe cairo_line_to(context, x, y) }
    }
    unsafe cairo_close_path(context)
    Lettering.setColor(context, .black, opacity: 1)
    unsafe cairo_fill_preserve(context)
    Lettering.setColor(context, .white, opacity: 1)
    unsafe cairo_set_line_width(context, 1.5)
    unsafe cairo_stroke(context)
    unsafe cairo_destroy(context)
    unsafe cairo_surface_finish(surface)
    unsafe cairo_surface_destroy(surface)
    return bitmap
  }
}
