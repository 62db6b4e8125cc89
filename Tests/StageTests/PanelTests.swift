import Base
import Frames
import Synchronization
import Testing

@testable import Stage

@Suite struct PanelTests {
  /// Answers in the order they came.
  private final class Answers: Sendable {
    private let list = Mutex<[Panel.Answer]>([])
    var all: [Panel.Answer] { list.withLock { $0 } }
    func take(_ answer: Panel.Answer) { list.withLock { $0.append(answer) } }
  }

  private static let alert = Panel(kind: .alert, title: "calls.example.org", text: "The room is closed.")
  private static let confirm = Panel(kind: .confirm, title: "calls.example.org", text: "Leave the call?", countdown: 20)
  private static let prompt = Panel(kind: .prompt(defaultText: "Ada"), title: "calls.example.org", text: "Your name?")

  private func time(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private func stage(width: Int = 960, height: Int = 540, isPage: Bool = true) -> Stage {
    let stage = Stage(width: width, height: height)
    if isPage {
      stage.update(layers: LayersUpdate(layers: [TestSurfaces.page(width: width, height: height, canvas: .white)], isRearranged: true))
    }
    stage.present(now: time(0))
    return stage
  }

  private func tap(_ stage: Stage, _ area: Rectangle?, finger: Int32 = 0) throws {
    let area = try #require(area)
    let (x, y) = (Double(area.x + area.width / 2), Double(area.y + area.height / 2))
    #expect(stage.input(.touchDown(id: finger, x: x, y: y)))
    #expect(stage.input(.touchUp(id: finger)))
  }

  private func press(_ stage: Stage, _ codes: UInt32...) {
    for code in codes {
      _ = stage.input(.key(code: code, isPressed: true))
      _ = stage.input(.key(code: code, isPressed: false))
    }
  }

  // MARK: Looks

  @Test(arguments: [alert, confirm, prompt], [true, false])
  func panelIsSeenOverADimmedScreenAndLeavesNothing(panel: Panel, isPage: Bool) throws {
    let stage = stage(isPage: isPage)
    if !isPage { stage.show(remote: TestFrames.solid(.white, width: 960, height: 540)) }
    stage.present(now: time(1))
    let before = stage.picture()
    stage.setPanel(panel)
    #expect(stage.present(now: time(2)) != nil)
    let box = try #require(stage.panelLayout).box
    #expect(Rectangle(x: 0, y: 0, width: 960, height: 540).contains(box))
    let picture = stage.picture()
    let dimmed = picture[2, 2]
    #expect(dimmed.red < 128 && dimmed.red > 64 && picture[957, 537] == dimmed)
    #expect(picture[box.x + box.width / 2, box.y + 4].resembles(Color(red: 0x15, green: 0x27, blue: 0x3A)))
    #expect(stage.present(now: time(3)) == nil)
    stage.setPanel(nil)
    #expect(stage.present(now: time(4)) != nil)
    #expect(stage.picture() == before)
  }

  @Test func partsLieInTheBoxAndApart() throws {
    for (width, height) in [(1_920, 1_080), (1_080, 1_920), (1_280, 800), (640, 480)] {
      for panel in [Self.alert, Self.confirm, Self.prompt] {
        let stage = stage(width: width, height: height)
        stage.setPanel(panel)
        stage.present(now: time(1))
        let layout = try #require(stage.panelLayout)
        let parts = [layout.accept, layout.cancel, layout.field].compactMap { $0 }
        #expect(parts.count == (panel.kind == .alert ? 1 : panel.kind == .confirm ? 2 : 3))
        for (index, part) in parts.enumerated() {
          #expect(layout.box.contains(part))
          // Fingers need some 15 mm; the screen of 24 inches is 300 mm high.
          #expect(part.height >= min(width * 9 / 16, height) / 20 && part.width >= part.height)
          #expect(!parts[(index + 1)...].contains { $0.overlaps(part) })
        }
      }
    }
  }

  @Test func endlessTextsStayOnTheScreen() throws {
    let lines = String(repeating: "x\n", count: 5_000)
    let words = String(repeating: "<b>&\u{1F600}\u{0} und so weiter ", count: 500)
    for (width, height) in [(960, 540), (320, 180), (16, 16), (1, 1), (300, 2_000)] {
      for text in [lines, words, ""] {
        var panel = Panel(kind: .prompt(defaultText: words), title: text, text: text, countdown: 100_000)
        (panel.acceptLabel, panel.cancelLabel) = (text, text)
        let stage = stage(width: width, height: height)
        stage.setPanel(panel)
        stage.present(now: time(1))
        let layout = try #require(stage.panelLayout)
        #expect(Rectangle(x: 0, y: 0, width: width, height: height).contains(layout.box))
        if width >= 320 { #expect(layout.box.contains(layout.accept)) }
      }
    }
  }

  @Test func pageGoesOnUnderThePanel() throws {
    let stage = stage()
    let video = VideoIdentifier(rawValue: 1)
    let placement = VideoPlacement(video: video, width: 960, height: 540, fit: .fill)
    let layer = TestSurfaces.page(width: 960, height: 540, videos: [placement])
    stage.update(layers: LayersUpdate(layers: [layer]))
    stage.setPanel(Self.confirm)
    stage.show(TestFrames.solid(.white, width: 64, height: 36), in: video)
    stage.present(now: time(1))
    let box = try #require(stage.panelLayout).box
    let first = stage.picture()
    stage.show(TestFrames.solid(.red, width: 64, height: 36), in: video)
    stage.present(now: time(2))
    let second = stage.picture()
    #expect(first[5, 5].red > 64 && first[5, 5].green > 64 && second[5, 5].red > 64 && second[5, 5].green < 10)
    #expect(second[box.x + box.width / 2, box.y + 4].resembles(first[box.x + box.width / 2, box.y + 4]))
    stage.setNotice(Notice(kind: .information, title: "Above all"))
    stage.present(now: time(3))
    #expect(stage.picture() != second)
  }

  // MARK: Answers

  @Test func touchAnswers() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Self.confirm, answer: answers.take)
    stage.present(now: time(1))
    try tap(stage, stage.panelLayout?.accept)
    #expect(answers.all == [.accepted(text: nil)])
    stage.setPanel(Self.confirm, answer: answers.take)
    stage.present(now: time(2))
    try tap(stage, stage.panelLayout?.cancel)
    #expect(answers.all == [.accepted(text: nil), .cancelled])
    stage.present(now: time(3))
    #expect(stage.panelLayout == nil && !stage.input(.touchDown(id: 1, x: 5, y: 5)))
  }

