import Base
import CLinux
import Call
import Glibc
import Net
import Synchronization

/// Runs the page program where no service manager does: starts it, starts it again when it ends, and ends it.
///
/// It has a thread of its own, which is the program's parent: the program dies with that thread, and so never outlives this process.
final class PageProcess: Sendable {
  /// What became of the program.
  enum Event: Sendable, Equatable {
    /// It runs under this process number.
    case started(process: Int32)
    /// It ended, or could not be started. It is started again at `nextStart`; nil: not at all, since it was stopped.
    case ended(reason: String, nextStart: Instant?)
  }

  /// How the program is run.
  struct Settings: Sendable {
    /// Where it is, asked before each start; nil: nowhere.
    var path: @Sendable () -> String?
    /// What stands behind its name on its command line.
    var arguments: [String]
    /// How long it may take to end once it was asked to.
    var grace = Interval.seconds(3)
    /// The pauses before it is started again.
    var backoff: Backoff

    /// The page program where it is found, for the sockets in the folder `runtime`.
    static func here(runtime: String, seed: UInt64) -> Settings {
      Settings(path: { PageProgram.path() }, arguments: ["--runtime", runtime], backoff: Backoff(seed: seed))
    }
  }

  private enum Wish { case none, restart, stop }

  private let settings: Settings
  private let onEvent: @Sendable (Event) -> Void
  private let wish = Mutex(Wish.none)
  private let wakeDescriptor: Int32
  private let thread = Mutex<pthread_t?>(nil)
  private let current = Atomic<Int32>(0)

  /// A program that does not run yet. `onEvent` is called on the thread that watches it.
  init(_ settings: Settings, onEvent: @escaping @Sendable (Event) -> Void) {
    (self.settings, self.onEvent, wakeDescriptor) = (settings, onEvent, linux_eventfd())
    precondition(wakeDescriptor >= 0, "the process has no descriptor left")
  }

  deinit { close(wakeDescriptor) }

  /// The program's process number; nil while it does not run.
  var process: Int32? {
    let number = current.load(ordering: .relaxed)
    return number > 0 ? number : nil
  }

  /// Starts the program. Once only.
  func start() {
    var started = pthread_t()
    let argument = unsafe Unmanaged.passRetained(self).toOpaque()
    let status = unsafe pthread_create(
      &started, nil,
      { @Sendable argument in
        linux_set_thread_name("page process")
        unsafe Unmanaged<PageProcess>.fromOpaque(argument!).takeRetainedValue().watch()
        return nil
      }, argument)
    precondition(status == 0, "the machine has no room for one more thread")
    thread.withLock { thread in
      precondition(thread == nil, "a page process starts once")
      thread = started
    }
  }

  /// Waits for the program to end, by force once its time is over, and starts it again at once. Whoever calls has asked it to end.
  func restart() { want(.restart) }

  /// Waits for the program to end, by force once its time is over. Whoever calls has asked it to end. Harmless when it does not run.
  func stop() {
    want(.stop)
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    if let running { pthread_join(running, nil) }
  }

  private func want(_ new: Wish) {
    wish.withLock { if $0 != .stop { $0 = new } }
    var one: UInt64 = 1
    _ = unsafe write(wakeDescriptor, &one, 8)
  }

  // MARK: The thread

  private func watch() {
    var backoff = settings.backoff
    while true {
      let end = run(&backoff)
      current.store(0, ordering: .relaxed)
      let wish = take()
      if wish == .stop { return onEvent(.ended(reason: end, nextStart: nil)) }
      let now = MonotonicClock.now()
      let next = wish == .restart ? now : backoff.failed(at: now)
      if wish == .none { Log.warning("\(PageProgram.name): \(end)") }
      onEvent(.ended(reason: end, nextStart: next))
      if !rest(until: next) { return }
    }
  }

  /// The wish, which is thereby fulfilled unless it is to stop.
  private func take() -> Wish {
    wish.withLock { wish in
      defer { if wish == .restart { wish = .none } }
      return wish
    }
  }

  /// Waits; false when the program is to stop.
  private func rest(until time: Instant) -> Bool {
    while wish.withLock({ $0 }) == .none {
      let left = (time - MonotonicClock.now()).milliseconds
      if left <= 0 { return true }
      _ = wait([wakeDescriptor], milliseconds: Int32(min(left.rounded(.up), 60_000)))
    }
    return take() != .stop
  }

