import CPango

/// What a notice says, one part below the other: logo, title, text, details, countdown, code.
struct NoticeColumn {
  private enum Part {
    case logo(Artwork)
    case text(TextLayout)
    case table([(label: TextLayout, value: TextLayout, height: Double)], valueStart: Double)
  }

  private var parts: [(part: Part, width: Double, height: Double)] = []
  private let gap: Double
  /// How wide texts are wrapped.
  private let wrapWidth: Double
  private let isCentered: Bool

  /// Measures the parts of a notice. `unit` is what sizes are fractions of, `gap` stands between parts; both in pixels.
  init(_ content: NoticeSheet.Content, unit: Double, gap: Double, wrapWidth: Double, isCentered: Bool, on context: OpaquePointer) {
    (self.gap, self.wrapWidth, self.isCentered) = (gap, wrapWidth, isCentered)
    let notice = content.notice
    if let logo = content.style.theme.logo {
      let factor = min(unit / 5 / Double(logo.height), unit * 0.8 / Double(logo.width), wrapWidth / Double(logo.width))
      parts.append((.logo(logo), Double(logo.width) * factor, Double(logo.height) * factor))
    }
    add(notice.title, size: notice.kind == .identify ? unit / 9 : unit / 13, isBold: true, on: context)
    add(notice.text, size: unit / 21, on: context)
    if !notice.rows.isEmpty { add(notice.rows, size: unit / 21, on: context) }
    if let seconds = content.secondsLeft {
      let label = notice.countdownLabel.isEmpty ? "" : notice.countdownLabel + " "
      add(label + Lettering.clock(seconds), size: unit / 16, isBold: true, on: context)
    }
    if case .error(let code) = notice.kind { add(code, size: unit / 21, opacity: 0.75, on: context) }
  }

  /// In pixels.
  var width: Double { parts.map(\.width).max() ?? 0 }
  /// In pixels.
  var height: Double { parts.map(\.height).reduce(0, +) + gap * Double(max(0, parts.count - 1)) }

  /// Whether an ellipsis stands for a part of the text.
  var isCut: Bool {
    parts.contains { part, _, _ in
      switch part {
      case .logo: false
      case .text(let text): text.isCut
      case .table(let lines, _): lines.contains { $0.label.isCut || $0.value.isCut }
      }
    }
  }

  private mutating func add(_ text: String, size: Double, isBold: Bool = false, opacity: Double = 1, on context: OpaquePointer) {
    guard !text.isEmpty else { return }
    let line = Lettering.Line(
      text: text, size: size, isBold: isBold, opacity: opacity, alignment: isCentered ? PANGO_ALIGN_CENTER : PANGO_ALIGN_LEFT)
    let layout = TextLayout(line, on: context, width: wrapWidth)
    parts.append((.text(layout), layout.width, layout.height))
  }

  private mutating func add(_ rows: [Notice.Row], size: Double, on context: OpaquePointer) {
    func line(_ text: String, _ opacity: Double, limit: Int) -> Lettering.Line {
      Lettering.Line(text: text, size: size, opacity: opacity, alignment: PANGO_ALIGN_LEFT, limit: limit)
    }
    let labels = rows.map { TextLayout(line($0.label, 0.75, limit: 1), on: context, width: max(1, wrapWidth * 0.4)) }
    let valueStart = (labels.map(\.width).max() ?? 0) + 1.5 * gap
    let values = rows.map { TextLayout(line($0.value, 1, limit: 3), on: context, width: max(1, wrapWidth - valueStart)) }
    let lines = zip(labels, values).map { (label: $0, value: $1, height: max($0.height, $1.height)) }
    let width = min(wrapWidth, valueStart + (values.map(\.width).max() ?? 0))
    parts.append((.table(lines, valueStart: valueStart), width, lines.map(\.height).reduce(0, +)))
  }

  /// Draws everything with the upper left corner at (`x`, `y`).
  func draw(on context: OpaquePointer, x: Double, y: Double, _ theme: Notice.Theme) {
    let whole = width
    var top = y
    for (part, width, height) in parts {
      let start = isCentered ? x + (whole - width) / 2 : x
      switch part {
      case .logo(let logo): logo.draw(on: context, x: start, y: top, width: width, height: height)
      // Pango centres in the width that it wraps at.
      case .text(let text): text.show(on: context, x: isCentered ? x + (whole - wrapWidth) / 2 : x, y: top, theme.foreground)
      case .table(let lines, let valueStart):
        var line = top
        for (label, value, height) in lines {
          label.show(on: context, x: start, y: line, theme.foreground)
          value.show(on: context, x: start + valueStart, y: line, theme.foreground)
          line += height
        }
      }
      top += height + gap
    }
  }
}
