import CPango

/// Something drawn once, which lies over the screen where it stands until it changes.
struct Sheet {
  var bitmap: SurfaceBitmap
  /// The upper left corner on the screen.
  var x: Int
  var y: Int

  /// Its pixels, where they stand.
  var raster: Raster { bitmap.raster(x: x, y: y) }
}

/// Keeps what was drawn last of one kind: what does not change costs nothing.
struct SheetPainter<Content: Equatable> {
  private var content: Content?
  private var sheet: Sheet?

  /// What was drawn last; nil when there is nothing.
  var raster: Raster? { sheet?.raster }

  /// Has `wanted` drawn if it is new, or taken off if it is nil, and tells which areas of the screen that changes.
  mutating func show(_ wanted: Content?, draw: (Content) -> Sheet?, damaged: (Rectangle) -> Void) {
    guard wanted != content else { return }
    if let raster { damaged(raster.bounds) }
    content = wanted
    sheet = wanted.flatMap(draw)
    if let raster { damaged(raster.bounds) }
  }
}

/// What decides how a sheet looks beside what it says.
struct SheetStyle: Equatable {
  /// The screen's size in pixels.
  var width: Int
  var height: Int
  var theme: Notice.Theme

  /// What sizes are fractions of.
  var unit: Double { Lettering.unit(width: width, height: height) }
  /// How far sheets at an edge stay away from it.
  var margin: Int { max(1, min(width, height) / 40) }
}

extension SurfaceBitmap {
  /// Draws on it with Cairo.
  func draw(_ body: (OpaquePointer) -> Void) {
    let surface = unsafe cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32, Int32(width), Int32(height), Int32(stride))
    guard let context = unsafe cairo_create(surface) else { preconditionFailure("Cairo is out of memory") }
    body(context)
    unsafe cairo_destroy(context)
    unsafe cairo_surface_finish(surface)
    unsafe cairo_surface_destroy(surface)
  }
}

/// A text laid out by Pango, to be measured and shown.
final class TextLayout {
  private let layout: OpaquePointer
  private let opacity: Double
  /// In pixels.
  let width: Double
  /// In pixels.
  let height: Double

  /// A text wrapped at `width` pixels; nil: not wrapped.
  init(_ line: Lettering.Line, on context: OpaquePointer, width: Double? = nil) {
    layout = Lettering.layout(line, on: context, width: width ?? 1)
    if width == nil { unsafe pango_layout_set_width(layout, -1) }
    opacity = line.opacity
    let size = Lettering.size(layout)
    (self.width, height) = (Double(size.width), Double(size.height))
  }

  deinit { unsafe g_object_unref(UnsafeMutableRawPointer(layout)) }

  /// Whether an ellipsis stands for a part of it.
  var isCut: Bool { unsafe pango_layout_is_ellipsized(layout) != 0 }

  /// Shows it with the upper left corner of the space that it was wrapped in at (`x`, `y`).
  func show(on context: OpaquePointer, x: Double, y: Double, _ color: Color) {
    unsafe cairo_move_to(context, x, y)
    Lettering.setColor(context, color, opacity: opacity)
    unsafe pango_cairo_show_layout(context, layout)
  }
}
