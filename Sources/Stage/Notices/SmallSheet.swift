import CPango

/// A few words in small letters in the middle of the screen's upper or lower edge.
enum SmallSheet {
  /// What decides the look.
  struct Content: Equatable {
    /// What it says; may have several lines.
    var text: String
    /// Whether it stands at the upper edge.
    var isAtTop: Bool
    /// Height of a line, as a share of the screen's.
    var size: Double
    /// Its greatest width, as a share of the screen's.
    var width: Double
    var style: SheetStyle
  }

  /// Draws the words.
  static func draw(_ content: Content) -> Sheet? {
    let style = content.style
    let padding = max(2, style.unit / 50)
    var sheet: Sheet?
    SurfaceBitmap(width: 1, height: 1).draw { probe in
      let limit = max(1, Double(style.width - 2 * style.margin) * content.width - 4 * padding)
      let text = TextLayout(Lettering.Line(text: content.text, size: style.unit * content.size), on: probe, width: limit)
      let width = min(style.width, Int((text.width + 4 * padding).rounded(.up)))
      let height = min(style.height, Int((text.height + 2 * padding).rounded(.up)))
      let bitmap = SurfaceBitmap(width: width, height: height)
      bitmap.draw { context in
        Lettering.roundedBox(context, width: Double(width), height: Double(height), radius: min(Double(height) / 3, 2 * padding))
        Lettering.setColor(context, style.theme.background, opacity: 0.85)
        unsafe cairo_fill(context)
        // Pango centres in the width that it wraps at.
        text.show(on: context, x: (Double(width) - limit) / 2, y: (Double(height) - text.height) / 2, style.theme.foreground)
      }
      let y = content.isAtTop ? style.margin : max(0, style.height - style.margin * 2 - height)
      sheet = Sheet(bitmap: bitmap, x: (style.width - width) / 2, y: y)
    }
    return sheet
  }
}
