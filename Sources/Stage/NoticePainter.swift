import CPango
import Glibc

/// Draws notices with Pango and Cairo; keeps the last one, so that an unchanged notice costs no text layout.
struct NoticePainter: ~Copyable {
  private struct Content: Equatable {
    var notice: Notice
    var secondsLeft: Int?
    var theme: Notice.Theme
    var width: Int
    var height: Int
  }

  private var content: Content?
  private var surface: OpaquePointer?
  private var box = Rectangle(x: 0, y: 0, width: 0, height: 0)

  deinit { unsafe cairo_surface_destroy(surface) }

  /// Paints the notice in the middle of the canvas and returns the box it covers.
  mutating func paint(_ notice: Notice, secondsLeft: Int?, theme: Notice.Theme, on canvas: Canvas) -> Rectangle {
    let box = layOut(notice, secondsLeft: secondsLeft, theme: theme, width: canvas.width, height: canvas.height)
    if let surface { unsafe canvas.paint(surface, x: box.x, y: box.y) }
    return box
  }

  /// Draws the notice for a screen of the given size, and returns the box it will cover.
  mutating func layOut(_ notice: Notice, secondsLeft: Int?, theme: Notice.Theme, width: Int, height: Int) -> Rectangle {
    let wanted = Content(notice: notice, secondsLeft: secondsLeft, theme: theme, width: width, height: height)
    if wanted != content {
      content = wanted
      draw(wanted)
    }
    return box
  }

  /// The notice that was laid out last, where it stands.
  var raster: Raster? {
    guard let surface, let pixels = unsafe cairo_image_surface_get_data(surface) else { return nil }
    return unsafe Raster(pixels: pixels, stride: Int(cairo_image_surface_get_stride(surface)), bounds: box)
  }

  private static func lines(_ content: Content) -> [Lettering.Line] {
    let unit = Lettering.unit(width: content.width, height: content.height)
    let notice = content.notice
    var lines = [Lettering.Line(text: notice.title, size: notice.kind == .identify ? unit / 7 : unit / 13, isBold: true)]
    lines.append(Lettering.Line(text: notice.text, size: unit / 21))
    if let seconds = content.secondsLeft {
      lines.append(Lettering.Line(text: Lettering.clock(seconds), size: unit / 16, isBold: true))
    }
    if case .error(let code) = notice.kind { lines.append(Lettering.Line(text: code, size: unit / 30, opacity: 0.75)) }
    return lines.filter { !$0.text.isEmpty }
  }

  private mutating func draw(_ content: Content) {
    unsafe cairo_surface_destroy(surface)
    surface = nil
    let lines = NoticePainter.lines(content)
    let padding = Double(min(content.width, content.height)) / 24
    let wrapWidth = max(1, Double(content.width) * 0.8 - 2 * padding)

    // Text is measured on a surface of one pixel, and drawn on one that fits.
    let probe = unsafe cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 1, 1)
    let probeContext = unsafe cairo_create(probe)
    defer {
      unsafe cairo_destroy(probeContext)
      unsafe cairo_surface_destroy(probe)
    }
    let layouts = unsafe lines.map { unsafe Lettering.layout($0, on: probeContext, width: wrapWidth) }
    defer { for layout in layouts { unsafe g_object_unref(UnsafeMutableRawPointer(layout)) } }
    var (textWidth, textHeight) = (1.0, 0.0)
    var tops: [Double] = []
    for layout in layouts {
      var extent = PangoRectangle()
      unsafe pango_layout_get_pixel_extents(layout, nil, &extent)
      textWidth = max(textWidth, Double(extent.width))
      if !tops.isEmpty { textHeight += padding / 2 }
      tops.append(textHeight)
      textHeight += Double(extent.height)
    }
    let width = min(content.width, Int(textWidth + 2 * padding))
    let height = min(content.height, max(1, Int(textHeight + 2 * padding)))
    box = Rectangle(x: (content.width - width) / 2, y: (content.height - height) / 2, width: width, height: height)

    let drawn = unsafe cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
    let context = unsafe cairo_create(drawn)
    defer { unsafe cairo_destroy(context) }
    let background = content.theme.background
    unsafe Lettering.roundedBox(context, width: Double(width), height: Double(height), radius: padding / 2)
    unsafe Lettering.setColor(context, background, opacity: 0.92)
    unsafe cairo_fill(context)
    for (index, layout) in layouts.enumerated() {
      let left = (Double(width) - wrapWidth) / 2
      unsafe cairo_move_to(context, left, padding + tops[index])
      unsafe Lettering.setColor(context, content.theme.foreground, opacity: lines[index].opacity)
      unsafe pango_cairo_show_layout(context, layout)
    }
    unsafe cairo_surface_flush(drawn)
    surface = drawn
  }
}
