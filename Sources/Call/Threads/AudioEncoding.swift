import Base
import Codecs
import Frames
import Net
import Sound

/// Encodes the blocks that are given to it, on the thread that gives them, and hands the packets on.
final class AudioEncoding: Sendable {
  /// An encoded packet of sound.
  struct Packet: Sendable {
    var bytes: [UInt8]
    /// In the codec's RTP clock.
    var timestamp: UInt32
    var captureTime: Instant
    /// RFC 6464: 0 is the loudest, 127 silence.
    var level: UInt8
  }

  private struct State: @unchecked Sendable {
    // Unchecked: the encoder is only used under the lock.
    let encoder: any AudioEncoder
    var timestamp: UInt32
    var last: Instant?
  }

  private let state: Guarded<State>
  private let output: @Sendable (Packet) -> Void

  /// Encodes with `codec`; `output` is called on the thread that gives the blocks.
  init(codec: AudioCodec, channelCount: Int = 1, output: @escaping @Sendable (Packet) -> Void) throws(CodecError) {
    var settings = AudioEncoderSettings()
    settings.channelCount = channelCount
    state = Guarded(
      State(encoder: try CodecFactory.audioEncoder(codec, settings: settings), timestamp: UInt32.random(in: 0...UInt32.max / 2)))
    self.output = output
  }

  /// Takes the next block.
  func encode(_ block: AudioBlock) {
    let packet = state.with { state -> Packet? in
      let now = block.captureTime ?? MonotonicClock.now()
      // Time also passes while there is no source: whole packets of it.
      if let last = state.last, now - last > .milliseconds(200) {
        state.timestamp &+= state.encoder.timestampStep &* UInt32(clamping: (now - last).nanoseconds / 20_000_000)
      }
      state.last = now
      do {
        guard let bytes = try state.encoder.encode(block) else { return nil }
        defer { state.timestamp &+= state.encoder.timestampStep }
        // A packet ends with this block, so it began a packet's length before the block's end.
        return Packet(bytes: bytes, timestamp: state.timestamp, captureTime: now - .milliseconds(10), level: block.level)
      } catch {
        Log.error("sound could not be encoded: \(error)")
        return nil
      }
    }
    if let packet { output(packet) }
  }

  /// Tells the encoder what its receiver loses, 0 to 1, so that it adds redundancy.
  func setPacketLoss(_ fraction: Double) {
    state.with { state in
      do { try state.encoder.setPacketLoss(fraction) } catch { Log.info("the encoder does not prepare for loss: \(error)") }
    }
  }

  /// Bits per second from the next packet on.
  func setBitrate(_ bitrate: Int) {
    state.with { state in
      do { try state.encoder.setBitrate(bitrate) } catch { Log.info("the encoder refuses \(bitrate) bit/s: \(error)") }
    }
  }
}
