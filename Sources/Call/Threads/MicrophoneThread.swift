import Base
import Codecs
import Frames
import Net
import Sound

/// Takes 10 ms blocks from a source at its pace, encodes them for each sender, and hands the packets on.
public final class MicrophoneThread: Sendable {
  /// One encoder with the place its packets go to.
  fileprivate struct Outlet: @unchecked Sendable {
    // Unchecked: the encoder is used by the microphone thread alone once it is added.
    let identifier: Int
    let encoder: any AudioEncoder
    let output: @Sendable (EncodedAudioFrame) -> Void
    var timestamp: UInt32
  }

  /// When the first block begins.
  let start = MonotonicClock.now()
  private let outlets = Guarded<[Outlet]>([])
  private let next = Guarded(0)
  private let wake = WakeSignal()
  private let muted = Guarded(false)
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// An encoded packet of sound.
  struct EncodedAudioFrame: Sendable {
    var bytes: [UInt8]
    /// In the codec's RTP clock.
    var timestamp: UInt32
    var captureTime: Instant
    /// RFC 6464: 0 is the loudest, 127 silence.
    var level: UInt8
  }

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
          let level = block.level
          outlets.with { outlets in
            for index in outlets.indices { outlets[index].encode(block, level: level) }
          }
          index += 1
        }
      }
    }
  }

  /// Adds a sender; returns what `remove` takes. `output` is called on the microphone's thread.
  func add(_ codec: AudioCodec, channelCount: Int = 1, output: @escaping @Sendable (EncodedAudioFrame) -> Void) throws(CodecError) -> Int {
    var settings = AudioEncoderSettings()
    settings.channelCount = channelCount
    let encoder = try CodecFactory.audioEncoder(codec, settings: settings)
    let identifier = next.with { next in
      next += 1
      return next
    }
    outlets.with {
      $0.append(Outlet(identifier: identifier, encoder: encoder, output: output, timestamp: UInt32.random(in: 0...UInt32.max / 2)))
    }
    return identifier
  }

  func remove(_ identifier: Int) { outlets.with { $0.removeAll { $0.identifier == identifier } } }
  /// Sends silence in place of what the source gives.
  public func setMuted(_ value: Bool) { muted.with { $0 = value } }

  /// Tells a sender's encoder what its receiver loses, 0 to 1, so that it adds redundancy.
  func setPacketLoss(_ fraction: Double, of identifier: Int) {
    outlets.with { outlets in
      guard let outlet = outlets.first(where: { $0.identifier == identifier }) else { return }
      do { try outlet.encoder.setPacketLoss(fraction) } catch { Log.info("the encoder does not prepare for loss: \(error)") }
    }
  }

  /// Ends the thread.
  public func stop() { thread.with { $0 }?.stop(waking: wake) }
}

extension MicrophoneThread.Outlet {
  fileprivate mutating func encode(_ block: AudioBlock, level: UInt8) {
    do {
      guard let bytes = try encoder.encode(block) else { return }
      // A packet ends with this block, so it began a packet's length before the block's end.
      let start = (block.captureTime ?? .zero) + .milliseconds(10) - .milliseconds(20)
      output(MicrophoneThread.EncodedAudioFrame(bytes: bytes, timestamp: timestamp, captureTime: start, level: level))
      timestamp &+= encoder.timestampStep
    } catch {
      Log.error("sound could not be encoded: \(error)")
    }
  }
}
