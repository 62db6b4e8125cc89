import Base
import Codecs
import Frames
import Net
import Synchronization

/// Decodes frames in order and puts each picture into a mailbox, where the newest wins.
///
/// Every frame has to be decoded, so in front of the decoder stands a short queue; when the decoder falls behind it is emptied and a key
/// frame asked for, which keeps the delay bounded.
final class DecoderThread: Sendable {
  /// What the thread tells its owner, on its own thread.
  enum Outcome: Sendable {
    case decoded(VideoFrame, decodeTime: Interval, isKeyFrame: Bool)
    case failed(CodecError)
    case fellBehind(dropped: Int)
  }

  private let queue = Guarded<[EncodedVideoFrame]>([])
  private let wake = WakeSignal()
  private let thread: Guarded<WorkerThread?> = Guarded(nil)
  let implementationName: String
  private let permit: CodecThreadPermit

  /// Frames that may wait: a third of a second at 30 frames per second.
  private static let limit = 10

  init(codec: VideoCodec, output: @escaping @Sendable (Outcome) -> Void) throws(CodecError) {
    permit = try CodecThreadPermit()
    let box = Handover(try CodecFactory.videoDecoder(codec))
    implementationName = box.object.implementationName
    self.output = output
    thread.with {
      $0 = WorkerThread(name: "parlor-decode") { [unowned self] thread in
        while !thread.isStopping {
          guard let frame = queue.with({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            wake.wait()
            continue
          }
          let start = MonotonicClock.now()
          do throws(CodecError) {
            guard var picture = try box.object.decode(frame) else { continue }
            let end = MonotonicClock.now()
            picture.ledger[.decode] = end
            output(.decoded(picture, decodeTime: end - start, isKeyFrame: frame.isKeyFrame))
          } catch {
            output(.failed(error))
          }
        }
      }
    }
  }

  private let output: @Sendable (Outcome) -> Void

  /// Queues a frame, from the network thread.
  func decode(_ frame: EncodedVideoFrame) {
    let dropped = queue.with { queue -> Int in
      var dropped = 0
      if queue.count >= DecoderThread.limit, !frame.isKeyFrame {
        dropped = queue.count + 1
        queue = []
      } else {
        if frame.isKeyFrame, queue.count >= DecoderThread.limit {
          dropped = queue.count
          queue = []
        }
        queue.append(frame)
      }
      return dropped
    }
    if dropped > 0 { output(.fellBehind(dropped: dropped)) }
    wake.signal()
  }

  func stop() { thread.with { $0 }?.stop(waking: wake) }
}
