import Base
import CLinux
import Glibc
import Synchronization

/// The thread that owns the screen: shows each new frame as soon as it is there, at most once per refresh period.
public final class StageThread: Sendable {
  private let loop: Loop
  private let thread = Mutex<pthread_t?>(nil)

  /// The stage that the thread drives.
  public var stage: Stage { loop.stage }

  /// A thread for `stage`, not running yet. `onFlip` is called on it after each change of the picture, and must be brief.
  public init(stage: Stage, onFlip: @escaping @Sendable (Flip) -> Void = { _ in }) {
    loop = Loop(stage: stage, onFlip: onFlip)
  }

  deinit { stop() }

  /// Starts the thread. Once only.
  public func start() {
    var started = pthread_t()
    let argument = unsafe Unmanaged.passRetained(loop).toOpaque()
    let status = unsafe pthread_create(
      &started, nil,
      { @Sendable argument in
        linux_set_thread_name("stage")
        unsafe Unmanaged<Loop>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, argument)
    precondition(status == 0, "the machine has no room for one more thread")
    thread.withLock { thread in
      precondition(thread == nil, "a stage thread starts once")
      thread = started
    }
  }

  /// Stops the thread and waits until it has ended. Harmless when it does not run.
  public func stop() {
    loop.isStopping.store(true, ordering: .releasing)
    stage.wake.signal()
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    if let running { pthread_join(running, nil) }
  }

  /// The time on `CLOCK_MONOTONIC`, which every ledger is kept in.
  static func now() -> Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  private final class Loop: Sendable {
    let stage: Stage
    let isStopping = Atomic(false)
    let onFlip: @Sendable (Flip) -> Void

    init(stage: Stage, onFlip: @escaping @Sendable (Flip) -> Void) { (self.stage, self.onFlip) = (stage, onFlip) }

    func run() {
      let period = stage.refreshPeriod
      var earliest = StageThread.now()
      while !isStopping.load(ordering: .acquiring) {
        let now = StageThread.now()
        if now < earliest {
          stage.wake.wait(until: earliest)
        } else if let flip = stage.present(now: now, flipTime: StageThread.now) {
          earliest = now + period
          onFlip(flip)
        } else {
          // Mailboxes may be filled without a call: look once a period.
          stage.wake.wait(until: now + period)
        }
      }
    }
  }
}
