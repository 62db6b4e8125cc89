import CPango

/// How a notice looks: a box in the middle of the screen, as large as what it says; where that would not fit, in smaller letters.
enum NoticeSheet {
  /// What decides the look.
  struct Content: Equatable {
    var notice: Notice
    /// What the countdown shows.
    var secondsLeft: Int?
    var style: SheetStyle
  }

  /// Draws a notice.
  static func draw(_ content: Content) -> Sheet {
    let style = content.style
    let padding = padding(style)
    var sheet: Sheet?
    withLayout(content) { layout in
      let width = min(style.width, max(1, Int((layout.width + 2 * padding).rounded(.up))))
      let height = min(style.height, max(1, Int((layout.height + 2 * padding).rounded(.up))))
      let bitmap = SurfaceBitmap(width: width, height: height)
      bitmap.draw { context in
        Lettering.roundedBox(context, width: Double(width), height: Double(height), radius: padding / 2)
        Lettering.setColor(context, style.theme.background, opacity: content.notice.kind == .identify ? 0.97 : 0.92)
        unsafe cairo_fill(context)
        layout.draw(on: context, x: (Double(width) - layout.width) / 2, y: (Double(height) - layout.height) / 2, style.theme)
      }
      sheet = Sheet(bitmap: bitmap, x: (style.width - width) / 2, y: (style.height - height) / 2)
    }
    guard let sheet else { preconditionFailure("drawing calls back before it returns") }
    return sheet
  }

  /// How well a notice fits.
  struct Fitness {
    /// How large the letters are, 1 being as large as they should.
    var scale = 0.0
    /// How large everything is, in pixels.
    var width = 0.0
    var height = 0.0
    /// Whether an ellipsis stands for a part of the text.
    var isCut = false
  }

  /// How well a notice fits.
  static func measure(_ content: Content) -> Fitness {
    var result = Fitness()
    let padding = padding(content.style)
    withLayout(content) {
      result = Fitness(scale: $0.scale, width: $0.width + 2 * padding, height: $0.height + 2 * padding, isCut: $0.isCut)
    }
    return result
  }

  /// What stays free around what is said.
  private static func padding(_ style: SheetStyle) -> Double { Double(min(style.width, style.height)) / 24 }

  /// Lays the notice out, in the largest letters that fit.
  private static func withLayout(_ content: Content, _ body: (NoticeLayout) -> Void) {
    let padding = padding(content.style)
    let limitWidth = max(1, Double(content.style.width) * 0.9 - 2 * padding)
    let limitHeight = Double(content.style.height) - 3 * padding
    // Text is measured on a surface of one pixel, and drawn on one that fits.
    SurfaceBitmap(width: 1, height: 1).draw { probe in
      var layout = NoticeLayout(content, scale: 1, gap: padding / 2, limit: limitWidth, on: probe)
      for scale in [0.9, 0.8, 0.7, 0.6, 0.5] where layout.height > limitHeight {
        layout = NoticeLayout(content, scale: scale, gap: padding / 2, limit: limitWidth, on: probe)
      }
      body(layout)
    }
  }
}

/// The parts of a notice, measured: a column of texts, and a QR code beside it, or below it where the screen is tall.
private struct NoticeLayout {
  /// Of the letters.
  let scale: Double
  private let column: NoticeColumn
  private let isBeside: Bool
  private let code: QRCode?
  /// Pixels of a square of the code.
  private let squareSide: Double
  /// Pixels of the code's side, its border included.
  private let codeSide: Double
  /// Pixels of the whole.
  let width: Double
  let height: Double

  init(_ content: NoticeSheet.Content, scale: Double, gap: Double, limit: Double, on context: OpaquePointer) {
    self.scale = scale
    let style = content.style
    let (screenWidth, screenHeight) = (Double(style.width), Double(style.height))
    isBeside = style.width * 2 >= style.height * 3
    let target = isBeside ? min(screenHeight * 0.5, screenWidth * 0.35) : min(screenWidth * 0.6, screenHeight * 0.35)
    let wanted = content.notice.code.flatMap { QRCode($0) }
    let squares = Double((wanted?.size ?? 0) + 2 * QRCode.border)
    squareSide = (target / squares).rounded(.down)
    // Squares of a single pixel nobody could read.
    code = squareSide >= 2 ? wanted : nil
    codeSide = code == nil ? 0 : squareSide * squares
    column = NoticeColumn(
      content, unit: style.unit * scale, gap: gap, wrapWidth: max(1, isBeside && code != nil ? limit - codeSide - 2 * gap : limit),
      isCentered: code == nil || !isBeside, on: context)
    let between = code == nil || column.height == 0 ? 0 : 2 * gap
    width = isBeside ? column.width + between + codeSide : max(column.width, codeSide)
    height = isBeside ? max(column.height, codeSide) : column.height + between + codeSide
  }

  /// Whether an ellipsis stands for a part of the text.
  var isCut: Bool { column.isCut }

  /// Draws everything with the upper left corner at (`x`, `y`).
  func draw(on context: OpaquePointer, x: Double, y: Double, _ theme: Notice.Theme) {
    if isBeside {
      column.draw(on: context, x: x, y: y + (height - column.height) / 2, theme)
      draw(on: context, x: (x + width - codeSide).rounded(), y: (y + (height - codeSide) / 2).rounded())
    } else {
      column.draw(on: context, x: x + (width - column.width) / 2, y: y, theme)
      draw(on: context, x: (x + (width - codeSide) / 2).rounded(), y: (y + height - codeSide).rounded())
    }
  }

  /// Draws the code: black on white, whatever the theme, which is what scanners read.
  private func draw(on context: OpaquePointer, x: Double, y: Double) {
    guard let code else { return }
    Lettering.setColor(context, .white, opacity: 1)
    unsafe cairo_rectangle(context, x, y, codeSide, codeSide)
    unsafe cairo_fill(context)
    Lettering.setColor(context, .black, opacity: 1)
    let border = squareSide * Double(QRCode.border)
    for row in 0..<code.size {
      for column in 0..<code.size where code.isDark(column, row) {
        unsafe cairo_rectangle(
          context, x + border + Double(column) * squareSide, y + border + Double(row) * squareSide, squareSide, squareSide)
      }
    }
    unsafe cairo_fill(context)
  }
}
