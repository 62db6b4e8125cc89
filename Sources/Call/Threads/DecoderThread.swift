import Base
import Codecs
import Frames
import Net
import Synchronization

/// Decodes frames in order and hands each picture on when it is wanted; there the newest wins.
///
/// Every frame has to be decoded, so in front of the decoder stands a short queue; when the decoder falls behind it is emptied and a key
/// frame asked for, which keeps the delay bounded. Frames that are wanted later wait there too, since coded ones take little memory.
final class DecoderThread: Sendable {
  /// A frame, and when its picture is wanted.
  struct Job: Sendable {
    var frame: EncodedVideoFrame
    /// When the first packet of the frame came.
    var firstArrival: Instant
    /// When its picture is to be handed on; nil: at once.
    var due: Instant?
  }

  /// What the thread tells its owner, on its own thread.
  enum Outcome: Sendable {
    /// A picture whose time has come.
    case decoded(VideoFrame, Job, decodeTime: Interval)
    case failed(CodecError)
    case fellBehind(dropped: Int)
  }

  private let queue = Guarded<[Job]>([])
  private let wake = WakeSignal()
  private let thread: Guarded<WorkerThread?> = Guarded(nil)
  /// What decoding took lately at most, in nanoseconds.
  private let longest = Atomic(Int64(0))
  private let coder: Guarded<CodecImplementation>
  private let permit: CodecThreadPermit

  /// Frames that may wait for the decoder: a third of a second at 30 frames per second.
  private static let limit = 10
  /// Frames that may wait in all: four seconds at 60 frames per second.
  private static let capacity = 256

  init(codec: VideoCodec, output: @escaping @Sendable (Outcome) -> Void) throws(CodecError) {
    permit = try CodecThreadPermit()
    let box = Handover(try CodecFactory.videoDecoder(codec))
    coder = Guarded(CodecImplementation(box.object))
    self.output = output
    thread.with {
      $0 = WorkerThread(name: "parlor-decode") { [unowned self] thread in
        var isHardware = box.object.isHardware
        while !thread.isStopping {
          if isHardware != box.object.isHardware {
            isHardware = box.object.isHardware
            coder.with { $0 = CodecImplementation(box.object) }
          }
          let start = MonotonicClock.now()
          switch next(now: start) {
          case .wait(let until): wake.wait(until: until)
          case .decode(let job):
            do throws(CodecError) {
              guard var picture = try box.object.decode(job.frame) else { continue }
              let end = MonotonicClock.now()
              longest.store(max((end - start).nanoseconds, longest.load(ordering: .relaxed) * 49 / 50), ordering: .relaxed)
              (picture.ledger[.release], picture.ledger[.decode]) = (start, wait(until: job.due, now: end, thread))
              output(.decoded(picture, job, decodeTime: end - start))
            } catch {
              output(.failed(error))
            }
          }
        }
      }
    }
  }

  private let output: @Sendable (Outcome) -> Void
  var implementation: CodecImplementation { coder.with { $0 } }

  private enum Step {
    case decode(Job)
    case wait(until: Instant?)
  }

  private func next(now: Instant) -> Step {
    let lead = decodeTime + .milliseconds(2)
    return queue.with { queue in
      guard let first = queue.first else { return .wait(until: nil) }
      if let due = first.due, due - lead > now { return .wait(until: due - lead) }
      return .decode(queue.removeFirst())
    }
  }

  /// Lets time pass until a picture is wanted; returns when that is over.
  private func wait(until due: Instant?, now: Instant, _ thread: WorkerThread) -> Instant {
    var now = now
    while let due, now < due, !thread.isStopping {
      wake.wait(until: due)
      now = MonotonicClock.now()
    }
    return now
  }

  /// How long a frame takes to be decoded: the longest time of late.
  var decodeTime: Interval { .nanoseconds(longest.load(ordering: .relaxed)) }

  /// Queues a frame, from the network thread.
  func decode(_ job: Job, now: Instant) {
    let dropped = queue.with { queue -> Int in
      let overdue = queue.prefix { $0.due.map { $0 <= now } ?? true }.count
      guard overdue >= DecoderThread.limit || queue.count >= DecoderThread.capacity else {
        queue.append(job)
        return 0
      }
      let dropped = queue.count
      queue = job.frame.isKeyFrame ? [job] : []
      return job.frame.isKeyFrame ? dropped : dropped + 1
    }
    if dropped > 0 { output(.fellBehind(dropped: dropped)) }
    wake.signal()
  }

  func stop() { thread.with { $0 }?.stop(waking: wake) }
}
