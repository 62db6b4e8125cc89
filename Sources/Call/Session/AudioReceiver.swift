import Base
import Codecs
import Frames
import JitterBuffer
import RTP

/// What becomes of one transceiver's arriving sound: the jitter buffer, which the playout thread pulls from.
final class AudioReceiver {
  let codec: AudioCodec
  private let buffer: Guarded<AudioJitterBuffer>
  private let playout: PlayoutThread
  private var inlet: Int?

  /// Receives `codec` and plays on `playout` what `shape` makes of it.
  init(codec: AudioCodec, playout: PlayoutThread, shape: @escaping @Sendable (AudioBlock) -> AudioBlock) throws(CodecError) {
    self.codec = codec
    self.playout = playout
    buffer = Guarded(AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(codec), clockRate: codec.clockRate))
    let shared = buffer
    inlet = playout.add { now in shape(shared.with { $0.nextBlock(now: now) }) }
  }

  /// Takes a packet, on the network thread.
  func receive(_ payload: RawSpan, header: RTP.Header, now: Instant) {
    buffer.with { $0.insert(payload: payload, sequence: header.sequenceNumber, timestamp: header.timestamp, arrival: now) }
  }

  /// The counts so far.
  var counters: AudioJitterBuffer.Counters { buffer.with { $0.counters } }

  func stop() {
    if let inlet { playout.remove(inlet) }
    inlet = nil
  }
}
