import Base
import Codecs
import Frames
import JitterBuffer
import RTP

/// What becomes of one transceiver's arriving sound: packets go through a ring to the playout thread, which owns the jitter buffer.
final class AudioReceiver {
  let codec: AudioCodec
  private let source: ReceivedSource
  private let playout: PlayoutThread
  private var identifier: Int?

  /// Receives `codec` and plays it on `playout` as `sound` says.
  init(codec: AudioCodec, playout: PlayoutThread, sound: PlayedSound) throws(CodecError) {
    self.codec = codec
    self.playout = playout
    source = ReceivedSource(AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(codec), clockRate: codec.clockRate))
    identifier = playout.add(source, as: sound)
  }

  /// Takes a packet, on the network thread.
  func receive(_ payload: RawSpan, header: RTP.Header, now: Instant) {
    source.receive(payload, sequence: header.sequenceNumber, timestamp: header.timestamp, arrival: now)
  }

  /// The counts so far.
  var counters: AudioJitterBuffer.Counters { source.counters }

  /// Where playout stands; nil before it begins, and while nothing is there to be played.
  var position: PlayoutPosition? { source.position }

  /// How late playout should run at least: as the application wishes, and as lip sync needs it.
  func setDelays(requested: Interval, synchronization: Interval) {
    source.setDelays(requested: requested, synchronization: synchronization)
  }

  func stop() {
    if let identifier { playout.remove(identifier) }
    identifier = nil
  }
}
