import Testing

@testable import Stage

@Suite struct NoticeTests {
  private func shown(_ scene: Scene, width: Int = 640, height: Int = 360) -> (picture: Picture, box: Rectangle?) {
    let output = HeadlessOutput(width: width, height: height)
    output.compose(scene)
    return (output.picture(), output.composer.places.notice)
  }

  @Test func noticeIsSeenInItsBoxAndNowhereElse() throws {
    let remote = TestFrames.solid(.gray, width: 640, height: 360)
    for kind in [Notice.Kind.starting, .connecting, .waitingForNetwork, .error(code: "call.unreachable"), .identify, .information] {
      let notice = Notice(kind: kind, title: "The desk does not answer", text: "Trying again.", countdown: 10)
      let (picture, box) = shown(Scene(remote: remote, notice: notice))
      #expect(picture.differs(from: shown(Scene(remote: remote)).picture, onlyIn: try #require(box)))
    }
  }

  @Test func textHasTheThemesColours() throws {
    let theme = Notice.Theme(foreground: Color(red: 255, green: 255, blue: 0), background: Color(red: 0, green: 0, blue: 255))
    let (picture, box) = shown(Scene(notice: Notice(kind: .identify, title: "BOX 7"), theme: theme))
    let area = try #require(box)
    var letters = 0
    for y in area.y..<area.y + area.height {
      for x in area.x..<area.x + area.width where picture[x, y].resembles(theme.foreground) { letters += 1 }
    }
    // Large letters, but letters: not a filled box.
    #expect(letters * 50 > area.width * area.height && letters * 2 < area.width * area.height)
    #expect(picture[area.x + area.width / 2, area.y + 2].blue > 200)
  }

  @Test func lettersAreTallEnoughForTwoMetres() throws {
    // Ten millimetres on a monitor 300 mm high is a thirtieth of the screen; a line of text adds its padding.
    let (picture, box) = shown(Scene(notice: Notice(kind: .information, title: "", text: "HHH")), width: 1920, height: 1080)
    let area = try #require(box)
    let rows = (area.y..<area.y + area.height).filter { y in
      (area.x..<area.x + area.width).contains { picture[$0, y].resembles(.white) }
    }
    #expect(rows.count >= 1080 / 30)
  }

  @Test func differentTextLooksDifferent() {
    let first = shown(Scene(notice: Notice(kind: .information, title: "Starting"))).picture
    #expect(first != shown(Scene(notice: Notice(kind: .information, title: "Startled"))).picture)
    #expect(first == shown(Scene(notice: Notice(kind: .information, title: "Starting"))).picture)
  }

  @Test func endlessTextStaysOnTheScreen() throws {
    let text = String(repeating: "<b>&\u{1F600}\u{0} und so weiter ", count: 500)
    let (picture, box) = shown(Scene(notice: Notice(kind: .error(code: text), title: text, text: text)), width: 320, height: 180)
    #expect(Rectangle(x: 0, y: 0, width: 320, height: 180).contains(try #require(box)))
    #expect(picture[160, 90] != .black)
  }

  @Test func emptyNoticeAndTinyScreenDoNoHarm() {
    let pixel = shown(Scene(notice: Notice(kind: .information, title: "")), width: 1, height: 1).picture
    #expect((pixel.width, pixel.height) == (1, 1))
    let small = shown(Scene(notice: Notice(kind: .identify, title: "BOX")), width: 16, height: 16).picture
    #expect((small.width, small.height) == (16, 16))
  }
}
