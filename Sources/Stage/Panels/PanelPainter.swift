import CPango

/// Draws panels with Pango and Cairo; keeps the last one, so that an unchanged panel costs no text layout.
struct PanelPainter: ~Copyable {
  private struct Drawing: Equatable {
    var content: PanelContent
    var theme: Notice.Theme
    var room: Rectangle
  }

  private var drawing: Drawing?
  private var surface: OpaquePointer?
  /// Where the parts of the panel drawn last stand; nil when there is none.
  private(set) var layout: PanelLayout?

  private let screen: Rectangle
  private let unit: Double
  private let padding: Double
  /// The font size of most texts.
  private let textSize: Double
  private let boxWidth: Double

  init(screen: Rectangle) {
    self.screen = screen
    unit = Lettering.unit(width: screen.width, height: screen.height)
    padding = max(2, Double(min(screen.width, screen.height)) / 24)
    textSize = unit / 21
    boxWidth = min(Double(screen.width), max(unit * 1.2, Double(screen.width) * 0.5)).rounded()
  }

  deinit { unsafe cairo_surface_destroy(surface) }

  /// The panel drawn last, where it stands.
  var raster: Raster? {
    guard let surface, let layout, let pixels = unsafe cairo_image_surface_get_data(surface) else { return nil }
    return unsafe Raster(pixels: pixels, stride: Int(cairo_image_surface_get_stride(surface)), bounds: layout.box)
  }

  /// Draws a panel in the middle of the room that there is on the screen, or none, and returns what has to be painted again.
  mutating func draw(_ content: PanelContent?, theme: Notice.Theme, room: Rectangle) -> Rectangle? {
    let wanted = content.map { Drawing(content: $0, theme: theme, room: room) }
    guard wanted != drawing else { return nil }
    let before = layout?.box
    drawing = wanted
    unsafe cairo_surface_destroy(surface)
    (surface, layout) = (nil, nil)
    if let wanted { draw(wanted) }
    // With the first panel the rest of the screen goes dark, and with the last it gets light again.
    guard let before, let after = layout?.box else { return screen }
    return before.union(after)
  }

  private mutating func draw(_ drawing: Drawing) {
    let (content, theme, room) = (drawing.content, drawing.theme, drawing.room)
    let panel = content.panel
    let innerWidth = max(1, boxWidth - 2 * padding)

    let probe = unsafe cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 1, 1)
    let probeContext = unsafe cairo_create(probe)
    defer {
      unsafe cairo_destroy(probeContext)
      unsafe cairo_surface_destroy(probe)
    }
    let buttonHeight = (unit / 9).rounded(.up)
    let fieldHeight = content.field == nil ? 0 : (unit / 10).rounded(.up)
    let title = Lettering.layout(
      .init(text: PanelPainter.line(panel.title, to: 300), size: unit / 24, isBold: true, alignment: PANGO_ALIGN_LEFT, limit: 1),
      on: probeContext, width: innerWidth)
    // Of a long host name the end says whose it is.
    unsafe pango_layout_set_ellipsize(title, PANGO_ELLIPSIZE_START)
    let fixed = 2 * padding + buttonHeight + fieldHeight + Double(Lettering.size(title).height) + 3 * padding
    let text = textLayout(panel.text, on: probeContext, width: innerWidth, maximumHeight: max(1, Double(room.height) - fixed))
    defer { for layout in [title, text] { unsafe g_object_unref(UnsafeMutableRawPointer(layout)) } }

    // From the top: title, text, field, buttons.
    let titleHeight = panel.title.isEmpty ? 0 : Double(Lettering.size(title).height) + padding / 2
    let textHeight = panel.text.isEmpty ? 0 : Double(Lettering.size(text).height) + padding * 0.75
    let fieldTop = padding + titleHeight + textHeight
    let buttonTop = fieldTop + (fieldHeight > 0 ? fieldHeight + padding * 0.75 : 0)
    let boxHeight = min(Double(room.height), buttonTop + buttonHeight + padding).rounded(.up)
    let box = Rectangle(
      x: (screen.width - Int(boxWidth)) / 2, y: room.y + (room.height - Int(boxHeight)) / 2, width: Int(boxWidth), height: Int(boxHeight))

