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
  private let outlets: Outlets

  /// Who gets the pictures: a mailbox with the signal to set after a picture was put in.
  final class Outlets: Sendable {
    private struct State {
      var list: [(mailbox: Mailbox<VideoFrame>, signal: @Sendable () -> Void)] = []
      var newest: VideoFrame?
    }

    private let state = Guarded(State())

    /// The newest picture goes to a new outlet at once, so that it need not wait for the next one.
    func add(_ mailbox: Mailbox<VideoFrame>, signal: @escaping @Sendable () -> Void) {
      let newest = state.with { state in
        state.list.append((mailbox, signal))
        return state.newest
      }
      guard let newest else { return }
      mailbox.put(newest)
      signal()
    }

    func remove(_ mailbox: Mailbox<VideoFrame>) { state.with { $0.list.removeAll { $0.mailbox === mailbox } } }

    func put(_ frame: VideoFrame) {
      let list = state.with { state in
        state.newest = frame
        return state.list
      }
      for outlet in list {
        outlet.mailbox.put(frame)
        outlet.signal()
      }
    }
  }

  /// Starts taking pictures.
  public init(source: any VideoSource) {
    let (wake, outlets, handover) = (WakeSignal(), Outlets(), Handover(source))
    (self.wake, self.outlets) = (wake, outlets)
    (width, height, framesPerSecond) = (source.width, source.height, source.framesPerSecond)
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
          outlets.put(try source.frame(at: index, captureTime: now))
        } catch {
          Log.error("the camera gives no picture: \(error)")
        }
        index += 1
      }
    }
  }

  /// Puts each picture into `mailbox` and then calls `signal`, on the camera's thread.
  public func add(_ mailbox: Mailbox<VideoFrame>, signal: @escaping @Sendable () -> Void) { outlets.add(mailbox, signal: signal) }
  /// Ends what `add` began.
  public func remove(_ mailbox: Mailbox<VideoFrame>) { outlets.remove(mailbox) }
  /// Ends the thread.
  public func stop() { thread.stop(waking: wake) }
}