  @Test func touchBesideTheButtonsAnswersNothing() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Self.confirm, answer: answers.take)
    // Not to be seen yet: not to be answered.
    #expect(stage.input(.touchDown(id: 0, x: 480, y: 350)) && stage.input(.touchUp(id: 0)))
    #expect(stage.input(.key(code: KeyCode.enter, isPressed: true)))
    stage.present(now: time(1))
    let layout = try #require(stage.panelLayout)
    try tap(stage, Rectangle(x: 0, y: 0, width: 10, height: 10))
    try tap(stage, Rectangle(x: layout.box.x, y: layout.box.y, width: 10, height: 10))
    // Slid off the button.
    let (x, y) = (Double(layout.accept.x + 5), Double(layout.accept.y + 5))
    _ = stage.input(.touchDown(id: 0, x: x, y: y))
    stage.present(now: time(2))
    let pressed = stage.picture()
    _ = stage.input(.touchMotion(id: 0, x: x, y: y - 200))
    stage.present(now: time(3))
    #expect(stage.picture() != pressed)
    _ = stage.input(.touchUp(id: 0))
    // Pressed, and then taken back.
    _ = stage.input(.touchDown(id: 0, x: x, y: y))
    #expect(stage.input(.touchCancel(id: 0)) && !stage.input(.touchUp(id: 0)) && !stage.input(.touchCancel(id: 0)))
    // A second finger does not press what the first holds.
    _ = stage.input(.touchDown(id: 1, x: 1, y: 1))
    #expect(answers.all.isEmpty)
    _ = stage.input(.touchDown(id: 2, x: x, y: y))
    _ = stage.input(.touchUp(id: 1))
    #expect(answers.all.isEmpty)
    _ = stage.input(.touchUp(id: 2))
    #expect(answers.all == [.accepted(text: nil)])
  }

  @Test func pointerIsSeenAndAnswers() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Self.confirm, answer: answers.take)
    stage.present(now: time(1))
    let without = stage.picture()
    let cancel = try #require(stage.panelLayout?.cancel)
    #expect(stage.input(.pointerMotion(x: 100, y: 100)))
    #expect(stage.present(now: time(2)) != nil)
    let arrow = Rectangle(x: 100, y: 100, width: 540 / 25, height: 540 / 25)
    #expect(stage.picture().differs(from: without, onlyIn: arrow) && stage.paintedAreas == [arrow])
    #expect(stage.input(.pointerMotion(x: .infinity, y: -.infinity)) && stage.input(.pointerMotion(x: .nan, y: .nan)))
    stage.present(now: time(3))
    _ = stage.input(.pointerMotion(x: Double(cancel.x + 9), y: Double(cancel.y + 9)))
    // Another button is none.
    _ = stage.input(.pointerButton(code: KeyCode.leftButton + 1, isPressed: true))
    _ = stage.input(.pointerButton(code: KeyCode.leftButton + 1, isPressed: false))
    #expect(answers.all.isEmpty && stage.input(.pointerAxis(horizontal: 0, vertical: 10)))
    _ = stage.input(.pointerButton(code: KeyCode.leftButton, isPressed: true))
    _ = stage.input(.pointerButton(code: KeyCode.leftButton, isPressed: false))
    #expect(answers.all == [.cancelled])
    stage.present(now: time(4))
    #expect(stage.picture()[100, 100] == .white && stage.picture()[cancel.x + 9, cancel.y + 9] == .white)
  }

  @Test func keysAnswer() {
    let (stage, answers) = (stage(), Answers())
    for panel in [Self.alert, Self.confirm, Self.prompt] {
      for key in [KeyCode.enter, KeyCode.escape] {
        stage.setPanel(panel, answer: answers.take)
        stage.present(now: time(1))
        press(stage, 30, key)
      }
    }
    #expect(
      answers.all == [.accepted(text: nil), .cancelled, .accepted(text: nil), .cancelled, .accepted(text: "Adaa"), .cancelled])
  }

  @Test func typingEditsTheField() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Self.prompt, answer: answers.take)
    stage.present(now: time(1))
    let before = stage.picture()
    // "Ada" → "Ad" → "Ad L" → caret first → "xAd L" → "Ad L" again → text typed from afar at the end.
    press(stage, KeyCode.backspace, 57)
    _ = stage.input(.key(code: 42, isPressed: true))
    press(stage, 38)
    _ = stage.input(.key(code: 42, isPressed: false))
    press(stage, KeyCode.home, 45, KeyCode.backspace, KeyCode.end)
    _ = stage.input(.text("övelace 👩‍💻\n"))
    press(stage, KeyCode.left, KeyCode.left, KeyCode.right, KeyCode.delete)
    // With Control a letter is no letter.
    _ = stage.input(.key(code: 29, isPressed: true))
    press(stage, 30)
    _ = stage.input(.key(code: 29, isPressed: false))
    stage.present(now: time(2))
    #expect(stage.picture() != before)
    press(stage, KeyCode.keypadEnter)
    #expect(answers.all == [.accepted(text: "Ad Lövelace ")])
  }

  @Test(arguments: [("us", "yz;A@"), ("de", "zyöA\""), ("xx-none", "yz;A@")])
  func keysTypeWhatIsPrintedOnThem(layout: String, text: String) {
    let (stage, answers) = (Stage(width: 640, height: 480, keyboardLayout: layout), Answers())
    // Caps lock from before the panel counts, also when its key is still down.
    _ = stage.input(.key(code: 58, isPressed: true))
    stage.setPanel(Panel(kind: .prompt(defaultText: ""), title: "", text: ""), answer: answers.take)
    stage.present(now: time(1))
    _ = stage.input(.key(code: 58, isPressed: false))
    press(stage, 58, 21, 44, 39)
    _ = stage.input(.key(code: 42, isPressed: true))
    press(stage, 30, 3)
    _ = stage.input(.key(code: 42, isPressed: false))
    press(stage, .max, 0, 59, KeyCode.enter)
    #expect(answers.all == [.accepted(text: text)])
  }

  @Test func touchPutsTheCaretWhereItPoints() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Panel(kind: .prompt(defaultText: "WWWW"), title: "", text: ""), answer: answers.take)
    stage.present(now: time(1))
    let layout = try #require(stage.panelLayout)
    let field = try #require(layout.field)
    #expect(layout.carets.count == 5 && layout.carets == layout.carets.sorted() && Set(layout.carets).count == 5)
    #expect(layout.carets.allSatisfy { $0 >= field.x && $0 <= field.x + field.width })
    try tap(stage, Rectangle(x: layout.carets[2] - 1, y: field.y, width: 2, height: field.height))
    press(stage, 2)
    #expect(answers.all.isEmpty)
    press(stage, KeyCode.enter)
    #expect(answers.all == [.accepted(text: "WW1WW")])
  }

  @Test func longTextScrollsSoThatTheCaretIsSeen() throws {
    let stage = stage()
    stage.setPanel(Panel(kind: .prompt(defaultText: String(repeating: "Wide ", count: 100)), title: "", text: ""))
    stage.present(now: time(1))
    let layout = try #require(stage.panelLayout)
    let field = try #require(layout.field)
    #expect(layout.carets.last! <= field.x + field.width && layout.carets.first! < field.x)
    press(stage, KeyCode.home)
    stage.present(now: time(2))
    #expect(try #require(stage.panelLayout).carets.first! >= field.x)
  }

  // MARK: Time

  @Test func nobodyAnswers() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Panel(kind: .confirm, title: "", text: "Still there?", countdown: 3), answer: answers.take)
    var pictures: Set<[UInt8]> = []
    for milliseconds in stride(from: Int64(50_000), to: 53_000, by: 100) {
      stage.present(now: time(milliseconds))
      pictures.insert(stage.picture().pixels)
    }
    #expect(pictures.count == 3 && answers.all.isEmpty)
    stage.present(now: time(53_000))
    #expect(answers.all == [.dismissed] && stage.panelLayout == nil)
    #expect(stage.picture()[480, 270] == .white)
  }

  @Test func whoDoesSomethingGetsTheWholeTimeAgain() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Panel(kind: .prompt(defaultText: ""), title: "", text: "Name?", countdown: 3), answer: answers.take)
    for step in 0..<20 {
      stage.present(now: time(Int64(step) * 2_000))
      _ = stage.input(.text("x"))
    }
    #expect(answers.all.isEmpty)
    stage.present(now: time(40_000))
    stage.present(now: time(42_999))
    #expect(answers.all.isEmpty)
    stage.present(now: time(43_000))
    #expect(answers.all == [.dismissed])
  }

  // MARK: Queue

  @Test func panelsWaitForEachOther() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Self.alert, answer: answers.take)
    stage.setPanel(Self.prompt, answer: answers.take)
    stage.setPanel(Panel(kind: .confirm, title: "", text: "", countdown: 1), answer: answers.take)
    stage.present(now: time(0))
    // Those that wait do not count down.
    stage.present(now: time(60_000))
    #expect(stage.panelLayout?.cancel == nil && answers.all.isEmpty)
    try tap(stage, stage.panelLayout?.accept)
    stage.present(now: time(60_001))
    #expect(stage.panelLayout?.field != nil)
    try tap(stage, stage.panelLayout?.accept)
    stage.present(now: time(60_002))
    #expect(stage.panelLayout?.cancel != nil && stage.panelLayout?.field == nil)
    stage.present(now: time(61_002))
    #expect(answers.all == [.accepted(text: nil), .accepted(text: "Ada"), .dismissed])

    for _ in 0..<100 { stage.setPanel(Self.alert, answer: answers.take) }
    #expect(answers.all.count == 3 + 36)
    stage.setPanel(nil)
    #expect(answers.all.count == 103 && answers.all[3...].allSatisfy { $0 == .dismissed })
  }

  @Test func answerMayAskAgain() {
    let (stage, answers) = (stage(), Answers())
    stage.setPanel(Self.alert) { _ in stage.setPanel(Self.confirm, answer: answers.take) }
    stage.present(now: time(0))
    press(stage, KeyCode.enter)
    stage.present(now: time(1))
    press(stage, KeyCode.escape)
    #expect(answers.all == [.cancelled])
  }

  // MARK: What is the client's

  @Test func whatIsPressedBeforeIsReleasedForTheClient() throws {
    let stage = stage()
    let (finger, button, key) = (Int32(3), KeyCode.leftButton, UInt32(30))
    #expect(!stage.input(.touchDown(id: finger, x: 480, y: 270)) && !stage.input(.key(code: key, isPressed: true)))
    #expect(!stage.input(.pointerButton(code: button, isPressed: true)))
    stage.setPanel(Self.alert)
    stage.present(now: time(1))
    #expect(!stage.input(.touchMotion(id: finger, x: 1, y: 1)) && !stage.input(.touchUp(id: finger)))
    #expect(!stage.input(.key(code: key, isPressed: false)) && !stage.input(.pointerButton(code: button, isPressed: false)))
  }

  @Test func whatIsPressedOnAPanelIsReleasedForIt() throws {
    let stage = stage()
    stage.setPanel(Self.alert)
    stage.present(now: time(1))
    #expect(stage.input(.key(code: KeyCode.enter, isPressed: true)))
    stage.present(now: time(2))
    #expect(stage.panelLayout == nil)
    #expect(stage.input(.key(code: KeyCode.enter, isPressed: false)))
    #expect(!stage.input(.key(code: KeyCode.enter, isPressed: true)))
    #expect(!stage.input(.pointerMotion(x: 5, y: 5)) && !stage.input(.pointerAxis(horizontal: 1, vertical: 1)) && !stage.input(.text("x")))
  }
}
