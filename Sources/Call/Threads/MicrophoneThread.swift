import Base
import Frames
import Net
import Sound

/// Takes 10 ms blocks from a source at its pace and hands them to all who want them.
public final class MicrophoneThread: Sendable {
  /// Its sound.
  public let sound = AudioFanOut()
  /// When the first block begins.
  let start = MonotonicClock.now()
  private let wake = WakeSignal()
  private let muted = Guarded(false)
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// Starts listening to `source`.
  public init(source: any AudioSource) {
    let handover = Handover(source)
    thread.with {
      $0 = WorkerThread(name: "parlor-mic", realtimePriority: 10) { [unowned self] thread in
        let source = handover.object
        var index = 0
        while !thread.isStopping {
          let due = start + .milliseconds(10) * Int64(index + 1)
          let now = MonotonicClock.now()
          if now < due {
            wake.wait(until: due)
            continue
          }
          var block = source.block(at: index, captureTime: due - .milliseconds(10))
          if muted.with({ $0 }) { block = .silence(channelCount: block.channelCount) }
          block.captureTime = due - .milliseconds(10)
          sound.put(block)
          index += 1
        }
      }
    }
  }

  /// Sends silence in place of what the source gives.
  public func setMuted(_ value: Bool) { muted.with { $0 = value } }

  /// Ends the thread.
  public func stop() { thread.with { $0 }?.stop(waking: wake) }
}
