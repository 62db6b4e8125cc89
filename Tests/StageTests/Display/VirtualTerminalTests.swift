import Glibc
import Synchronization
import Testing

@testable import Stage

/// A kernel with two terminals, of which the first can be owned. It notes what is asked of it, and refuses what it is told to.
private final class Console: TerminalDevice {
  struct State {
    var active = 1
    var screen = TerminalScreen.text
    var keyboard = TerminalKeyboard.unicode
    var isWatched = false
    var text = "login:"
    var news: [TerminalNews] = []
    var isReleaseAllowed: Bool?
    var log: [String] = []
    var refused: String?
  }

  let number = 1
  let state = Mutex(State())

  init(_ change: (inout State) -> Void = { _ in }) { state.withLock { change(&$0) } }

  private func perform(_ step: String, _ change: (inout State) -> Void = { _ in }) throws(TerminalError) {
    let isRefused = state.withLock { state in
      if state.refused == step { return true }
      state.log.append(step)
      change(&state)
      return false
    }
    if isRefused { throw .denied(path: "/dev/tty1") }
  }

  func active() -> Int { state.withLock { $0.active } }
  func activate() throws(TerminalError) { try perform("activate") }
  func screen() -> TerminalScreen { state.withLock { $0.screen } }
  func set(screen: TerminalScreen) throws(TerminalError) { try perform("\(screen)") { $0.screen = screen } }
  func keyboard() -> TerminalKeyboard { state.withLock { $0.keyboard } }
  func set(keyboard: TerminalKeyboard) throws(TerminalError) { try perform("keyboard \(keyboard.rawValue)") { $0.keyboard = keyboard } }
  func write(_ text: String) { state.withLock { if text.contains("[2J") { $0.text = "" } } }
  func watch() throws(TerminalError) -> Int32 {
    try perform("watch") { $0.isWatched = true }
    return 7
  }
  func unwatch() { state.withLock { ($0.isWatched, $0.log) = (false, $0.log + ["unwatch"]) } }
  func news() -> TerminalNews? { state.withLock { $0.news.isEmpty ? nil : $0.news.removeFirst() } }
  func allowRelease() { state.withLock { ($0.active, $0.log) = (2, $0.log + ["release"]) } }
  func confirmReturn() { state.withLock { ($0.active, $0.log) = (1, $0.log + ["confirm"]) } }

  func note(_ text: String) { state.withLock { $0.log.append(text) } }
  var now: State { state.withLock { $0 } }
}

@Suite struct VirtualTerminalTests {
  @Test func theConsoleIsNotSeenAndDoesNotReadWhileTheTerminalIsOwned() throws {
    let console = Console()
    let terminal = VirtualTerminal(console)
    try terminal.take()
    #expect(console.now.screen == .graphics && console.now.keyboard == .off && console.now.isWatched && console.now.text.isEmpty)
    #expect(terminal.isActive && terminal.descriptor == 7)
    // Nobody can take it away unasked before the console is off.
    #expect(console.now.log == ["watch", "keyboard 4", "graphics"])
    terminal.restore()
    terminal.restore()
    #expect(console.now.screen == .text && console.now.keyboard == .unicode && !console.now.isWatched && terminal.descriptor == -1)
    #expect(console.now.log.suffix(3) == ["text", "keyboard 3", "unwatch"])
  }

  @Test func aBootSplashIsTakenOverWithoutTextInBetween() throws {
    let console = Console { $0.screen = .graphics }
    let terminal = VirtualTerminal(console)
    try terminal.take()
    #expect(!console.now.log.contains("text") && console.now.screen == .graphics)
  }

  @Test func whoeverWasKilledLeavesATerminalThatCanBeOwnedAndGivenBack() throws {
    let console = Console()
    try VirtualTerminal(console).take()
    // It is gone without a word: no text came back.
    #expect(console.now.screen == .graphics && console.now.keyboard == .off)
    let successor = VirtualTerminal(console)
    try successor.take()
    #expect(!console.now.log.contains("text"))
    successor.restore()
    #expect(console.now.screen == .text && console.now.keyboard == .unicode)
  }

  @Test func theDisplayIsLetGoBeforeAnotherTerminalComes() throws {
    let console = Console()
    let terminal = VirtualTerminal(console)
    try terminal.take()
    console.state.withLock { ($0.log, $0.news) = ([], [.releaseWanted]) }
    terminal.process(lost: { console.note("lost") }, regained: { console.note("regained") })
    #expect(console.now.log == ["lost", "release"] && !terminal.isActive)
    console.state.withLock { ($0.log, $0.news) = ([], [.returned]) }
    terminal.process(lost: { console.note("lost") }, regained: { console.note("regained") })
    #expect(console.now.log == ["confirm", "regained"] && terminal.isActive)
    // There and back before anybody looked.
    console.state.withLock { ($0.log, $0.news) = ([], [.releaseWanted, .returned]) }
    terminal.process(lost: { console.note("lost") }, regained: { console.note("regained") })
    #expect(console.now.log == ["lost", "release", "confirm", "regained"] && terminal.isActive)
  }

  @Test func aTerminalInTheBackgroundAsksForTheScreenAndWaits() throws {
    let console = Console { $0.active = 2 }
    let terminal = VirtualTerminal(console)
    try terminal.take()
    #expect(!terminal.isActive && console.now.log.last == "activate")
    console.state.withLock { $0.news = [.returned] }
    terminal.process(lost: { console.note("lost") }, regained: { console.note("regained") })
    #expect(terminal.isActive && console.now.log.last == "regained")
  }

  @Test(arguments: ["watch", "keyboard 4", "graphics", "activate"])
  func whatCannotBeOwnedIsLeftAsItWas(refused: String) {
    let console = Console {
      $0.refused = refused
      $0.active = 2
    }
    let terminal = VirtualTerminal(console)
    #expect(throws: TerminalError.denied(path: "/dev/tty1")) { try terminal.take() }
    #expect(console.now.screen == .text && console.now.keyboard == .unicode && !console.now.isWatched && terminal.descriptor == -1)
  }

  @Test func aKeyboardThatCannotBeGivenBackDoesNotKeepTheScreen() throws {
    let console = Console()
    let terminal = VirtualTerminal(console)
    try terminal.take()
    console.state.withLock { $0.refused = "text" }
    terminal.restore()
    #expect(console.now.keyboard == .unicode && !console.now.isWatched)
  }

  @Test func whatIsNoTerminalIsSaidToBeNone() {
    #expect(throws: TerminalError.absent(path: "/dev/tty-nowhere")) { try VirtualTerminal(path: "/dev/tty-nowhere") }
    #expect(throws: TerminalError.notVirtual(path: "/dev/null")) { try VirtualTerminal(path: "/dev/null") }
    let denied = TerminalError(path: "/dev/tty1", step: "open", code: EACCES)
    #expect(denied == .denied(path: "/dev/tty1") && denied.description.contains("TTYPath=/dev/tty1"))
    #expect(TerminalError(path: "/dev/tty1", step: "open", code: EIO).description == "/dev/tty1: open: Input/output error")
  }
}
