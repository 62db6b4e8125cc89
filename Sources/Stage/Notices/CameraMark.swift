import CPango

/// Says that a camera's pictures leave the box: a red dot and a camera in the upper right corner.
enum CameraMark {
  /// Draws the mark.
  static func draw(_ style: SheetStyle) -> Sheet {
    let height = max(1, (style.unit / 14).rounded())
    let width = max(1, (height * 1.9).rounded())
    let bitmap = SurfaceBitmap(width: Int(width), height: Int(height))
    bitmap.draw { context in
      Lettering.roundedBox(context, width: width, height: height, radius: height / 2)
      Lettering.setColor(context, style.theme.background, opacity: 0.85)
      unsafe cairo_fill(context)
      // Red whatever the theme, as everywhere.
      Lettering.setColor(context, Color(red: 0xF0, green: 0x30, blue: 0x30), opacity: 1)
      unsafe cairo_arc(context, height * 0.5, height / 2, height * 0.2, 0, 2 * .pi)
      unsafe cairo_fill(context)

      Lettering.setColor(context, style.theme.foreground, opacity: 1)
      let (left, top, side) = (height * 0.85, height * 0.3, height * 0.4)
      Lettering.roundedBox(context, x: left, y: top, width: side * 1.25, height: side, radius: side / 5)
      unsafe cairo_fill(context)
      unsafe cairo_move_to(context, left + side * 1.35, top + side * 0.5)
      unsafe cairo_line_to(context, left + side * 1.85, top + side * 0.1)
      unsafe cairo_line_to(context, left + side * 1.85, top + side * 0.9)
      unsafe cairo_close_path(context)
      unsafe cairo_fill(context)
    }
    return Sheet(bitmap: bitmap, x: max(0, style.width - style.margin - bitmap.width), y: min(style.margin, style.height - 1))
  }
}
