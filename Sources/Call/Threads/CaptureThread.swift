import Base
import CLinux
import Camera
import Codecs
import Frames
import Glibc
import Net
import Synchronization
import V4L2

/// One attempt with a camera: finds it, opens it, and hands its pictures on until told to stop or until it breaks down.
///
/// All calls to the driver are made on its thread alone, since any of them may never return: whoever started it can leave it behind.
final class CaptureThread: Sendable {
  /// What becomes of the attempt. The last news is `ended`.
  enum News: Sendable {
    /// `offersH264`: the camera can code itself as it is wanted, whether it does now or not.
    case opened(CameraDescription, mode: CaptureMode, offersH264: Bool)
    /// The first picture has come.
    case pictured
    /// Why; nil: it was told to.
    case ended(CameraFailure?)
  }

  /// Notes which node is being opened or is open.
  private struct NotedDevices: VideoDeviceSource {
    let devices: any VideoDeviceSource
    let note: @Sendable (String) -> Void

    func nodes() -> [VideoNode] { devices.nodes() }
    func open(_ path: String) throws(V4L2Error) -> any VideoDevice {
      note(path)
      return try devices.open(path)
    }
  }

  private let currentPath: Guarded<String?>
  private let lastPictureTime: LastTime
  private let wakeDescriptor: WakeDescriptor
  private let hasEnded: LastTime
  private let thread: WorkerThread

  /// A time that one thread writes and another reads.
  private final class LastTime: Sendable {
    private let nanoseconds = Atomic<Int64>(.min)
    func set(_ time: Instant) { nanoseconds.store(time.nanoseconds, ordering: .releasing) }
    var time: Instant? {
      let value = nanoseconds.load(ordering: .acquiring)
      return value == .min ? nil : Instant(nanoseconds: value)
    }
  }

  /// An eventfd that lives as long as anybody may write to it.
  private final class WakeDescriptor: Sendable {
    let descriptor = linux_eventfd()
    func signal() {
      var one: UInt64 = 1
      _ = unsafe write(descriptor, &one, 8)
    }
    deinit { close(descriptor) }
  }

  /// Starts the attempt. It gives to `pictures` what they need; with `takesUnits` the camera is to code itself if it can. `count` gets what has been
  /// counted so far, `report` the news, both on this thread.
  init(
    devices: any VideoDeviceSource, settings: CameraSettings, takesUnits: Bool, excluding excluded: Set<String>,
    avoiding avoided: Set<String>, pictures: VideoFanOut, count: @escaping @Sendable (CameraFigures) -> Void,
    report: @escaping @Sendable (News) -> Void
  ) {
    let (currentPath, lastPictureTime, hasEnded, wake) = (Guarded<String?>(nil), LastTime(), LastTime(), WakeDescriptor())
    (self.currentPath, self.lastPictureTime, self.hasEnded, wakeDescriptor) = (currentPath, lastPictureTime, hasEnded, wake)
    let directory = CameraDirectory(devices: NotedDevices(devices: devices) { path in currentPath.with { $0 = path } })
    thread = WorkerThread(name: "parlor-capture") { thread in
      var failure: CameraFailure?
      do throws(CameraFailure) {
        let (camera, session) = try directory.open(
          settings, takesUnits: takesUnits, excluding: excluded, avoiding: avoided, wake: { wake.signal() })
        defer { session.close() }
        if !session.refusals.isEmpty { Log.warning("the camera did not take a setting: \(session.refusals.joined(separator: "; "))") }
        if !thread.isStopping { report(.opened(camera, mode: session.mode, offersH264: session.offersH264)) }
        try CaptureThread.run(thread, session, pictures, wake: wake.descriptor) { isPicture in
          count(session.figures)
          guard isPicture else { return }
          let isFirst = lastPictureTime.time == nil
          lastPictureTime.set(MonotonicClock.now())
          if isFirst { report(.pictured) }
        }
      } catch {
        failure = error
      }
      hasEnded.set(MonotonicClock.now())
      report(.ended(failure))
    }
  }

