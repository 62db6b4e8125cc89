import Frames
import Testing

@testable import Stage

/// Text fields of a page on a box without a keyboard.
@Suite(.serialized) struct FieldTests {
  private static let html = """
    <!doctype html><meta charset=utf-8><title>plain</title>
    <style>body{margin:0;background:#2050a0} input{position:absolute;left:20px;width:200px;height:30px}</style>
    <input style="top:20px" id=name><input style="top:420px" id=number type=tel>
    <script>
    for (const input of document.querySelectorAll('input')) {
      input.onfocus = () => document.title = input.id
      input.onkeydown = event => { if (event.key == 'Enter') document.title = `${input.id} ${input.value}` }
    }
    </script>
    """

  @Test func touchedKeysArriveInThePage() async throws {
    let page = try await LivePage(FieldTests.html) { _, _ in }
    page.stage.setKeyboardAttached(false)
    page.stage.setKeyboardLanguage(.german)
    func has(_ key: KeyboardLayout.Key) -> Bool { page.stage.keyboardPlan?.keys.contains { $0.key == key } ?? false }
    let outcome: Result<Void, any Error>
    do {
      try await page.wait(for: "the page's picture") { page.stage.picture()[300, 240] == Color(red: 0x20, green: 0x50, blue: 0xA0) }
      page.touch(x: 100, y: 35)
      try await page.wait(for: "the keyboard") { has(.text("ü")) }
      let isBelow = page.stage.keyboardPlan.map { $0.area.y > 200 } ?? false
      #expect(isBelow, "the field stays in sight")
      for key in [KeyboardLayout.Key.shift, .text("g"), .text("r"), .text("ü"), .text("ß"), .text("r"), .backspace, .text("e"), .enter] {
        #expect(page.tap(key))
      }
      try await page.wait(forTitle: "name Grüße")
      Pixels(picture: page.stage.picture()).keep("field-name")
      // Put away, it comes back with a touch of the field.
      #expect(page.tap(.hide))
      try await page.wait(for: "the keyboard's end") { page.stage.keyboardPlan == nil }
      page.touch(x: 100, y: 35)
      try await page.wait(for: "the keyboard again") { has(.text("ü")) }
      // The other field is for numbers, and lies where the keyboard would be.
      #expect(page.tap(.hide))
      try await page.wait(for: "the keyboard's end") { page.stage.keyboardPlan == nil }
      page.touch(x: 100, y: 435)
      try await page.wait(for: "the pad") { has(.text("+")) && page.stage.keyboardPlan?.area.y == 0 }
      for key in [KeyboardLayout.Key.text("+"), .text("4"), .text("9"), .enter] { #expect(page.tap(key)) }
      try await page.wait(forTitle: "number +49")
      Pixels(picture: page.stage.picture()).keep("field-number")
      outcome = .success(())
    } catch {
      Pixels(picture: page.stage.picture()).keep("field-failed")
      outcome = .failure(error)
    }
    await page.stop()
    try outcome.get()
  }

  private static let corners = """
    <!doctype html><meta charset=utf-8><title>plain</title>
    <style>body{margin:0;background:#2050a0;overflow:hidden} div{position:absolute;right:0;bottom:0;width:40px;height:40px}</style>
    <div></div>
    <script>
    const tell = () => document.title = `${innerWidth}x${innerHeight}`
    onresize = tell; tell()
    let count = 0
    setInterval(() => document.querySelector('div').style.background = ++count % 2 ? '#f00' : '#0f0', 100)
    </script>
    """

  @Test func pageFollowsTheScreensSize() async throws {
    let page = try await LivePage(FieldTests.corners) { _, _ in }
    let outcome: Result<Void, any Error>
    do {
      try await page.wait(forTitle: "640x480")
      for (width, height) in [(800, 600), (480, 640), (1_280, 720), (320, 200), (640, 480)] {
        page.resize(width: width, height: height)
        try await page.wait(forTitle: "\(width)x\(height)")
        try await page.wait(for: "a picture of \(width)x\(height)") {
          let picture = page.stage.picture()
          guard picture.width == width, picture.height == height else { return false }
          let (corner, ground) = (picture[width - 2, height - 2], Color(red: 0x20, green: 0x50, blue: 0xA0))
          return [Color(red: 255, green: 0, blue: 0), Color(red: 0, green: 255, blue: 0)].contains(corner)
            && picture[0, 0] == ground && picture[width - 60, height - 2] == ground && picture[width - 2, 0] == ground
        }
      }
      outcome = .success(())
    } catch {
      Pixels(picture: page.stage.picture()).keep("size-failed")
      outcome = .failure(error)
    }
    await page.stop()
    try outcome.get()
  }
}
