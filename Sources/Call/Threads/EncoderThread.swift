import Base
import Codecs
import Frames
import Net
import Synchronization

/// Encodes the newest picture, always, and hands each encoded frame on; bitrate and key frame requests reach it from any thread.
final class EncoderThread: Sendable {
  let mailbox = Mailbox<VideoFrame>()
  private let wake = WakeSignal()
  private let bitrate: Atomic<Int>
  private let keyFrame = Atomic(false)
  private let encoded = Atomic(0)
  private let thread: Guarded<WorkerThread?> = Guarded(nil)
  let implementationName: String

  /// Starts encoding. `output` is called on the encoder's thread.
  init(
    codec: VideoCodec, settings: VideoEncoderSettings, output: @escaping @Sendable (EncodedVideoFrame, _ encodeTime: Interval) -> Void
  ) throws(CodecError) {
    let box = Handover(try CodecFactory.videoEncoder(codec, settings: settings))
    implementationName = box.object.implementationName
    bitrate = Atomic(settings.bitrate)
    let rate = settings.framesPerSecond
    thread.with {
      $0 = WorkerThread(name: "parlor-encode") { [unowned self] thread in
        var current = bitrate.load(ordering: .relaxed)
        while !thread.isStopping {
          wake.wait()
          guard !thread.isStopping, let frame = mailbox.take() else { continue }
          let wanted = bitrate.load(ordering: .relaxed)
          if wanted != current {
            current = wanted
            do { try box.object.setBitrate(wanted, framesPerSecond: rate) } catch {
              Log.warning("the encoder refuses \(wanted) bit/s: \(error)")
            }
          }
          let force = keyFrame.exchange(false, ordering: .relaxed)
          let start = MonotonicClock.now()
          do {
            guard var result = try box.object.encode(frame, forceKeyFrame: force) else {
              if force { keyFrame.store(true, ordering: .relaxed) }
              continue
            }
            let end = MonotonicClock.now()
            result.ledger[.encode] = end
            encoded.add(1, ordering: .relaxed)
            output(result, end - start)
          } catch {
            Log.error("a picture could not be encoded: \(error)")
          }
        }
      }
    }
  }

  /// Wakes the encoder after a picture was put into the mailbox.
  func frameArrived() { wake.signal() }
  /// The next picture becomes a key frame.
  func requestKeyFrame() { keyFrame.store(true, ordering: .relaxed) }
  /// Bits per second from the next picture on.
  func setBitrate(_ value: Int) { bitrate.store(value, ordering: .relaxed) }
  func stop() { thread.with { $0 }?.stop(waking: wake) }
}
