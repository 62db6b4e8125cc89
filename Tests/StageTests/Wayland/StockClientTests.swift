import Base
import Glibc
import Testing

@testable import Stage

/// Programs from Debian's packages, unmodified, on the server.
@Suite(.serialized) struct StockClientTests {
  private func isWhite(_ color: Color) -> Bool { color.resembles(.white) }

  @Test func sharedMemoryClientDrawsFrameAfterFrame() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["weston-simple-shm"], on: screen)
    #expect(screen.wait { $0[320, 240] != .black && screen.flips > 20 })
    #expect(program.isRunning)
    try screen.keep("simple-shm")
    // It stays at its own size, which is centred.
    #expect(screen.picture[320 - 126, 240] == .black && screen.picture[320 + 126, 240] == .black)
    guard case .mapped(let window)? = screen.events.first else {
      Issue.record("no window was reported")
      return
    }
    #expect(window.process == program.identifier && window.title == "simple-shm")
  }

  @Test func flowerHasATransparentGround() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["weston-flower"], on: screen)
    #expect(screen.wait { $0[320, 240] != .black })
    try screen.keep("flower")
    #expect(screen.picture[20, 20] == .black)
    #expect(program.isRunning)
  }

  @Test func damageOfRotatedAndScaledBuffersIsDrawn() throws {
    for arguments in [[], ["--scale=2", "--transform=90"], ["--use-viewport", "--rotating-transform"]] {
      let screen = try TestScreen()
      let program = try TestProgram(["weston-simple-damage"] + arguments, on: screen)
      #expect(screen.wait { _ in screen.flips > 30 })
      #expect(program.isRunning)
      try screen.keep("simple-damage\(arguments.joined())")
      // A white frame of ten pixels within 300 by 200, and a green ball.
      let picture = screen.picture
      for (x, y) in [(172, 142), (467, 142), (172, 337), (467, 337)] { #expect(isWhite(picture[x, y]), "\(arguments) \(x) \(y)") }
      let green = (190..<450).contains { x in (160..<320).contains { y in picture[x, y].green > 200 && picture[x, y].red < 50 } }
      #expect(green, "\(arguments)")
    }
  }

  @Test func subsurfacesLieWithinTheirWindow() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["weston-subsurfaces"], on: screen)
    // A red surface above to the right, one drawn with triangles below it.
    #expect(screen.wait { $0[420, 20].red > 120 && $0[420, 20].green < 80 && $0[520, 400] != .black })
    try screen.keep("subsurfaces")
    #expect(program.isRunning)
  }

  @Test func menusOfWidgetsOpenAndClose() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["gtk4-widget-factory"], on: screen)
    let button = (x: 505.0, y: 203.0)
    // The columns of a drop-down button, above and below it: a menu covers a good part of them, a cursor does not.
    let above = Rectangle(x: 434, y: 0, width: 142, height: 180)
    let below = Rectangle(x: 434, y: 230, width: 142, height: 250)
    #expect(screen.waitUntilStill(Rectangle(x: 434, y: 0, width: 142, height: 480)))
    let closed = screen.picture
    func changes(_ picture: Picture) -> Int { picture.changes(since: closed, in: above) + picture.changes(since: closed, in: below) }
    func isOpen(_ picture: Picture) -> Bool { changes(picture) > 6_000 }
    func isClosed(_ picture: Picture) -> Bool { changes(picture) < 1_500 }

    screen.click(x: button.x, y: button.y)
    #expect(screen.wait(until: isOpen), "\(changes(screen.picture)) pixels changed")
    try screen.keep("widgets-menu")
    // The keyboard belongs to the menu now.
    screen.send(.key(code: 1, isPressed: true), .key(code: 1, isPressed: false))
    #expect(screen.wait(until: isClosed), "\(changes(screen.picture)) pixels changed")

    // A press while the menu still fades would only end its fading.
    #expect(screen.waitUntilStill(below))
    screen.send(.touchDown(id: 1, x: button.x, y: button.y), .touchUp(id: 1))
    #expect(screen.wait(until: isOpen), "\(changes(screen.picture)) pixels changed")
    try screen.keep("widgets-menu-touched")
    // A press outside closes it.
    screen.send(.touchDown(id: 2, x: 30, y: 460), .touchUp(id: 2))
    #expect(screen.wait(until: isClosed), "\(changes(screen.picture)) pixels changed")
    #expect(program.isRunning)
  }

  @Test func textIsTypedWhateverTheKeyboardHas() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["gtk4-widget-factory"], on: screen)
    #expect(screen.wait { $0[3, 3] != .black })
    // The entry is wide enough for the text only when every character arrives once.
    screen.click(x: 300, y: 203)
    screen.send(.key(code: 107, isPressed: true), .key(code: 107, isPressed: false))
    let before = screen.picture
    screen.send(.text("Ääh €uro {x} MMMMMMMMMM"))
    #expect(screen.wait { picture in (270..<300).contains { x in picture[x, 203].red < 120 && picture[x, 203] != before[x, 203] } })
    try screen.keep("widgets-typed")
    #expect(program.isRunning)
  }

  @Test func webEngineShowsAPageWithMenuAndTyping() throws {
    let screen = try TestScreen()
    let page =
      "data:text/html;charset=utf-8,<body style='background:rgb(0,128,255)'><select style='position:absolute;left:20px;top:100px'>"
      + "<option>first<option>second<option>third</select>"
      + "<input style='position:absolute;left:200px;top:100px' onfocus=\"document.body.style.background='yellow'\" oninput=\"if(value=='Käse')document.body.style.background='lime'\">"
      + "<div style='position:absolute;top:2000px;height:2000px;width:100%25;background:red'></div>"
    let program = try TestProgram(["/usr/lib/x86_64-linux-gnu/webkitgtk-6.0/MiniBrowser", page], on: screen)
    let blue = Color(red: 0, green: 128, blue: 255)
    #expect(screen.wait { $0[600, 400].resembles(blue) })
    #expect(screen.picture[60, 220].resembles(blue))
    screen.click(x: 50, y: 155)
    #expect(screen.wait { isWhite($0[60, 240]) })
    try screen.keep("web-menu")
    screen.send(.key(code: 1, isPressed: true), .key(code: 1, isPressed: false))
    #expect(screen.wait { $0[60, 240].resembles(blue) })

    screen.click(x: 300, y: 150)
    #expect(screen.wait { $0[600, 400].resembles(Color(red: 255, green: 255, blue: 0)) })
    try screen.keep("web-focused")
    screen.send(.text("Käse"))
    #expect(screen.wait { $0[600, 400].resembles(Color(red: 0, green: 255, blue: 0)) })

    screen.send(.pointerMotion(x: 300, y: 300), .pointerAxis(horizontal: 0, vertical: 2_200))
    #expect(screen.wait { $0[200, 400].resembles(Color(red: 255, green: 0, blue: 0)) })
    try screen.keep("web-scrolled")
    #expect(program.isRunning)
  }

  @Test func fieldsOfWidgetsBringTheKeyboardUp() throws {
    let screen = try TestScreen()
    screen.stage.setKeyboardAttached(false)
    let program = try TestProgram(["gtk4-widget-factory"], on: screen)
    #expect(screen.wait { $0[3, 3] != .black })
    screen.send(.touchDown(id: 1, x: 300, y: 203), .touchUp(id: 1))
    #expect(screen.wait { _ in screen.stage.keyboardPlan != nil })
    screen.send(.key(code: 107, isPressed: true), .key(code: 107, isPressed: false))
    let before = screen.picture
    #expect(screen.tap(.shift) && screen.tap(.shift))
    for _ in 0..<20 { #expect(screen.tap(.text("m"))) }
    #expect(screen.wait { picture in (270..<300).contains { x in picture[x, 203].red < 120 && picture[x, 203] != before[x, 203] } })
    try screen.keep("widgets-keyboard")
    // Put away, it comes back with another touch of the same field.
    #expect(screen.tap(.hide) && screen.wait { _ in screen.stage.keyboardPlan == nil })
    screen.send(.touchDown(id: 1, x: 300, y: 203), .touchUp(id: 1))
    #expect(screen.wait { _ in screen.stage.keyboardPlan != nil })
    #expect(program.isRunning)
  }

  @Test func fieldsOfWebPagesBringTheKeyboardUp() throws {
    let screen = try TestScreen()
    screen.stage.setKeyboardAttached(false)
    screen.stage.setKeyboardLanguage(.german)
    let style = "position:absolute;left:20px;width:200px;height:30px;"
    let page =
      "data:text/html;charset=utf-8,<body style='background:rgb(0,128,255)'>"
      + "<input style='\(style)top:60px' onkeydown=\"if(event.key=='Enter')document.body.style.background='yellow'\""
      + " oninput=\"if(value=='Käs')document.body.style.background='lime'\">"
      + "<input type=tel style='\(style)top:330px' oninput=\"if(value=='%2b49')document.body.style.background='red'\">"
    let program = try TestProgram(["/usr/lib/x86_64-linux-gnu/webkitgtk-6.0/MiniBrowser", page], on: screen)
    func body(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Bool {
      screen.wait { $0[600, 230].resembles(Color(red: red, green: green, blue: blue)) }
    }
    #expect(body(0, 128, 255))
    screen.send(.touchDown(id: 1, x: 100, y: 120), .touchUp(id: 1))
    #expect(screen.wait { _ in screen.stage.keyboardPlan?.keys.contains { $0.key == .text("ä") } ?? false })
    for key in [KeyboardLayout.Key.shift, .text("k"), .text("ä"), .text("s"), .text("s"), .backspace] { #expect(screen.tap(key)) }
    try screen.keep("web-keyboard")
    #expect(body(0, 255, 0))
    #expect(screen.tap(.enter) && body(255, 255, 0))
    // The other field is for numbers, and lies where the keyboard would cover it.
    let middle = Double(screen.stage.keyboardPlan?.area.y ?? 0)
    #expect(screen.tap(.hide) && screen.wait { _ in screen.stage.keyboardPlan == nil })
    screen.send(.touchDown(id: 1, x: 100, y: 390), .touchUp(id: 1))
    #expect(middle > 240 && middle < 390)
    #expect(screen.wait { _ in screen.stage.keyboardPlan?.keys.contains { $0.key == .text("+") } ?? false })
    #expect(screen.wait { _ in screen.stage.keyboardPlan?.area.y == 0 })
    for key in [KeyboardLayout.Key.text("+"), .text("4"), .text("9")] { #expect(screen.tap(key)) }
    #expect(body(255, 0, 0))
    try screen.keep("web-keypad")
    #expect(program.isRunning)
  }

  @Test func windowIsClosedWhenAsked() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["gtk4-widget-factory"], on: screen)
    #expect(screen.wait { _ in screen.events.contains { if case .mapped = $0 { true } else { false } } })
    guard case .mapped(let window)? = screen.events.first else { return }
    #expect(window.applicationIdentifier == "gtk4-widget-factory")
    screen.close(toplevel: window.identifier)
    #expect(screen.wait { _ in !program.isRunning })
    #expect(screen.wait { $0[3, 3] == .black })
    #expect(screen.events.last.map { if case .unmapped = $0 { true } else { false } } ?? false)
  }
}
