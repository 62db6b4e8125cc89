import Base
import Camera
import Frames
import Net

/// Takes pictures from a source at its own pace and puts each into the mailboxes of all who want it.
public final class CameraThread: Sendable {
  /// Width of its pictures in pixels.
  public let width: Int
  /// Height of its pictures in pixels.
  public let height: Int
  /// How many pictures it takes a second.
  public let framesPerSecond: Double
  private let thread: WorkerThread
  private let wake: WakeSignal
  /// Its pictures.
  public let pictures: VideoFanOut
  private let useObserver: Guarded<@Sendable () -> Void>
  private let mailboxes = Guarded<[(mailbox: Mailbox<VideoFrame>, sink: Int)]>([])

  /// Starts taking pictures.
  public init(source: any VideoSource) {
    let (wake, handover) = (WakeSignal(), Handover(source))
    (width, height, framesPerSecond) = (source.width, source.height, source.framesPerSecond)
    let useObserver = Guarded<@Sendable () -> Void>({})
    let pictures = VideoFanOut(
      format: VideoFanOut.Format(width: source.width, height: source.height, framesPerSecond: source.framesPerSecond)
    ) { _ in useObserver.with { $0 }() }
    (self.wake, self.pictures, self.useObserver) = (wake, pictures, useObserver)
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
        } catch {
          Log.error("the camera gives no picture: \(error)")
        }
        index += 1
      }
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

  /// Ends the thread.
  public func stop() { thread.stop(waking: wake) }
}
