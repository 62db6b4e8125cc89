import CPango

/// What people can do at an idle screen, in a few words: in its middle as a notice, or small at the lower edge, over a picture.
enum InvitationSheet {
  /// What decides the look.
  struct Content: Equatable {
    var text: String
    /// Whether it stands small at the lower edge.
    var isSmall: Bool
    var style: SheetStyle
  }

  /// Draws the words.
  static func draw(_ content: Content) -> Sheet? {
    let style = content.style
    guard content.isSmall else {
      return NoticeSheet.draw(NoticeSheet.Content(notice: Notice(kind: .information, title: content.text), style: style))
    }
    let padding = max(2, style.unit / 50)
    var sheet: Sheet?
    SurfaceBitmap(width: 1, height: 1).draw { probe in
      let limit = max(1, Double(style.width - 2 * style.margin) - 4 * padding)
      let text = TextLayout(Lettering.Line(text: content.text, size: style.unit / 21), on: probe, width: limit)
      let width = min(style.width, Int((text.width + 4 * padding).rounded(.up)))
      let height = min(style.height, Int((text.height + 2 * padding).rounded(.up)))
      let bitmap = SurfaceBitmap(width: width, height: height)
      bitmap.draw { context in
        Lettering.roundedBox(context, width: Double(width), height: Double(height), radius: Double(height) / 3)
        Lettering.setColor(context, style.theme.background, opacity: 0.85)
        unsafe cairo_fill(context)
        // Pango centres in the width that it wraps at.
        text.show(on: context, x: (Double(width) - limit) / 2, y: (Double(height) - text.height) / 2, style.theme.foreground)
      }
      sheet = Sheet(bitmap: bitmap, x: (style.width - width) / 2, y: max(0, style.height - style.margin * 2 - height))
    }
    return sheet
  }
}