  private static func run(
    _ thread: WorkerThread, _ session: CaptureSession, _ pictures: VideoFanOut, wake: Int32, _ count: (_ isPicture: Bool) -> Void
  ) throws(CameraFailure) {
    var descriptors: InlineArray<2, pollfd> = [
      pollfd(fd: session.descriptor, events: Int16(POLLIN | POLLPRI), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    var discarded = 0
    var errorCount = 0
    var lastCheck = MonotonicClock.now()
    var lastLook = lastCheck
    while !thread.isStopping {
      var span = descriptors.mutableSpan
      let wait = { (buffer: UnsafeMutableBufferPointer<pollfd>) -> Bool in
        guard unsafe poll(buffer.baseAddress!, 2, 0) == 0 else { return false }
        unsafe poll(buffer.baseAddress!, 2, 1_000)
        return true
      }
      // A picture that was there already may have been since the last look.
      let hasWaited = unsafe span.withUnsafeMutableBufferPointer(wait)
      let look = MonotonicClock.now()
      let ready = hasWaited ? look : lastLook
      lastLook = look
      if thread.isStopping { return }
      if descriptors[1].revents != 0 {
        var value: UInt64 = 0
        _ = unsafe read(wake, &value, 8)
      }
      let events = Int32(descriptors[0].revents)
      if events & POLLPRI != 0 { try session.takeEvents() }
      if try take(thread, session, pictures, ready: ready, count) {
        errorCount = 0
      } else if session.figures.discardCount != discarded {
        discarded = session.figures.discardCount
        count(false)
      } else if events & (POLLERR | POLLHUP | POLLNVAL) != 0 {
        errorCount += 1
        guard errorCount < 3 else { throw .broken("the driver reports an error and gives no picture") }
        usleep(5_000)
      }
      // Some drivers give pictures of noise without a signal, and tell nobody.
      let now = MonotonicClock.now()
      if now - lastCheck >= .seconds(1) {
        lastCheck = now
        try session.checkSignal()
      }
    }
  }

  /// Hands on what has come since the last call; returns whether there was anything.
  private static func take(
    _ thread: WorkerThread, _ session: CaptureSession, _ pictures: VideoFanOut, ready: Instant, _ count: (_ isPicture: Bool) -> Void
  ) throws(CameraFailure) -> Bool {
    guard session.isCoded else {
      // A call that came back late brings nothing that anybody waits for.
      guard let frame = try session.takePicture(now: MonotonicClock.now, ready: ready), !thread.isStopping else { return false }
      count(true)
      pictures.put(frame)
      return true
    }
    let needs = pictures.needs
    if let bitrate = needs.bitrate { session.setBitrate(bitrate) }
    if pictures.takeKeyFrameRequest() { session.requestKeyFrame() }
    var hasUnit = false
    let frame = try session.takeUnits(
      now: MonotonicClock.now, ready: ready, wantsPicture: needs.pictures,
      unit: { unit in
        guard !thread.isStopping else { return }
        hasUnit = true
        count(true)
        pictures.put(unit)
      })
    if let frame, !thread.isStopping { pictures.put(frame) }
    return hasUnit
  }

  /// When the newest picture came; nil: none did.
  var lastPicture: Instant? { lastPictureTime.time }
  /// Whether the thread makes no more calls.
  var isOver: Bool { hasEnded.time != nil }
  /// The node that it opened last.
  var path: String? { currentPath.with { $0 } }

  /// What is needed of the camera has changed.
  func needsChanged() { wakeDescriptor.signal() }

  /// Asks the thread to end; news follows when it has.
  func requestStop() {
    thread.askToStop()
    wakeDescriptor.signal()
  }

  /// Waits for a thread that has reported its end.
  func join() { thread.stop() }
  /// Leaves a thread behind that does not come back.
  func abandon() { thread.abandon() }
}