    let drawn = unsafe cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(box.width), Int32(box.height))
    let context = unsafe cairo_create(drawn)
    defer { unsafe cairo_destroy(context) }
    unsafe Lettering.roundedBox(context, width: boxWidth, height: boxHeight, radius: padding / 2)
    Lettering.setColor(context, theme.background, opacity: 0.97)
    unsafe cairo_fill(context)
    show(title, on: context, x: padding, y: padding, theme.foreground, opacity: 0.75)
    show(text, on: context, x: padding, y: padding + titleHeight, theme.foreground, opacity: 1)

    // From the right: accept, cancel; the rest is the countdown's.
    let accept = button(
      panel.acceptLabel, right: boxWidth - padding, top: buttonTop, isFilled: true, isPressed: content.pressed == .accept, theme, context)
    var cancel: Rectangle?
    if panel.kind != .alert {
      cancel = button(
        panel.cancelLabel, right: Double(accept.x) - padding / 2, top: buttonTop, isFilled: false, isPressed: content.pressed == .cancel,
        theme, context)
    }
    if let seconds = content.secondsLeft {
      let clock = Lettering.layout(
        .init(text: Lettering.clock(seconds), size: textSize, isBold: true, alignment: PANGO_ALIGN_LEFT, limit: 1), on: context,
        width: max(1, Double((cancel ?? accept).x) - padding * 1.25))
      show(
        clock, on: context, x: padding, y: buttonTop + (buttonHeight - Double(Lettering.size(clock).height)) / 2, theme.foreground,
        opacity: 0.75)
      unsafe g_object_unref(UnsafeMutableRawPointer(clock))
    }
    func onScreen(_ area: Rectangle) -> Rectangle {
      Rectangle(x: area.x + box.x, y: area.y + box.y, width: area.width, height: area.height)
    }
    var layout = PanelLayout(box: box, accept: onScreen(accept), cancel: cancel.map(onScreen))
    if let field = content.field {
      let area = Rectangle(x: Int(padding), y: Int(fieldTop), width: Int(innerWidth), height: Int(fieldHeight))
      layout.carets = draw(field, in: area, theme, context).map { $0 + box.x }
      layout.field = onScreen(area)
    }
    unsafe cairo_surface_flush(drawn)
    surface = drawn
    self.layout = layout
  }

  private func show(_ layout: OpaquePointer, on context: OpaquePointer?, x: Double, y: Double, _ color: Color, opacity: Double) {
    unsafe cairo_move_to(context, x, y)
    Lettering.setColor(context, color, opacity: opacity)
    unsafe pango_cairo_show_layout(context, layout)
  }

  /// Draws a button as wide as its label needs and returns its place in the box.
  private func button(
    _ label: String, right: Double, top: Double, isFilled: Bool, isPressed: Bool, _ theme: Notice.Theme, _ context: OpaquePointer?
  ) -> Rectangle {
    let height = (unit / 9).rounded(.up)
    // Two of them fit beside each other.
    let limit = max(1, (boxWidth - 2.5 * padding) / 2 - 1.5 * padding)
    let text = Lettering.layout(
      .init(text: PanelPainter.line(label, to: 100), size: textSize, isBold: true, alignment: PANGO_ALIGN_LEFT, limit: 1), on: context,
      width: limit)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(text)) }
    let size = Lettering.size(text)
    let width = max(unit / 4.5, Double(size.width) + 1.5 * padding).rounded(.up)
    let left = right - width
    unsafe Lettering.roundedBox(context, x: left, y: top, width: width, height: height, radius: padding / 3)
    Lettering.setColor(context, theme.foreground, opacity: isFilled ? (isPressed ? 0.7 : 1) : (isPressed ? 0.4 : 0.16))
    unsafe cairo_fill(context)
    show(
      text, on: context, x: left + (width - Double(size.width)) / 2, y: top + (height - Double(size.height)) / 2,
      isFilled ? theme.background : theme.foreground, opacity: 1)
    return Rectangle(x: Int(left), y: Int(top), width: Int(width), height: Int(height))
  }

  /// Draws the field with its text scrolled so that the caret is seen, and returns where the caret can stand, from the box's left edge.
  private func draw(_ field: TextField, in area: Rectangle, _ theme: Notice.Theme, _ context: OpaquePointer?) -> [Int] {
    let (x, y, width, height) = (Double(area.x), Double(area.y), Double(area.width), Double(area.height))
    let line = max(1, (unit / 360).rounded())
    unsafe Lettering.roundedBox(
      context, x: x + line / 2, y: y + line / 2, width: width - line, height: height - line, radius: padding / 3)
    Lettering.setColor(context, theme.foreground, opacity: 0.1)
    unsafe cairo_fill_preserve(context)
    Lettering.setColor(context, theme.foreground, opacity: 0.5)
    unsafe cairo_set_line_width(context, line)
    unsafe cairo_stroke(context)

    let text = Lettering.layout(
      .init(text: field.text, size: textSize, alignment: PANGO_ALIGN_LEFT, limit: 1), on: context, width: width)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(text)) }
    // All of the text on one line, however long; it is cut where the field ends.
    unsafe pango_layout_set_ellipsize(text, PANGO_ELLIPSIZE_NONE)
    unsafe pango_layout_set_width(text, -1)
    unsafe pango_layout_set_single_paragraph_mode(text, 1)
    var offsets: [Int] = []
    var byte: Int32 = 0
    for index in 0...field.characters.count {
      var place = PangoRectangle()
      unsafe pango_layout_index_to_pos(text, byte, &place)
      offsets.append(Int(place.x) / Int(PANGO_SCALE))
      if index < field.characters.count { byte += Int32(String(field.characters[index]).utf8.count) }
    }
    let margin = (padding / 2).rounded()
    let inner = max(1, width - 2 * margin)
    let caret = Double(offsets[field.caret])
    let scroll = max(0, caret - inner)
    unsafe cairo_save(context)
    unsafe cairo_rectangle(context, x + margin - line, y, inner + 2 * line, height)
    unsafe cairo_clip(context)
    let textHeight = Double(Lettering.size(text).height)
    show(text, on: context, x: x + margin - scroll, y: y + (height - textHeight) / 2, theme.foreground, opacity: 1)
    unsafe cairo_rectangle(context, x + margin - scroll + caret - line / 2, y + (height - textHeight) / 2, line * 1.5, textHeight)
    unsafe cairo_fill(context)
    unsafe cairo_restore(context)
    return offsets.map { Int(x + margin - scroll) + $0 }
  }

  /// Lays a panel's text out so that it is not higher than it may be: with fewer lines and then fewer paragraphs, an ellipsis at the end.
  private func textLayout(_ text: String, on context: OpaquePointer?, width: Double, maximumHeight: Double) -> OpaquePointer {
    let text = PanelPainter.shortened(text, to: 2_000)
    var paragraphs = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(8).map(String.init)
    if text.split(separator: "\n", omittingEmptySubsequences: false).count > paragraphs.count { paragraphs[paragraphs.count - 1] += " …" }
    var limit = 8
    while true {
      let layout = Lettering.layout(
        .init(text: paragraphs.joined(separator: "\n"), size: textSize, alignment: PANGO_ALIGN_LEFT, limit: limit), on: context,
        width: width)
      guard Double(Lettering.size(layout).height) > maximumHeight, limit > 1 || paragraphs.count > 1 else { return layout }
      unsafe g_object_unref(UnsafeMutableRawPointer(layout))
      if limit > 1 {
        limit -= 1
      } else {
        paragraphs.removeLast()
        paragraphs[paragraphs.count - 1] += " …"
      }
    }
  }

  private static func line(_ text: String, to count: Int) -> String { String(shortened(text, to: count).map { $0.isNewline ? " " : $0 }) }

  private static func shortened(_ text: String, to count: Int) -> String {
    // A page may hand over any amount of text; nobody reads more than this from a screen.
    text.utf8.count <= count ? text : String(text.prefix(count)) + "…"
  }
}
