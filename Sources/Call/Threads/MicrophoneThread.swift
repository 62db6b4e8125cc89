import Base
import Frames
import Net
import Sound
import Synchronization

/// Takes 10 ms blocks from a source at its pace and hands them to all who want them.
///
/// Its thread is a real-time one, which neither allocates nor locks nor waits for anything but the next block; encoders and all others get their blocks
/// from the thread behind it.
public final class MicrophoneThread: Sendable {
  /// Its sound.
  public let sound: AudioFanOut
  /// When the first block begins.
  let start = MonotonicClock.now()
  private let isMuted = Atomic(false)
  private let delivery: BlockDelivery
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// Starts listening to `source`.
  public init(source: any AudioSource) {
    let handover = Handover(source)
    let sound = AudioFanOut()
    self.sound = sound
    delivery = BlockDelivery(name: "parlor-sound-in") { _, block in sound.put(block) }
    thread.with {
      $0 = WorkerThread(name: "parlor-mic", realtimePriority: 10) { [unowned self] thread in
        let source = handover.object
        var index = 0
        while !thread.isStopping {
          let captured = start + .milliseconds(10) * Int64(index)
          MonotonicClock.sleep(until: captured + .milliseconds(10))
          let block = source.block(at: index, captureTime: captured)
          delivery.put { slot in
            unsafe (slot.pointee.time, slot.pointee.channelCount) = (captured.nanoseconds, block.channelCount)
            let samples = unsafe AudioSlot.samples(of: slot)
            let isMuted = isMuted.load(ordering: .relaxed)
            for index in block.samples.indices { unsafe samples[index] = isMuted ? 0 : block.samples[index] }
          }
          index += 1
        }
      }
    }
  }

  /// Sends silence in place of what the source gives.
  public func setMuted(_ value: Bool) { isMuted.store(value, ordering: .relaxed) }

  /// Ends the threads.
  public func stop() {
    thread.with { $0 }?.stop()
    delivery.stop()
  }
}
