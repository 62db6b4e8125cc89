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
    let program = try TestProgram(["weston-simple-shm"], on: screen.path)
    let gray = Color(red: 64, green: 64, blue: 64)
    #expect(screen.wait { $0[320, 240] != gray && screen.flips > 20 })
    #expect(program.isRunning)
    try keep(screen.picture, "simple-shm")
  }

  @Test(arguments: ["weston-flower", "weston-simple-damage", "weston-subsurfaces"]) func toolkitClient(name: String) throws {
    let screen = try TestScreen()
    let program = try TestProgram([name], on: screen.path)
    let gray = Color(red: 64, green: 64, blue: 64)
    #expect(screen.wait { $0[320, 240] != gray })
    screen.settle()
    #expect(program.isRunning)
    try keep(screen.picture, name)
  }

  @Test func widgetFactory() throws {
    let screen = try TestScreen()
    let program = try TestProgram(["gtk4-widget-factory"], on: screen.path)
    let gray = Color(red: 64, green: 64, blue: 64)
    #expect(screen.wait { $0[320, 240] != gray })
    screen.settle()
    #expect(program.isRunning)
    try keep(screen.picture, "widget-factory")
  }
}
