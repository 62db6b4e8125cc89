import Base
import CLinux
import Camera
import Frames
import Glibc
import Net
import V4L2

/// Keeps one camera going: starts attempts, watches them, leaves behind what hangs, and tells how the camera stands. Used on one thread.
struct CameraKeeper {
  private let settings: CameraSettings
  private let devices: any VideoDeviceSource
  private let pictures: VideoFanOut
  private let watch: DeviceWatch
  private let statistics: Guarded<CameraStatistics>
  private let wake: WakeSignal
  /// Somebody says that devices may have come.
  private let arrival: Guarded<Bool>
  private let news = Guarded<[(attempt: Int, news: CaptureThread.News)]>([])

  private var recovery: CameraRecovery
  private let patience: CameraRecovery.Patience
  private var attempt: CaptureThread?
  private var black = BlackPictures()
  private var attemptNumber = 0
  /// Threads whose calls to a driver have not returned.
  private var stuck: [CaptureThread] = []
  /// Whether the camera of the attempt is to code itself, and whether it does so if it is opened that way.
  private var takesUnits = false
  private var offersH264 = false
  private var isCoded = false
  /// What a camera coded itself was of no use the last time: it is not to be tried this time.
  private var isDistrusted = false
  /// Since when nobody sends what a camera codes itself.
  private var unwantedSince: Instant?
  /// Where the last attempt failed.
  private var avoided: Set<String> = []

  init(
    settings: CameraSettings, devices: any VideoDeviceSource, pictures: VideoFanOut, watch: DeviceWatch,
    statistics: Guarded<CameraStatistics>, wake: WakeSignal, arrival: Guarded<Bool>, patience: CameraRecovery.Patience
  ) {
    (self.settings, self.devices, self.pictures, self.watch) = (settings, devices, pictures, watch)
    (self.statistics, self.wake, self.arrival, self.patience) = (statistics, wake, arrival, patience)
    recovery = CameraRecovery(now: MonotonicClock.now(), patience: patience)
  }

  /// Runs until `thread` is to stop, and leaves the camera closed.
  mutating func run(_ thread: WorkerThread) {
    let monitor = UeventMonitor(subsystem: "video4linux")
    let signal = linux_eventfd()
    wake.notify(descriptor: signal)
    defer {
      wake.notify(descriptor: -1)
      close(signal)
    }
    while !thread.isStopping {
      let now = MonotonicClock.now()
      takeNews(now)
      if let last = attempt?.lastPicture { recovery.pictured(at: last) }
      act(recovery.step(now: now), now)
      attempt?.needsChanged()
      let change = followUnits(now)
      publish()
      showBlack()
      wait(until: [recovery.deadline, black.due, change].compactMap(\.self).min() ?? recovery.deadline, signal, monitor)
      let isTold = arrival.with { arrival in
        defer { arrival = false }
        return arrival
      }
      if monitor.dispatch() || isTold { recovery.arrived(now: MonotonicClock.now()) }
    }
    end(signal)
  }

  private func wait(until deadline: Instant, _ signal: Int32, _ monitor: UeventMonitor?) {
    let nanoseconds = max(0, (deadline - MonotonicClock.now()).nanoseconds)
    var descriptors: InlineArray<2, pollfd> = [
      pollfd(fd: signal, events: Int16(POLLIN), revents: 0), pollfd(fd: monitor?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    var span = descriptors.mutableSpan
    _ = unsafe span.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress!, 2, Int32(clamping: (nanoseconds + 999_999) / 1_000_000)) }
    if descriptors[0].revents != 0 {
      var value: UInt64 = 0
      _ = unsafe read(signal, &value, 8)
    }
  }

  /// Covers what was seen last while there is nothing to be seen. A camera that is opened for the first time is waited for.
  private mutating func showBlack() {
    let state = watch.state
    let hadPictures = statistics.with { $0.figures.frames > 0 }
    let isMissing = state.reason != nil || (hadPictures && !state.isRunning)
    black.step(isMissing: isMissing && attempt?.lastPicture == nil, pictures: pictures, now: MonotonicClock.now())
  }

  /// Opens the camera anew when it is to code itself and does not, or the other way round; returns when to look again. It goes on coding itself for a while
  /// when nobody sends that any more: the next call may.
  private mutating func followUnits(_ now: Instant) -> Instant? {
    guard settings.ownH264 == .automatic, offersH264, attempt?.lastPicture != nil else { return nil }
    let isWanted = pictures.needs.units
    if isWanted || !takesUnits { unwantedSince = nil } else { unwantedSince = unwantedSince ?? now }
    if let since = unwantedSince, now - since < CameraKeeper.unitPatience { return since + CameraKeeper.unitPatience }
    guard isWanted != takesUnits else { return nil }
    (takesUnits, unwantedSince, offersH264) = (isWanted, nil, false)
    recovery.reopen(now: now)
    attempt?.requestStop()
    return nil
  }
  private static let unitPatience = Interval.seconds(10)

