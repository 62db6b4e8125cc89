import Base
import Glibc
import Testing

@testable import Stage

/// Programs from Debian's packages, unmodified, on the server.
@Suite(.serialized) struct StockClientTests {
  private func keep(_ picture: Picture, _ name: String) throws {
    guard let folder = getenv("PARLOR_TEST_PICTURES") else { return }
    let file = fopen("\(String(cString: folder))/\(name).png", "w")!
    let png = try picture.png()
    fwrite(png, 1, png.count, file)
    fclose(file)
  }

  @Test func simpleSharedMemoryClientIsSeen() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["weston-simple-shm"], on: screen)
    let gray = Color(red: 64, green: 64, blue: 64)
    #expect(screen.wait { $0[320, 240] != gray && screen.flips > 20 })
    #expect(program.isRunning)
    try keep(screen.picture, "simple-shm")
  }

  @Test(arguments: ["weston-flower", "weston-simple-damage", "weston-subsurfaces"]) func toolkitClient(name: String) throws {
    let screen = try TestScreen()
    let program = try TestProgram([name], on: screen)
    let gray = Color(red: 64, green: 64, blue: 64)
    #expect(screen.wait { $0[320, 240] != gray })
    screen.settle()
    #expect(program.isRunning)
    try keep(screen.picture, name)
  }

  @Test func widgetFactory() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["gtk4-widget-factory"], on: screen)
    let gray = Color(red: 64, green: 64, blue: 64)
    #expect(screen.wait { $0[320, 240] != gray })
    screen.settle()
    #expect(program.isRunning)
    try keep(screen.picture, "widget-factory")
    screen.send(.pointerMotion(x: 505, y: 203), .pointerButton(code: 0x110, isPressed: true), .pointerButton(code: 0x110, isPressed: false))
    _ = screen.wait { _ in screen.targets.count > 2 }
    screen.settle()
    print(screen.targets)
    try keep(screen.picture, "widget-factory-menu")
    screen.send(.pointerMotion(x: 300, y: 203))
    screen.send(.key(code: 1, isPressed: true), .key(code: 1, isPressed: false))
    screen.settle()
    screen.send(.pointerMotion(x: 300, y: 22), .pointerButton(code: 0x110, isPressed: true), .pointerButton(code: 0x110, isPressed: false))
    screen.send(.key(code: 107, isPressed: true), .key(code: 107, isPressed: false))
    screen.send(.text("Hé €uro <x> 日本 ok"))
    screen.settle()
    print(screen.targets)
    try keep(screen.picture, "widget-factory-typed")
    screen.send(.touchDown(id: 1, x: 405, y: 22), .touchUp(id: 1))
    screen.settle()
    print(screen.targets)
    try keep(screen.picture, "widget-factory-touch")
  }

  @Test func miniBrowser() throws {
    let screen = try TestScreen()
    let page =
      "data:text/html,<body style='background:rgb(0,128,255)'><h1>Parlor</h1><select style='position:absolute;left:20px;top:100px'>"
      + "<option>first<option>second<option>third</select><input id=i autofocus style='position:absolute;left:200px;top:100px'>"
      + "<div style='height:3000px'></div>"
    let program = try TestProgram(["/usr/lib/x86_64-linux-gnu/webkitgtk-6.0/MiniBrowser", page], on: screen)
    #expect(screen.wait { $0[600, 400].resembles(Color(red: 0, green: 128, blue: 255)) })
    screen.settle()
    #expect(program.isRunning)
    print(screen.targets)
    try keep(screen.picture, "browser")
    screen.send(.pointerMotion(x: 50, y: 155), .pointerButton(code: 0x110, isPressed: true), .pointerButton(code: 0x110, isPressed: false))
    screen.settle()
    print(screen.targets)
    try keep(screen.picture, "browser-menu")
  }
}
