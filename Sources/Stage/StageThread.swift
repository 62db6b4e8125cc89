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
  ///
  /// With a `server`, what its clients draw is shown, and their input goes through `send`. The server belongs to the thread from now on.
  public init(stage: Stage, server: WaylandServer? = nil, onFlip: @escaping @Sendable (Flip) -> Void = { _ in }) {
    loop = Loop(stage: stage, server: server, onFlip: onFlip)
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

  /// Does what a person in front of the screen would do. From any thread; without a server nothing comes of it.
  public func send(_ input: StageInput) { loop.command(.input(input)) }

  /// Asks the client of a window to close it. From any thread.
  public func close(toplevel identifier: UInt64) { loop.command(.close(identifier)) }

  /// The time on `CLOCK_MONOTONIC`, which every ledger is kept in.
  static func now() -> Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// What other threads ask of the server.
  private enum Command {
    case input(StageInput)
    case close(UInt64)
  }

  private final class Loop: Sendable {
    let stage: Stage
    let isStopping = Atomic(false)
    let onFlip: @Sendable (Flip) -> Void
    private let server: WaylandServer?
    private let waiting: DescriptorWait?
    private let commands = Mutex<[Command]>([])

    init(stage: Stage, server: WaylandServer?, onFlip: @escaping @Sendable (Flip) -> Void) {
      (self.stage, self.server, self.onFlip) = (stage, server, onFlip)
      waiting = server.map { DescriptorWait($0.descriptors) }
    }

    func command(_ command: Command) {
      guard server != nil else { return }
      commands.withLock { $0.append(command) }
      stage.wake.signal()
    }

    func run() {
      if let waiting { stage.wake.notify(descriptor: waiting.signal) }
      defer { stage.wake.notify(descriptor: -1) }
      let period = stage.refreshPeriod
      let start = StageThread.now()
      var earliest = start
      while !isStopping.load(ordering: .acquiring) {
        let isBusy = serve()
        let now = StageThread.now()
        if now < earliest {
          if !isBusy { sleep(until: earliest) }
          continue
        }
        if let layers = server?.takeLayers() { stage.update(layers: layers) }
        let flip = stage.present(now: now, flipTime: StageThread.now)
        if let server, flip != nil || server.isRefreshWanted {
          let time = flip?.time ?? now
          server.presented(at: time, refresh: period, sequence: Int((time - start).nanoseconds / max(1, period.nanoseconds)))
          earliest = now + period
        }
        if let flip {
          earliest = now + period
          onFlip(flip)
        } else if !isBusy, earliest <= now {
          // Mailboxes may be filled without a call: look once a period.
          sleep(until: now + period)
        }
      }
    }

    /// Does what clients and other threads want. Returns whether clients want more.
    private func serve() -> Bool {
      guard let server else { return false }
      let new = commands.withLock { commands in
        defer { commands.removeAll() }
        return commands
      }
      for command in new {
        switch command {
        case .input(let input): server.send(input)
        case .close(let identifier): server.close(toplevel: identifier)
        }
      }
      return server.process()
    }

    private func sleep(until deadline: Instant) {
      if let waiting { waiting.wait(until: deadline) } else { stage.wake.wait(until: deadline) }
    }
  }
}
