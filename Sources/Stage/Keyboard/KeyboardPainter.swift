import CPango

/// Draws the on-screen keyboard with Pango and Cairo; of one that is drawn already, only the keys that changed.
struct KeyboardPainter: ~Copyable {
  private struct Drawing: Equatable {
    var picture: KeyboardPicture
    var theme: Notice.Theme
    var unit: Double
  }

  private var drawing: Drawing?
  private var surface: OpaquePointer?
  /// How many keys were drawn so far.
  private(set) var drawnCaps = 0

  deinit { unsafe cairo_surface_destroy(surface) }

  /// The keyboard drawn last, where it stands.
  var raster: Raster? {
    guard let surface, let drawing, let pixels = unsafe cairo_image_surface_get_data(surface) else { return nil }
    return unsafe Raster(pixels: pixels, stride: Int(cairo_image_surface_get_stride(surface)), bounds: drawing.picture.area)
  }

  /// Draws the keyboard, or none, for a screen of the given size, and calls `damage` with what on the screen has to be painted again.
  mutating func draw(_ picture: KeyboardPicture?, theme: Notice.Theme, screen: Rectangle, damage: (Rectangle) -> Void) {
    let wanted = picture.map {
      Drawing(picture: $0, theme: theme, unit: Lettering.unit(width: screen.width, height: screen.height))
    }
    guard wanted != drawing else { return }
    let before = drawing
    drawing = wanted
    guard let wanted else {
      if let before { damage(before.picture.area) }
      unsafe cairo_surface_destroy(surface)
      surface = nil
      return
    }
    let (area, caps) = (wanted.picture.area, wanted.picture.caps)
    let isSameFrame =
      before?.theme == theme && before?.unit == wanted.unit && before?.picture.area == area
      && before?.picture.caps.map(\.face) == caps.map(\.face)
    if !isSameFrame {
      if let before, before.picture.area != area { damage(before.picture.area) }
      if before?.picture.area.width != area.width || before?.picture.area.height != area.height {
        unsafe cairo_surface_destroy(surface)
        unsafe surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(area.width), Int32(area.height))
      }
    }
    let context = unsafe cairo_create(surface)
    defer { unsafe cairo_destroy(context) }
    if !isSameFrame {
      KeyboardPainter.fill(Rectangle(x: 0, y: 0, width: area.width, height: area.height), theme, on: context)
      damage(area)
    }
    for (index, cap) in caps.enumerated() where !isSameFrame || before?.picture.caps[index] != cap {
      draw(cap, in: area, wanted, on: context)
      if isSameFrame { damage(cap.face) }
      drawnCaps += 1
    }
    unsafe cairo_surface_flush(surface)
  }

  private static func fill(_ area: Rectangle, _ theme: Notice.Theme, on context: OpaquePointer?) {
    unsafe cairo_rectangle(context, Double(area.x), Double(area.y), Double(area.width), Double(area.height))
    Lettering.setColor(context, theme.background, opacity: 1)
    unsafe cairo_fill(context)
  }

  private func draw(_ cap: KeyboardPicture.Cap, in area: Rectangle, _ drawing: Drawing, on context: OpaquePointer?) {
    let (theme, unit) = (drawing.theme, drawing.unit)
    let face = Rectangle(x: cap.face.x - area.x, y: cap.face.y - area.y, width: cap.face.width, height: cap.face.height)
    KeyboardPainter.fill(face, theme, on: context)
    let (x, y, width, height) = (Double(face.x), Double(face.y), Double(face.width), Double(face.height))
    unsafe Lettering.roundedBox(context, x: x, y: y, width: width, height: height, radius: unit / 72)
    let isInverted = cap.isPressed || cap.isOn
    Lettering.setColor(context, theme.foreground, opacity: isInverted ? (cap.isPressed ? 0.7 : 1) : cap.isText ? 0.2 : 0.1)
    unsafe cairo_fill(context)
    let color = isInverted ? theme.background : theme.foreground
    let text = Lettering.layout(
      .init(text: cap.label, size: unit / 20, alignment: PANGO_ALIGN_LEFT, limit: 1), on: context, width: width)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(text)) }
    let size = Lettering.size(text)
    let (left, top) = (x + (width - Double(size.width)) / 2, y + (height - Double(size.height)) / 2)
    unsafe cairo_move_to(context, left, top)
    Lettering.setColor(context, color, opacity: 1)
    unsafe pango_cairo_show_layout(context, text)
    if cap.isLocked {
      // A line under the arrow, as on keyboards that have a key for it.
      unsafe cairo_rectangle(context, left, y + height - unit / 60, Double(size.width), max(1, unit / 180))
      unsafe cairo_fill(context)
    }
  }
}
