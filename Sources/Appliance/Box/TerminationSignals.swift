import Glibc
import Synchronization

/// Waits for SIGTERM or SIGINT, which from its making on end nothing by themselves. One for a process.
struct TerminationSignals: Sendable {
  private let ended: AsyncStream<Void>
  /// Where a signal's handler writes.
  private static let writeEnd = Atomic<Int32>(-1)

  /// Begins to wait.
  ///
  /// The signals are handled and not blocked: the first thread of a Swift program takes every signal while it waits for the others, whatever
  /// was blocked before.
  init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "the system has no descriptor left to wait for signals")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    TerminationSignals.writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    for number in [SIGTERM, SIGINT] {
      signal(number) { _ in
        let before = errno
        var byte: UInt8 = 0
        _ = write(TerminationSignals.writeEnd.load(ordering: .relaxed), &byte, 1)
        errno = before
      }
    }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    ended = stream
    let start = Start(readEnd: ends[0], continuation)
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { @Sendable pointer in
        let start = Unmanaged<Start>.fromOpaque(pointer!).takeRetainedValue()
        var byte: UInt8 = 0
        while read(start.readEnd, &byte, 1) < 0, errno == EINTR {}
        start.continuation.yield()
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    precondition(result == 0, "the system has no thread left to wait for signals")
    pthread_detach(thread)
  }

  private final class Start: Sendable {
    let readEnd: Int32
    let continuation: AsyncStream<Void>.Continuation
    init(readEnd: Int32, _ continuation: AsyncStream<Void>.Continuation) { (self.readEnd, self.continuation) = (readEnd, continuation) }
  }

  /// Returns when the process is to end.
  func wait() async {
    for await _ in ended { return }
  }
}
