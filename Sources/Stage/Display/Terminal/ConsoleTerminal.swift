import CLinux
import Glibc
import Synchronization

/// A virtual terminal of the machine.
final class ConsoleTerminal: TerminalDevice {
  let number: Int
  let path: String
  private let descriptor: Int32
  private let watched = Mutex<Int32>(-1)

  /// The terminal at `path`; nil: what the standard input is, where a service manager passed a terminal, else `/dev/tty1`.
  init(path: String?) throws(TerminalError) {
    let opened: Int32
    if path == nil, linux_terminal_number(STDIN_FILENO) > 0 {
      opened = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
    } else {
      opened = Glibc.open(path ?? "/dev/tty1", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    }
    guard opened >= 0 else { throw TerminalError(path: path ?? "/dev/tty1", step: "open", code: errno) }
    (descriptor, number) = (opened, Int(linux_terminal_number(opened)))
    self.path = number > 0 ? "/dev/tty\(number)" : path ?? "/dev/tty1"
    guard number > 0 else { throw .notVirtual(path: self.path) }
    // Whoever is no administrator may only change the terminal that controls the session.
    linux_terminal_control(opened)
  }

  deinit { close(descriptor) }

  private func check(_ result: Int32, _ step: String) throws(TerminalError) -> Int32 {
    if result < 0 { throw TerminalError(path: path, step: step, code: errno) }
    return result
  }

  func active() throws(TerminalError) -> Int { Int(try check(linux_terminal_active(descriptor), "ask which is on the screen")) }

  func activate() throws(TerminalError) { _ = try check(linux_terminal_activate(descriptor, Int32(number)), "bring onto the screen") }

  func screen() throws(TerminalError) -> TerminalScreen {
    try check(linux_terminal_screen(descriptor), "ask for the screen's mode") == Int32(linux_screen_text) ? .text : .graphics
  }

  func set(screen: TerminalScreen) throws(TerminalError) {
    let mode = screen == .text ? linux_screen_text : linux_screen_graphics
    _ = try check(linux_terminal_set_screen(descriptor, Int32(mode)), "set the screen's mode")
  }

  func keyboard() throws(TerminalError) -> TerminalKeyboard {
    TerminalKeyboard(rawValue: try check(linux_terminal_keyboard(descriptor), "ask for the keyboard's mode"))
  }

  func set(keyboard: TerminalKeyboard) throws(TerminalError) {
    _ = try check(linux_terminal_set_keyboard(descriptor, keyboard.rawValue), "set the keyboard's mode")
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
  }

  func watch() throws(TerminalError) -> Int32 {
    let pipe = try check(linux_terminal_watch(descriptor), "ask to be asked")
    watched.withLock { $0 = pipe }
    return pipe
  }

  func unwatch() {
    let pipe = watched.withLock { watched in
      defer { watched = -1 }
      return watched
    }
    if pipe >= 0 { linux_terminal_unwatch(descriptor, pipe) }
  }

  func news() -> TerminalNews? {
    var byte: UInt8 = 0
    guard unsafe read(watched.withLock { $0 }, &byte, 1) == 1 else { return nil }
    return byte == UInt8(ascii: "r") ? .releaseWanted : .returned
  }

  func allowRelease() { _ = linux_terminal_allow_release(descriptor) }
  func confirmReturn() { _ = linux_terminal_confirm_return(descriptor) }
}
