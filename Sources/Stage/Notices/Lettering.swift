import CPango

/// What notices and panels are drawn with: text laid out by Pango, boxes by Cairo, in the kiosk's style.
enum Lettering {
  /// A text in one style.
  struct Line {
    var text: String
    /// Height of a line in pixels.
    var size: Double
    var isBold = false
    var isMonospaced = false
    var opacity = 1.0
    var alignment = PANGO_ALIGN_CENTER
    /// At most this many lines in each paragraph; the rest becomes an ellipsis.
    var limit = 5
  }

  /// What sizes are fractions of: the screen's height, or on a tall screen that of one as wide.
  ///
  /// Capital letters of 1/30 of the screen's height are 10 mm tall on a 24-inch monitor: read without effort at two metres.
  static func unit(width: Int, height: Int) -> Double { Double(min(height, width * 9 / 16)) }

  /// A countdown's seconds as they are shown.
  static func clock(_ seconds: Int) -> String {
    seconds < 60 ? "\(seconds) s" : "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
  }

  /// Lays a text out, wrapped at `width` pixels. The caller releases it.
  static func layout(_ line: Line, on context: OpaquePointer?, width: Double) -> OpaquePointer {
    guard let layout = unsafe pango_cairo_create_layout(context) else { preconditionFailure("Pango is out of memory") }
    let font = unsafe pango_font_description_from_string((line.isMonospaced ? "Monospace" : "Sans") + (line.isBold ? " Bold" : ""))
    unsafe pango_font_description_set_absolute_size(font, max(1, line.size) * Double(PANGO_SCALE))
    unsafe pango_layout_set_font_description(layout, font)
    unsafe pango_font_description_free(font)
    unsafe pango_layout_set_text(layout, line.text, -1)
    unsafe pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
    unsafe pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
    unsafe pango_layout_set_alignment(layout, line.alignment)
    unsafe pango_layout_set_height(layout, Int32(-line.limit))
    unsafe pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
    return layout
  }

  /// The size in pixels of a text that was laid out.
  static func size(_ layout: OpaquePointer) -> (width: Int, height: Int) {
    var extent = PangoRectangle()
    unsafe pango_layout_get_pixel_extents(layout, nil, &extent)
    return (Int(extent.width), Int(extent.height))
  }

  /// Has the next strokes drawn in a colour.
  static func setColor(_ context: OpaquePointer?, _ color: Color, opacity: Double) {
    unsafe cairo_set_source_rgba(context, Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255, opacity)
  }

  /// Begins the path of a box with round corners.
  static func roundedBox(_ context: OpaquePointer?, x: Double = 0, y: Double = 0, width: Double, height: Double, radius: Double) {
    let quarter = Double.pi / 2
    unsafe cairo_new_sub_path(context)
    unsafe cairo_arc(context, x + width - radius, y + radius, radius, -quarter, 0)
    unsafe cairo_arc(context, x + width - radius, y + height - radius, radius, 0, quarter)
    unsafe cairo_arc(context, x + radius, y + height - radius, radius, quarter, 2 * quarter)
    unsafe cairo_arc(context, x + radius, y + radius, radius, 2 * quarter, 3 * quarter)
    unsafe cairo_close_path(context)
  }
}
