import Base

/// The virtual terminal that the display belongs to: while it is owned, the console neither shows through nor reads the keyboard, and whoever wants
/// another terminal on the screen has to ask.
///
/// All calls are made on one thread, which stays for as long as the terminal is owned: it is the one that the kernel knows.
public final class VirtualTerminal: @unchecked Sendable {
  // Unchecked: handed over once, from who makes it to the stage's thread.

  /// The control sequences for: home, erase, no cursor.
  private static let empty = "\u{1B}[H\u{1B}[2J\u{1B}[?25l"
  /// The control sequence that shows the cursor.
  private static let showsCursor = "\u{1B}[?25h"

  private let device: any TerminalDevice
  private var found: (screen: TerminalScreen, keyboard: TerminalKeyboard)?

  /// Whether the terminal is on the screen, and the display may be driven.
  public private(set) var isActive = true
  /// Readable when the kernel has a question; -1 while the terminal is not owned.
  public private(set) var descriptor: Int32 = -1

  init(_ device: any TerminalDevice) { self.device = device }

  /// The terminal at `path`, such as `/dev/tty1`; nil: the one that is the standard input, as a service manager passes it, else `/dev/tty1`.
  public convenience init(path: String?) throws(TerminalError) { self.init(try ConsoleTerminal(path: path)) }

  /// The terminal's number.
  public var number: Int { device.number }

  /// Takes the terminal over from the console, from a boot splash, or from an owner that was killed. What was done is undone when a step fails.
  public func take() throws(TerminalError) {
    precondition(found == nil, "a terminal is taken once")
    let found = (screen: try device.screen(), keyboard: try device.keyboard())
    descriptor = try device.watch()
    do throws(TerminalError) {
      try device.set(keyboard: .off)
      // The console's text must not be what is seen between two owners. Under graphics it is not drawn anyhow.
      if found.screen == .text { device.write(VirtualTerminal.empty) }
      try device.set(screen: .graphics)
      isActive = try device.active() == device.number
      if !isActive { try device.activate() }
    } catch {
      restore(found)
      throw error
    }
    self.found = found
  }

  /// Answers the kernel's questions. `lost` is called before the terminal leaves the screen, and has to let go of the display; `regained` when it is back.
  public func process(lost: () -> Void, regained: () -> Void) {
    while let news = device.news() {
      switch news {
      case .releaseWanted:
        if isActive { lost() }
        isActive = false
        device.allowRelease()
      case .returned:
        device.confirmReturn()
        if !isActive { regained() }
        isActive = true
      }
    }
  }

  /// Gives the terminal back to the console. Harmless when it is not owned.
  ///
  /// Without this call, the terminal stays as it is when the process ends: dark, until the next owner comes or somebody asks for another one.
  public func restore() {
    guard let found else { return }
    self.found = nil
    restore(found)
  }

  private func restore(_ found: (screen: TerminalScreen, keyboard: TerminalKeyboard)) {
    // A dark screen and a dead keyboard, as an owner that was killed leaves them, are nothing to go back to.
    let keyboard = found.keyboard == .off ? .unicode : found.keyboard
    do throws(TerminalError) { try device.set(screen: .text) } catch { Log.warning("the console does not show: \(error)") }
    do throws(TerminalError) { try device.set(keyboard: keyboard) } catch { Log.warning("the console does not read: \(error)") }
    device.write(VirtualTerminal.showsCursor)
    device.unwatch()
    descriptor = -1
  }
}
