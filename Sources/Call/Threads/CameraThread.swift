import Base
import Camera
import Frames
import Net
import V4L2

/// Takes pictures from a source or a device and puts each into the mailboxes of all who want it.
///
/// A device is found, opened, lost and found again without anybody's help; `watch` tells how it stands.
public final class CameraThread: Sendable {
  /// Width of its pictures in pixels, as the device was opened last, or as it is wanted.
  public var width: Int { pictures.format.width }
  /// Height of its pictures in pixels.
  public var height: Int { pictures.format.height }
  /// How many pictures it takes a second.
  public var framesPerSecond: Double { pictures.format.framesPerSecond }
  private let thread: WorkerThread
  private let wake: WakeSignal
  /// Its pictures.
  public let pictures: VideoFanOut
  /// How the device stands. A source without a device always runs.
  public let watch: DeviceWatch
  private let figures: Guarded<CameraStatistics>
  private let useObserver: Guarded<@Sendable () -> Void>
  private let arrival = Guarded(false)
  private let mailboxes = Guarded<[(mailbox: Mailbox<VideoFrame>, sink: Int)]>([])

  /// What the camera has given so far.
  public var statistics: CameraStatistics { figures.with { $0 } }

  /// Starts taking pictures of a source at its own pace.
  public init(source: any VideoSource) {
    let (wake, handover) = (WakeSignal(), Handover(source))
    let useObserver = Guarded<@Sendable () -> Void>({})
    let pictures = VideoFanOut(
      format: VideoFanOut.Format(width: source.width, height: source.height, framesPerSecond: source.framesPerSecond),
      onDemand: { _ in useObserver.with { $0 }() })
    (self.wake, self.pictures, self.useObserver) = (wake, pictures, useObserver)
    watch = DeviceWatch(.running(name: "\(type(of: source))"))
    var statistics = CameraStatistics()
    (statistics.format, statistics.width, statistics.height) = ("I420", source.width, source.height)
    statistics.nominalRate = source.framesPerSecond
    let figures = Guarded(statistics)
    self.figures = figures
    thread = WorkerThread(name: "parlor-camera") { thread in
      let source = handover.object
      let period = Interval.seconds(1 / source.framesPerSecond)
      let start = MonotonicClock.now()
      var index = 0
      while !thread.isStopping {
        let due = start + period * Int64(index)
        let now = MonotonicClock.now()
        if now < due {
          wake.wait(until: due)
          continue
        }
        // Behind by more than a picture: the newest one is taken, not each missed one.
        let behind = Int((now - due).nanoseconds / period.nanoseconds)
        index += behind
        do {
          pictures.put(try source.frame(at: index, captureTime: now))
          figures.with { $0.figures.count(frameAt: now.nanoseconds) }
        } catch {
          Log.error("the camera gives no picture: \(error)")
        }
        index += 1
      }
    }
  }

  /// Starts looking for the camera that the settings mean, and takes its pictures whenever it is there.
  public convenience init(settings: CameraSettings) { self.init(settings: settings, devices: KernelVideoDevices()) }

  /// `devices` stands in for the kernel's, and `patience` for what real drivers need.
  package init(
    settings: CameraSettings, devices: any VideoDeviceSource, patience: CameraRecovery.Patience = CameraRecovery.Patience()
  ) {
    let (wake, watch, figures) = (WakeSignal(), DeviceWatch(), Guarded(CameraStatistics()))
    let useObserver = Guarded<@Sendable () -> Void>({})
    let pictures = VideoFanOut(
      format: VideoFanOut.Format(width: settings.width, height: settings.height, framesPerSecond: settings.framesPerSecond),
      onDemand: { _ in useObserver.with { $0 }() }, onNeeds: { wake.signal() })
    (self.wake, self.watch, self.figures, self.pictures, self.useObserver) = (wake, watch, figures, pictures, useObserver)
    thread = WorkerThread(name: "parlor-camera") { [arrival] thread in
      var keeper = CameraKeeper(
        settings: settings, devices: devices, pictures: pictures, watch: watch, statistics: figures, wake: wake, arrival: arrival,
        patience: patience)
      keeper.run(thread)
    }
  }

  /// Whether anybody but the box's own screen takes its pictures.
  public var isInUse: Bool { pictures.isWanted }

  /// Has `observer` called whenever `isInUse` may have changed, from any thread.
  public func observeUse(_ observer: @escaping @Sendable () -> Void) { useObserver.with { $0 = observer } }

  /// Puts each picture into `mailbox` and then calls `signal`, on the camera's thread. This is for the box's own screen: it is no use of the camera.
  public func add(_ mailbox: Mailbox<VideoFrame>, signal: @escaping @Sendable () -> Void) {
    let sink = pictures.add(isOnlooker: true) { frame in
      mailbox.put(frame)
      signal()
    }
    mailboxes.with { $0.append((mailbox, sink)) }
  }

  /// Ends what `add` began.
  public func remove(_ mailbox: Mailbox<VideoFrame>) {
    let sinks = mailboxes.with { list in
      defer { list.removeAll { $0.mailbox === mailbox } }
      return list.filter { $0.mailbox === mailbox }.map(\.sink)
    }
    for sink in sinks { pictures.remove(sink) }
  }

  /// Has a device that is not running tried again at once: it may have come. News from the kernel does the same.
  public func lookAgain() {
    arrival.with { $0 = true }
    wake.signal()
  }

  /// Ends the thread.
  public func stop() { thread.stop(waking: wake) }
}
