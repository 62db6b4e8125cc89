/// The calls on a virtual terminal (`ioctl_console(2)`), so that a test can stand in for the kernel.
protocol TerminalDevice: Sendable {
  /// The terminal's number, as in `/dev/tty1`.
  var number: Int { get }
  /// The number of the terminal that is on the screen.
  func active() throws(TerminalError) -> Int
  /// Asks for this terminal to be brought onto the screen; that comes later.
  func activate() throws(TerminalError)

  /// What is on its screen.
  func screen() throws(TerminalError) -> TerminalScreen
  /// Sets what is on its screen.
  func set(screen: TerminalScreen) throws(TerminalError)
  /// How its keyboard is read.
  func keyboard() throws(TerminalError) -> TerminalKeyboard
  /// Sets how its keyboard is read.
  func set(keyboard: TerminalKeyboard) throws(TerminalError)
  /// Writes to its text screen, control sequences too.
  func write(_ text: String)

  /// Has the kernel ask before it takes the terminal off the screen. Returns a descriptor that is readable when there is news.
  func watch() throws(TerminalError) -> Int32
  /// Has the kernel ask nobody any more.
  func unwatch()
  /// The next news; nil when there is none now.
  func news() -> TerminalNews?
  /// Lets the kernel take the terminal off the screen.
  func allowRelease()
  /// Confirms that the terminal's return was noticed.
  func confirmReturn()
}

/// What is on a virtual terminal's screen.
enum TerminalScreen: Sendable {
  /// The console's text.
  case text
  /// Whatever its owner draws; the console keeps off.
  case graphics
}

/// How a virtual terminal's keyboard is read: `K_XLATE` and its like.
struct TerminalKeyboard: RawRepresentable, Sendable, Hashable {
  var rawValue: Int32
  /// As text in UTF-8, and as the console's own key combinations.
  static let unicode = TerminalKeyboard(rawValue: 3)
  /// Not at all.
  static let off = TerminalKeyboard(rawValue: 4)
}

/// What the kernel says of a terminal that is watched.
enum TerminalNews: Sendable {
  /// It is to leave the screen, as soon as that is allowed.
  case releaseWanted
  /// It is on the screen again.
  case returned
}
