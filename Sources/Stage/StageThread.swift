import Base
import CLinux
import Glibc
import Synchronization

/// The thread that owns the screen: shows each new frame as soon as it is there, at most once per refresh period.
public final class StageThread: Sendable {
  private let loop: StageLoop
  private let thread = Mutex<pthread_t?>(nil)

  /// The stage that the thread drives.
  public var stage: Stage { loop.stage }

  /// A thread for `stage`, not running yet. `onFlip` is called on it after each change of the picture, and must be brief.
  ///
  /// With a `server`, what its clients draw is shown. With a `display` the picture is shown on monitors; without one the stage is headless.
  /// With `devices`, people work what is on the screen; remote hands do it through `send`. All of them belong to the thread from now on.
  /// A `terminal` is owned while the thread runs, and the monitors are let go of while another one is on the screen.
  /// `onDisplay` is told what becomes of the monitors, `onInput` what people do that concerns the box; they must be brief as well.
  public init(
    stage: Stage, server: WaylandServer? = nil, display: DisplaySettings? = nil, devices: InputDevices? = nil,
    terminal: OwnedTerminal? = nil,
    onFlip: @escaping @Sendable (Flip) -> Void = { _ in }, onDisplay: @escaping @Sendable (DisplayStatus) -> Void = { _ in },
    onInput: @escaping @Sendable (InputNews) -> Void = { _ in }
  ) {
    let input = InputDesk(stage: stage, server: server, devices: devices, onInput: onInput)
    loop = StageLoop(
      stage: stage, server: server, display: display.map { settings in KMSDisplay(settings) }, input: input, terminal: terminal,
      onDisplay: onDisplay, onFlip: onFlip)
  }

  /// A thread whose monitors are those of another card than the machine's: for tests.
  init(stage: Stage, server: WaylandServer? = nil, monitors: KMSDisplay, onFlip: @escaping @Sendable (Flip) -> Void = { _ in }) {
    let input = InputDesk(stage: stage, server: server, devices: nil, onInput: { _ in })
    loop = StageLoop(stage: stage, server: server, display: monitors, input: input, terminal: nil, onDisplay: { _ in }, onFlip: onFlip)
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
        unsafe Unmanaged<StageLoop>.fromOpaque(argument!).takeRetainedValue().run()
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

  /// Does what a person in front of the screen would do: answers a panel, or works a client. From any thread.
  public func send(_ input: StageInput) { loop.command(.input(input)) }

  /// Asks the client of a window to close it. From any thread.
  public func close(toplevel identifier: UInt64) { loop.command(.close(identifier)) }

  /// Calls `body` on the thread, which shows that it goes on. From any thread.
  public func answer(_ body: @escaping @Sendable () -> Void) { loop.command(.answer(body)) }

  /// The time on `CLOCK_MONOTONIC`, which every ledger is kept in.
  static func now() -> Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