  private mutating func takeNews(_ now: Instant) {
    let arrived = news.with { list -> [(attempt: Int, news: CaptureThread.News)] in
      defer { list.removeAll() }
      return list
    }
    for item in arrived where item.attempt == attemptNumber {
      switch item.news {
      case .opened(let camera, let mode, let offersH264):
        (self.offersH264, isCoded) = (offersH264, mode.pixelFormat == .h264)
        let size = "\(mode.width)x\(mode.height)"
        Log.notice("camera \(camera.label) (\(camera.stableName)): \(mode.pixelFormat) \(size), \(mode.framesPerSecond)/s")
        let rate = mode.framesPerSecond > 0 ? mode.framesPerSecond : settings.framesPerSecond
        pictures.format = VideoFanOut.Format(width: mode.width, height: mode.height, framesPerSecond: rate)
        statistics.with { statistics in
          (statistics.name, statistics.identifier) = (camera.label, camera.stableName)
          (statistics.format, statistics.width, statistics.height) = ("\(mode.pixelFormat)", mode.width, mode.height)
          statistics.nominalRate = rate
        }
        recovery.opened(name: camera.label, framesPerSecond: mode.framesPerSecond, now: now)
      case .pictured: avoided = []
      case .ended(let failure):
        let path = attempt?.path
        attempt?.join()
        attempt = nil
        offersH264 = false
        pictures.endUnits()
        pictures.forgetNewest()
        if let failure {
          switch failure {
          case .broken: distrust()
          // What comes next may be another one.
          case .absent: isDistrusted = false
          case .busy: break
          }
          if let path { avoided = [path] }
          recovery.failed(explained(failure), now: now)
        } else {
          recovery.stopped(now: now)
        }
      }
    }
  }

  /// A camera that is left out because a call to it has not returned is not absent.
  private func explained(_ failure: CameraFailure) -> CameraFailure {
    guard case .absent = failure, let path = stuck.first(where: { !$0.isOver })?.path else { return failure }
    return .broken("\(path): the driver does not answer")
  }

  private mutating func act(_ step: CameraRecovery.Step?, _ now: Instant) {
    switch step {
    case nil: break
    case .open:
      stuck.removeAll { $0.isOver }
      attemptNumber += 1
      takesUnits = pictures.needs.units
      isCoded = false
      var settings = settings
      if isDistrusted { settings.ownH264 = .never }
      let (number, news, wake, pictures, statistics) = (attemptNumber, news, wake, pictures, statistics)
      let before = statistics.with { $0.figures }
      attempt = CaptureThread(
        devices: devices, settings: settings, takesUnits: takesUnits, excluding: Set(stuck.compactMap(\.path)), avoiding: avoided,
        pictures: pictures, count: { figures in statistics.with { $0.figures = before.followed(by: figures) } },
        report: { item in
          news.with { $0.append((number, item)) }
          wake.signal()
        })
    case .close:
      if let path = attempt?.path { avoided = [path] }
      distrust()
      pictures.endUnits()
      pictures.forgetNewest()
      attempt?.requestStop()
    case .abandon:
      if let attempt {
        attempt.abandon()
        stuck.append(attempt)
      }
      attempt = nil
      pictures.endUnits()
    }
  }

  /// A camera that breaks down while it codes itself is opened next as one that does not, and the other way round: it may have no other way.
  private mutating func distrust() { isDistrusted = isCoded }

  private func publish() {
    let state = recovery.state
    guard state != watch.state else { return }
    if let reason = state.reason { Log.warning("camera \(state.word): \(reason)") }
    watch.set(state)
  }

  /// Closes the camera, as far as its driver lets.
  private mutating func end(_ signal: Int32) {
    guard let attempt else { return }
    attempt.requestStop()
    let deadline = MonotonicClock.now() + patience.closing
    while !attempt.isOver, MonotonicClock.now() < deadline { wait(until: deadline, signal, nil) }
    if attempt.isOver { attempt.join() } else { attempt.abandon() }
    self.attempt = nil
  }
}

/// What a camera gives, for status reports.
public struct CameraStatistics: Sendable, Equatable {
  /// What its maker calls it; nil: none has been opened yet.
  public var name: String?
  /// The name that stays when devices are plugged in anew.
  public var identifier: String?
  /// How it gives pictures, such as `MJPG`; nil: none has been opened yet.
  public var format: String?
  /// In pixels.
  public var width = 0
  /// In pixels.
  public var height = 0
  /// Pictures a second that it was set to.
  public var nominalRate = 0.0
  /// What was counted and measured.
  public var figures = CameraFigures()

  /// Nothing yet.
  public init() {}
}
