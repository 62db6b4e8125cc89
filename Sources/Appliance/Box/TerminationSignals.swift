import Glibc

/// Waits for SIGTERM or SIGINT, which from its making on end nothing by themselves.
struct TerminationSignals: Sendable {
  private let ended: AsyncStream<Void>

  /// Blocks the signals for this thread and all made after it.
  init() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTERM)
    sigaddset(&set, SIGINT)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    ended = stream
    let start = Start(continuation)
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { @Sendable pointer in
        let start = Unmanaged<Start>.fromOpaque(pointer!).takeRetainedValue()
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        var signal: Int32 = 0
        sigwait(&set, &signal)
        start.continuation.yield()
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    precondition(result == 0, "the system has no thread left to wait for signals")
    pthread_detach(thread)
  }

  private final class Start: Sendable {
    let continuation: AsyncStream<Void>.Continuation
    init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }
  }

  /// Returns when the process is to end.
  func wait() async {
    for await _ in ended { return }
  }
}