  /// Runs the program until it has ended, and says how it did.
  private func run(_ backoff: inout Backoff) -> String {
    guard let path = settings.path() else { return PageProgram.absence }
    var output: Int32 = -1
    let child = PageProcess.spawn(path, settings.arguments, output: &output)
    guard child > 0 else { return "\(path): \(unsafe String(cString: strerror(errno)))" }
    var lines = OutputLines(descriptor: output)
    defer { close(output) }
    let ending = linux_process_descriptor(child)
    defer { if ending >= 0 { close(ending) } }
    current.store(child, ordering: .relaxed)
    backoff.succeeded(at: MonotonicClock.now())
    onEvent(.started(process: child))
    var killTime: Instant?
    while true {
      if killTime == nil, wish.withLock({ $0 }) != .none { killTime = MonotonicClock.now() + settings.grace }
      let left = killTime.map { max(0, ($0 - MonotonicClock.now()).milliseconds.rounded(.up)) }
      if left == 0 {
        Log.warning("\(PageProgram.name) does not end by itself: it is killed")
        _ = kill(-child, SIGKILL)
      }
      let ready = wait([ending, wakeDescriptor, lines.isOpen ? output : -1], milliseconds: left.map { Int32($0 == 0 ? 100 : $0) } ?? -1)
      if ready[2] { lines.read() }
      if ready[0] { break }
    }
    // What it started may still stand, and write.
    _ = kill(-child, SIGKILL)
    lines.drain()
    let status = linux_reap(child)
    return status > 256 ? "it was ended by signal \(status - 256)" : status == 0 ? "it ended" : "it ended with status \(status)"
  }

  private static func spawn(_ path: String, _ arguments: [String], output: inout Int32) -> Int32 {
    var pointers = ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { for pointer in pointers { unsafe free(pointer) } }
    return unsafe linux_spawn(path, &pointers, &output)
  }

  /// Waits until one of the descriptors can be read or is over, and says for each whether it is.
  private func wait(_ descriptors: [Int32], milliseconds: Int32) -> [Bool] {
    var watched = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = unsafe poll(&watched, nfds_t(watched.count), milliseconds)
    if let wake = watched.first(where: { $0.fd == wakeDescriptor }), wake.revents != 0 {
      var count: UInt64 = 0
      _ = unsafe read(wakeDescriptor, &count, 8)
    }
    return watched.map { $0.revents != 0 }
  }
}

/// Turns what a program writes into lines of the log.
private struct OutputLines {
  let descriptor: Int32
  private(set) var isOpen = true
  private var pending: [UInt8] = []
  /// Longer lines are told in pieces.
  private static let limit = 4_096

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Takes what is there now; false when that was all.
  @discardableResult
  mutating func read() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
    guard count > 0 else {
      if count == 0 { isOpen = false }
      return false
    }
    pending += buffer[..<count]
    while true {
      let end = pending.firstIndex(of: 10)
      if let end, end <= OutputLines.limit {
        tell(pending[..<end])
        pending.removeSubrange(...end)
      } else if pending.count > OutputLines.limit {
        tell(pending[..<OutputLines.limit])
        pending.removeSubrange(..<OutputLines.limit)
      } else {
        return true
      }
    }
  }

  /// Takes everything that was written before the program ended.
  mutating func drain() {
    while read() {}
    if !pending.isEmpty { tell(pending[...]) }
    pending = []
  }

  private func tell(_ line: ArraySlice<UInt8>) {
    // A terminal that shows the log must not obey the page program.
    let text = String(decoding: line, as: UTF8.self).filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
    guard !text.isEmpty else { return }
    // Its own lines say how much they matter, as in `<4>text` (sd-daemon(3)); those of the engine's libraries do not.
    let level =
      text.hasPrefix("<") && text.dropFirst(2).hasPrefix(">") ? text.dropFirst().first?.wholeNumberValue.flatMap(Log.Level.init) : nil
    Log.write(level ?? .notice, "\(PageProgram.name): \(level == nil ? text : String(text.dropFirst(3)))")
  }
}
