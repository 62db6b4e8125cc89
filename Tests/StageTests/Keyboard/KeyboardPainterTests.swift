import CPango
import Glibc
import Testing

@testable import Stage

@Suite struct KeyboardPainterTests {
  private let screen = Rectangle(x: 0, y: 0, width: 640, height: 360)
  private let theme = Notice.Theme()

  private func picture(_ page: KeyboardLayout.Page = .letters, isAtTop: Bool = false, pressed: Set<KeyboardLayout.Key> = [])
    -> KeyboardPicture
  {
    let plan = KeyboardPlan(.page(page, language: .german, purpose: .normal), screen: screen, isAtTop: isAtTop)
    return KeyboardPicture(
      area: plan.area,
      caps: plan.keys.map {
        KeyboardPicture.Cap(
          face: $0.face, label: $0.key.label(isShifted: false), isText: $0.key.text(isShifted: false) != nil,
          isPressed: pressed.contains($0.key))
      })
  }

  private func pixels(_ raster: Raster?) -> [UInt8] {
    guard let raster else { return [] }
    return (0..<raster.bounds.height).flatMap { row in
      Array(UnsafeBufferPointer(start: raster.pixels + row * raster.stride, count: raster.bounds.width * 4))
    }
  }

  @Test func onlyKeysThatChangedAreDrawn() throws {
    var painter = KeyboardPainter()
    var damage: [Rectangle] = []
    func draw(_ picture: KeyboardPicture?, _ painter: inout KeyboardPainter) -> [Rectangle] {
      damage = []
      painter.draw(picture, theme: theme, screen: screen) { damage.append($0) }
      return damage
    }
    #expect(draw(nil, &painter) == [] && painter.raster == nil)
    let (plain, pressed) = (picture(), picture(pressed: [.text("ö")]))
    #expect(draw(plain, &painter) == [plain.area])
    let before = pixels(painter.raster)
    let count = painter.drawnCaps
    #expect(draw(plain, &painter) == [] && painter.drawnCaps == count)
    let cap = try #require(pressed.caps.first { $0.isPressed })
    #expect(draw(pressed, &painter) == [cap.face] && painter.drawnCaps == count + 1)
    // What was drawn in part looks as what is drawn at once.
    var fresh = KeyboardPainter()
    _ = draw(pressed, &fresh)
    #expect(pixels(painter.raster) == pixels(fresh.raster) && pixels(painter.raster) != before)
    _ = draw(plain, &painter)
    #expect(pixels(painter.raster) == before)
    // Elsewhere, both places change.
    let top = picture(isAtTop: true)
    #expect(draw(top, &painter) == [plain.area, top.area] && painter.raster?.bounds == top.area)
    #expect(pixels(painter.raster) == before)
    #expect(draw(nil, &painter) == [top.area] && painter.raster == nil)
  }

  @Test func everyLabelHasAGlyphAndRoom() {
    let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 1, 1)
    let context = cairo_create(surface)
    defer {
      cairo_destroy(context)
      cairo_surface_destroy(surface)
    }
    let unit = Lettering.unit(width: screen.width, height: screen.height)
    for page in [KeyboardLayout.Page.letters, .symbols, .moreSymbols, .accents, .numbers] {
      for cap in picture(page).caps where !cap.label.isEmpty {
        let layout = Lettering.layout(
          .init(text: cap.label, size: unit / 20, alignment: PANGO_ALIGN_LEFT, limit: 1), on: context, width: Double(cap.face.width))
        defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
        #expect(pango_layout_get_unknown_glyphs_count(layout) == 0, "\(cap.label)")
        #expect(pango_layout_is_ellipsized(layout) == 0 && Lettering.size(layout).height <= cap.face.height, "\(cap.label)")
      }
    }
  }
}
