import Testing

@testable import Stage

@Suite struct QRCodeTests {
  private let content =
    #"{"addresses":["192.168.178.201","2001:db8:85a3:8d3:1319:8a2e:370:7348"],"name":"Empfang S\u00fcd","serial":"PX-7","version":"0.1.0"}"#

  @Test(arguments: [(1_920, 1_080), (1_080, 1_920), (640, 360), (1_280, 1_024)]) func codeOnTheScreenSaysWhatItShould(
    width: Int, height: Int
  ) throws {
    let scanner = try #require(QRScanner(), "Scripts/packages.txt names libzbar0")
    let stage = Stage(
      width: width, height: height, theme: Notice.Theme(foreground: .black, background: Color(red: 0xFF, green: 0xD0, blue: 0x20)))
    let notice = Notice(
      kind: .identify, title: "Empfang Süd", rows: [Notice.Row("Adresse", "192.168.178.201"), Notice.Row("Version", "0.1.0")],
      code: content)
    stage.identify(notice)
    stage.present(now: .zero)
    #expect(scanner.texts(in: stage.picture()) == [content])
  }

  @Test func whatNoCodeCanHoldIsLeftOut() {
    #expect(QRCode("") == nil)
    #expect(QRCode(String(repeating: "x", count: 5_000)) == nil)
    #expect(QRCode("a\u{0}b") == nil)
    let stage = Stage(width: 640, height: 360)
    stage.identify(Notice(kind: .identify, title: "BOX", code: String(repeating: "x", count: 5_000)))
    stage.present(now: .zero)
    #expect(stage.picture().hasLight)
  }

  @Test func codeHasItsThreeFinders() throws {
    let code = try #require(QRCode("https://example.org"))
    for (column, row) in [(0, 0), (code.size - 7, 0), (0, code.size - 7)] {
      let ring = (0..<7).allSatisfy { code.isDark(column + $0, row) && code.isDark(column, row + $0) && code.isDark(column + 6, row + $0) }
      #expect(ring && !code.isDark(column + 1, row + 1) && code.isDark(column + 3, row + 3))
    }
  }
}

extension Picture {
  /// Whether any pixel is not black.
  var hasLight: Bool { (0..<height).contains { y in (0..<width).contains { self[$0, y] != .black } } }
}
