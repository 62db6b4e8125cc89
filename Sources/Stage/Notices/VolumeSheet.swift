import CPango

/// How loud the box is, at the screen's lower edge: a loudspeaker, a bar, and the number.
enum VolumeSheet {
  /// What decides the look.
  struct Content: Equatable {
    /// 0 to 100.
    var percent: Int
    /// Whether nothing is heard; the bar then shows how loud it will be again.
    var isMuted: Bool
    var style: SheetStyle
  }

  /// Draws the bar.
  static func draw(_ content: Content) -> Sheet {
    let style = content.style
    let (foreground, unit) = (style.theme.foreground, style.unit)
    let height = max(1, (unit / 8).rounded())
    let width = max(1, min(Double(style.width - 2 * style.margin), unit * 0.9).rounded())
    let bitmap = SurfaceBitmap(width: Int(width), height: Int(height))
    bitmap.draw { context in
      Lettering.roundedBox(context, width: width, height: height, radius: height / 3)
      Lettering.setColor(context, style.theme.background, opacity: 0.92)
      unsafe cairo_fill(context)
      let edge = height * 0.3
      let text = TextLayout(
        Lettering.Line(text: "\(content.percent) %", size: unit / 18, isBold: true, opacity: content.isMuted ? 0.4 : 1), on: context)
      // The bar must not jump when the number grows a digit.
      let widest = TextLayout(Lettering.Line(text: "100 %", size: unit / 18, isBold: true), on: context)
      text.show(on: context, x: width - edge - text.width, y: (height - text.height) / 2, foreground)

      drawLoudspeaker(on: context, x: edge, y: edge, side: height - 2 * edge, isMuted: content.isMuted, foreground)
      let (left, thickness) = (height + edge * 0.5, height / 7)
      let length = max(thickness, width - 2 * edge - widest.width - left)
      drawBar(on: context, x: left, y: (height - thickness) / 2, width: length, height: thickness, foreground, opacity: 0.25)
      let full = length * Double(content.percent) / 100
      if full > 0 {
        drawBar(
          on: context, x: left, y: (height - thickness) / 2, width: max(thickness, full), height: thickness, foreground,
          opacity: content.isMuted ? 0.4 : 1)
      }
    }
    return Sheet(bitmap: bitmap, x: (style.width - bitmap.width) / 2, y: max(0, style.height - style.margin * 2 - bitmap.height))
  }

  private static func drawBar(
    on context: OpaquePointer, x: Double, y: Double, width: Double, height: Double, _ color: Color, opacity: Double
  ) {
    Lettering.roundedBox(context, x: x, y: y, width: width, height: height, radius: height / 2)
    Lettering.setColor(context, color, opacity: opacity)
    unsafe cairo_fill(context)
  }

  private static func drawLoudspeaker(on context: OpaquePointer, x: Double, y: Double, side: Double, isMuted: Bool, _ color: Color) {
    unsafe cairo_save(context)
    unsafe cairo_translate(context, x, y)
    unsafe cairo_scale(context, side / 24, side / 24)
    Lettering.setColor(context, color, opacity: 1)
    for (index, point) in [(1.0, 8.0), (6.0, 8.0), (12.0, 2.0), (12.0, 22.0), (6.0, 16.0), (1.0, 16.0)].enumerated() {
      if index == 0 { unsafe cairo_move_to(context, point.0, point.1) } else { unsafe cairo_line_to(context, point.0, point.1) }
    }
    unsafe cairo_close_path(context)
    unsafe cairo_fill(context)
    unsafe cairo_set_line_width(context, 2.4)
    unsafe cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
    if isMuted {
      for (start, end) in [(8.0, 16.0), (16.0, 8.0)] {
        unsafe cairo_move_to(context, 16, start)
        unsafe cairo_line_to(context, 24, end)
      }
    } else {
      for radius in [5.0, 10.0] {
        unsafe cairo_new_sub_path(context)
        unsafe cairo_arc(context, 13, 12, radius, -0.9, 0.9)
      }
    }
    unsafe cairo_stroke(context)
    unsafe cairo_restore(context)
  }
}
