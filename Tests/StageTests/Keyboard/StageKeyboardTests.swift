import Base
import Synchronization
import Testing

@testable import Stage

/// The on-screen keyboard where people see it.
@Suite struct StageKeyboardTests {
  private final class Answers: Sendable {
    private let list = Mutex<[Panel.Answer]>([])
    var all: [Panel.Answer] { list.withLock { $0 } }
    func take(_ answer: Panel.Answer) { list.withLock { $0.append(answer) } }
  }

  private static let prompt = Panel(kind: .prompt(defaultText: "Ada"), title: "calls.example.org", text: "Your name?")

  private func time(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private func stage(width: Int = 960, height: Int = 540) -> Stage {
    let stage = Stage(width: width, height: height)
    stage.setKeyboardAttached(false)
    stage.update(layers: LayersUpdate(layers: [TestSurfaces.page(width: width, height: height, canvas: .white)], isRearranged: true))
    stage.present(now: time(0))
    return stage
  }

  private func tap(_ stage: Stage, _ area: Rectangle?) throws {
    let area = try #require(area)
    let (x, y) = (Double(area.x + area.width / 2), Double(area.y + area.height / 2))
    #expect(stage.input(.touchDown(id: 7, x: x, y: y)) && stage.input(.touchUp(id: 7)))
  }

  private func tap(_ stage: Stage, _ key: KeyboardLayout.Key) throws {
    try tap(stage, stage.keyboardPlan?.keys.first { $0.key == key }?.cell)
  }

  @Test(arguments: [(1_920, 1_080), (1_080, 1_920), (1_280, 1_024), (640, 360)])
  func promptIsAnsweredWithoutAKeyboard(width: Int, height: Int) throws {
    let (stage, answers) = (stage(width: width, height: height), Answers())
    let before = stage.picture()
    stage.setPanel(Self.prompt, answer: answers.take)
    stage.present(now: time(1))
    let (area, layout) = (try #require(stage.keyboardPlan).area, try #require(stage.panelLayout))
    #expect(!layout.box.overlaps(area) && layout.box.y >= 0, "all of the panel is seen")
    for key in [KeyboardLayout.Key.backspace, .text("d"), .space, .shift] {
      try tap(stage, key)
      stage.present(now: time(2))
    }
    try tap(stage, .text("l"))
    stage.present(now: time(3))
    // What was painted bit by bit is what is painted at once.
    #expect(stage.picture() == stage.withComposer { $0.picture() })
    try tap(stage, .enter)
    stage.present(now: time(4))
    #expect(answers.all == [.accepted(text: "Add L")])
    #expect(stage.keyboardPlan == nil && stage.picture() == before)
  }

  @Test func pressedKeyAloneIsPainted() throws {
    let stage = stage()
    stage.setFocusedField(FocusedField(activation: 1))
    #expect(stage.present(now: time(1)) != nil && stage.present(now: time(2)) == nil)
    let key = try #require(stage.keyboardPlan?.keys.first { $0.key == .text("g") })
    let before = stage.picture()
    #expect(stage.input(.touchDown(id: 1, x: Double(key.cell.x + 2), y: Double(key.cell.y + 2))))
    #expect(stage.present(now: time(3)) != nil && stage.paintedAreas == [key.face])
    #expect(stage.picture() != before)
    #expect(stage.input(.touchUp(id: 1)))
    #expect(stage.present(now: time(4)) != nil && stage.paintedAreas == [key.face] && stage.picture() == before)
    #expect(stage.takeKeyboardActions() == [.text("g")] && stage.takeKeyboardActions() == [])
  }

  @Test func heldBackspaceGoesOnAsTimePasses() throws {
    let stage = stage()
    stage.setFocusedField(FocusedField(activation: 1))
    stage.present(now: time(0))
    let cell = try #require(stage.keyboardPlan?.keys.first { $0.key == .backspace }).cell
    #expect(stage.input(.touchDown(id: 1, x: Double(cell.x + 5), y: Double(cell.y + 5))))
    for milliseconds in stride(from: Int64(0), through: 560, by: 20) { stage.present(now: time(milliseconds)) }
    #expect(stage.takeKeyboardActions() == [.key(14), .key(14), .key(14)])
    #expect(stage.input(.touchUp(id: 1)))
    stage.present(now: time(2_000))
    #expect(stage.takeKeyboardActions() == [])
  }

  @Test func panelHasTheKeyboardWhileItIsThere() throws {
    let (stage, answers) = (stage(), Answers())
    stage.setFocusedField(FocusedField(activation: 1, purpose: .pin))
    stage.present(now: time(1))
    #expect(stage.keyboardPlan?.keys.contains { $0.key == .text("q") } == false)
    stage.setPanel(Panel(kind: .confirm, title: "", text: "Leave?"), answer: answers.take)
    stage.present(now: time(2))
    #expect(stage.keyboardPlan == nil, "there is nothing to type into a question")
    stage.setPanel(Self.prompt, answer: answers.take)
    try tap(stage, stage.panelLayout?.accept)
    stage.present(now: time(3))
    #expect(stage.keyboardPlan?.keys.contains { $0.key == .text("q") } == true)
    // Put away, it comes back when the field is touched.
    try tap(stage, .hide)
    stage.present(now: time(4))
    #expect(stage.keyboardPlan == nil)
    try tap(stage, stage.panelLayout?.field)
    stage.present(now: time(5))
    #expect(stage.keyboardPlan != nil)
    try tap(stage, .text("q"))
    stage.setPanel(nil)
    stage.present(now: time(6))
    #expect(stage.keyboardPlan?.keys.contains { $0.key == .text("q") } == false)
    #expect(stage.takeKeyboardActions() == [], "what was typed into a panel is no client's")
  }

  @Test func headlessStageHasAKeyboardUntilSomebodySaysOtherwise() {
    let stage = Stage(width: 640, height: 360)
    stage.setFocusedField(FocusedField(activation: 1))
    stage.present(now: time(1))
    #expect(stage.keyboardPlan == nil)
    // A display shows the picture: it has none as long as nobody says that one is attached.
    stage.resize(monitorWidth: 640, monitorHeight: 360, refreshRate: 60, rotation: .none)
    _ = stage.prepare(now: time(2))
    #expect(stage.keyboardPlan != nil)
    stage.setKeyboardAttached(true)
    stage.resize(monitorWidth: 480, monitorHeight: 800, refreshRate: 60, rotation: .none)
    _ = stage.prepare(now: time(3))
    #expect(stage.keyboardPlan == nil)
    stage.setKeyboardAttached(false)
    _ = stage.prepare(now: time(4))
    #expect(stage.keyboardPlan?.area.width == 480)
  }

  @Test func pointerIsTheStagesOwnOnTheKeyboard() throws {
    let stage = stage()
    stage.setPanel(Self.prompt)
    stage.present(now: time(1))
    let area = try #require(stage.keyboardPlan).area
    let before = stage.picture()
    #expect(stage.input(.pointerMotion(x: 30, y: 30)))
    stage.present(now: time(2))
    let isSeen = stage.picture() != before
    #expect(isSeen, "the panel has it")
    #expect(stage.input(.pointerMotion(x: 300, y: Double(area.y + 30))))
    stage.present(now: time(3))
    let isGone = stage.picture() == before
    #expect(isGone, "the panel has it no more, and whoever follows the pointer draws it")
    stage.setPanel(nil)
    stage.setFocusedField(FocusedField(activation: 1))
    stage.present(now: time(4))
    #expect(!stage.input(.pointerMotion(x: 300, y: Double(area.y - 30))) && stage.takeKeyboardActions() == [])
    #expect(stage.input(.pointerMotion(x: 300, y: Double(area.y + 30))) && stage.takeKeyboardActions() == [.pointerLeft])
  }
}
