import CPango

/// Figures for whoever looks after the box, in small letters in the upper left corner.
enum FiguresSheet {
  /// What decides the look.
  struct Content: Equatable {
    /// One below the other.
    var lines: [String]
    var style: SheetStyle
  }

  /// Draws the figures.
  static func draw(_ content: Content) -> Sheet? {
    guard !content.lines.isEmpty else { return nil }
    let style = content.style
    let padding = max(2, style.unit / 60)
    var sheet: Sheet?
    SurfaceBitmap(width: 1, height: 1).draw { probe in
      let text = TextLayout(
        Lettering.Line(
          text: content.lines.joined(separator: "\n"), size: style.unit / 40, isMonospaced: true, alignment: PANGO_ALIGN_LEFT, limit: 1),
        on: probe, width: max(1, Double(style.width - 2 * style.margin) - 2 * padding))
      let bitmap = SurfaceBitmap(
        width: min(style.width, Int((text.width + 2 * padding).rounded(.up))),
        height: min(style.height, Int((text.height + 2 * padding).rounded(.up))))
      bitmap.draw { context in
        Lettering.roundedBox(context, width: Double(bitmap.width), height: Double(bitmap.height), radius: padding)
        Lettering.setColor(context, .black, opacity: 0.7)
        unsafe cairo_fill(context)
        text.show(on: context, x: padding, y: padding, .white)
      }
      sheet = Sheet(bitmap: bitmap, x: min(style.margin, style.width - bitmap.width), y: min(style.margin, style.height - bitmap.height))
    }
    return sheet
  }
}
