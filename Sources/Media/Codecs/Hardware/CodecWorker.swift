import Base
import CLinux
import Frames
import Glibc
import Synchronization

/// A thread that does one thing at a time for a caller who does not wait for it for ever, as a driver may never answer.
final class CodecWorker<Request: Sendable, Answer: Sendable>: Sendable {
  private enum Slot {
    case idle
    case request(Request)
    case working
    case answer(Answer)
    /// The caller has gone.
    case abandoned
    /// The thread has let go of what it worked with.
    case ended
  }

  private final class Exchange: Sendable {
    let slot = Mutex(Slot.idle)
    let toWorker = WakeSignal()
    let toCaller = WakeSignal()
  }

  private let exchange = Exchange()

  /// Starts the thread. `start` runs on it and makes what answers requests, which lives and dies there.
  init(name: String, start: @escaping @Sendable () -> (Request) -> Answer) {
    let exchange = exchange
    startDetachedThread(name) {
      CodecWorker.serve(exchange, start)
      exchange.slot.withLock { $0 = .ended }
      exchange.toCaller.signal()
    }
  }

  private static func serve(_ exchange: Exchange, _ start: @Sendable () -> (Request) -> Answer) {
    let work = start()
    while true {
      let next: Request? = exchange.slot.withLock { slot in
        guard case .request(let request) = slot else { return nil }
        slot = .working
        return request
      }
      guard let next else {
        if exchange.slot.withLock({ if case .abandoned = $0 { true } else { false } }) { return }
        exchange.toWorker.wait()
        continue
      }
      let answer = work(next)
      let isWanted = exchange.slot.withLock { slot in
        guard case .working = slot else { return false }
        slot = .answer(answer)
        return true
      }
      guard isWanted else { return }
      exchange.toCaller.signal()
    }
  }

  /// Has the thread do something, and waits at most `limit` for it; nil when it takes longer: the worker is of no use any more.
  func perform(_ request: Request, within limit: Interval) -> Answer? {
    let isIdle = exchange.slot.withLock { slot in
      guard case .idle = slot else { return false }
      slot = .request(request)
      return true
    }
    guard isIdle else { return nil }
    exchange.toWorker.signal()
    let deadline = monotonicNow() + limit
    while true {
      let answer: Answer? = exchange.slot.withLock { slot in
        guard case .answer(let answer) = slot else { return nil }
        slot = .idle
        return answer
      }
      if let answer { return answer }
      guard monotonicNow() < deadline else {
        exchange.slot.withLock { $0 = .abandoned }
        return nil
      }
      exchange.toCaller.wait(until: deadline)
    }
  }

  /// Ends the thread, and waits a moment until the device is free for others; a device that hangs is left to itself.
  deinit {
    let mayEnd = exchange.slot.withLock { slot in
      guard case .idle = slot else { return false }
      slot = .abandoned
      return true
    }
    exchange.toWorker.signal()
    guard mayEnd else { return }
    let deadline = monotonicNow() + .milliseconds(300)
    while monotonicNow() < deadline {
      if exchange.slot.withLock({ if case .ended = $0 { true } else { false } }) { return }
      exchange.toCaller.wait(until: deadline)
    }
  }
}

/// The time on `CLOCK_MONOTONIC`.
func monotonicNow() -> Instant {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
}

private final class ThreadStart: Sendable {
  let name: String
  let body: @Sendable () -> Void
  init(_ name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
}

/// Runs `body` on a thread of its own, for which nobody waits: it may be stuck in a driver for ever.
func startDetachedThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
  var thread = pthread_t()
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  let result = pthread_create(
    &thread, &attributes,
    { @Sendable pointer in
      let start = Unmanaged<ThreadStart>.fromOpaque(pointer!).takeRetainedValue()
      linux_set_thread_name(start.name)
      start.body()
      return nil
    }, Unmanaged.passRetained(ThreadStart(name, body)).toOpaque())
  precondition(result == 0, "the system has no thread left for \(name)")
  pthread_attr_destroy(&attributes)
}
