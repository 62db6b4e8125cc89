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
  private let limits = Guarded(EncodingLimits())
  private let thread: Guarded<WorkerThread?> = Guarded(nil)
  private let coder: Guarded<CodecImplementation>
  private let permit: CodecThreadPermit

  /// Starts encoding. `output` is called on the encoder's thread.
  init(
    codec: VideoCodec, settings: VideoEncoderSettings, output: @escaping @Sendable (EncodedVideoFrame, _ encodeTime: Interval) -> Void
  ) throws(CodecError) {
    permit = try CodecThreadPermit()
    let box = Handover(try CodecFactory.videoEncoder(codec, settings: settings))
    coder = Guarded(CodecImplementation(box.object))
    bitrate = Atomic(settings.bitrate)
    thread.with {
      $0 = WorkerThread(name: "parlor-encode") { [unowned self] thread in
        var stage = LimitStage(framesPerSecond: settings.framesPerSecond)
        var isHardware = box.object.isHardware
        var current = (bitrate: settings.bitrate, rate: settings.framesPerSecond)
        while !thread.isStopping {
          wake.wait()
          guard !thread.isStopping, let newest = mailbox.take() else { continue }
          let limits = limits.with { $0 }
          guard let frame = stage.apply(limits, to: newest) else { continue }
          let wanted = (
            bitrate: min(bitrate.load(ordering: .relaxed), limits.maximumBitrate ?? .max),
            rate: min(settings.framesPerSecond, limits.maximumFramesPerSecond ?? .infinity)
          )
          if wanted != current {
            current = wanted
            do { try box.object.setBitrate(wanted.bitrate, framesPerSecond: wanted.rate) } catch {
              Log.warning("the encoder refuses \(wanted.bitrate) bit/s at \(wanted.rate) pictures a second: \(error)")
            }
          }
          let force = keyFrame.exchange(false, ordering: .relaxed)
          let start = MonotonicClock.now()
          do {
            let encoded = try box.object.encode(frame, forceKeyFrame: force)
            if isHardware != box.object.isHardware {
              isHardware = box.object.isHardware
              coder.with { $0 = CodecImplementation(box.object) }
            }
            guard var result = encoded else {
              if force { keyFrame.store(true, ordering: .relaxed) }
              continue
            }
            let end = MonotonicClock.now()
            result.ledger[.encode] = end
            output(result, end - start)
          } catch {
            Log.error("a picture could not be encoded: \(error)")
          }
        }
      }
    }
  }

  var implementation: CodecImplementation { coder.with { $0 } }
  /// Wakes the encoder after a picture was put into the mailbox.
  func frameArrived() { wake.signal() }
  /// The next picture becomes a key frame.
  func requestKeyFrame() { keyFrame.store(true, ordering: .relaxed) }
  /// Bits per second from the next picture on.
  func setBitrate(_ value: Int) { bitrate.store(value, ordering: .relaxed) }
  /// What may be sent, from the next picture on.
  func setLimits(_ value: EncodingLimits) { limits.with { $0 = value } }
  func stop() { thread.with { $0 }?.stop(waking: wake) }
}
