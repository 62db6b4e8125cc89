import Base
import Bytes
import RTP

/// A source that media came from of late: W3C `RTCRtpSynchronizationSource` and `RTCRtpContributingSource` (section 5.3).
public struct RTPSource: Sendable, Equatable {
  /// The source's identifier (SSRC or CSRC).
  public var source: UInt32
  /// When its last packet came.
  public var timestamp: Instant
  /// The RTP time stamp of that packet.
  public var rtpTimestamp: UInt32
  /// How loud it was, from 0 for silence to 1 for overload, as the sender says (RFC 6464); nil where it does not say.
  public var audioLevel: Double?
  /// When it was captured, by the sender's clock, in nanoseconds since 1970 (absolute capture time); nil where the sender does not say.
  public var captureTime: Int64?
}

/// The contributing sources that were named to one receiver. Bounded, since a peer may name any number.
struct ContributingSources: Sendable {
  private static let limit = 32

  private(set) var list: [RTPSource] = []

  /// Takes note of a packet; beyond the limit the source that was silent for longest gives way.
  mutating func note(_ source: RTPSource) {
    for index in list.indices where list[index].source == source.source {
      list[index] = source
      return
    }
    if list.count == ContributingSources.limit, let oldest = list.indices.min(by: { list[$0].timestamp < list[$1].timestamp }) {
      list.remove(at: oldest)
    }
    list.append(source)
  }
}

extension PeerConnection {
  /// Sources are told of for so long after their last packet (W3C section 5.3).
  private static let sourceLifetime = Interval.seconds(10)

  /// W3C `getSynchronizationSources`: who sent to the receiver within the last ten seconds, the newest first.
  public func synchronizationSources(of identifier: TransceiverIdentifier, now: Instant) -> [RTPSource] {
    recent(media.receiving.filter { $0.identifier == identifier }.compactMap(\.lastPacket), now: now)
  }

  /// W3C `getContributingSources`: whom a mixer named as those heard within the last ten seconds, the newest first.
  public func contributingSources(of identifier: TransceiverIdentifier, now: Instant) -> [RTPSource] {
    recent(media.receiving.filter { $0.identifier == identifier }.flatMap(\.contributing.list), now: now)
  }

  private func recent(_ sources: [RTPSource], now: Instant) -> [RTPSource] {
    sources.filter { now - $0.timestamp < PeerConnection.sourceLifetime }.sorted { $0.timestamp > $1.timestamp }
  }
}

extension MediaStreams {
  /// Takes note of who sent a packet, and on whose behalf.
  mutating func noteSources(_ index: Int, _ header: RTP.Header, _ extensions: HeaderExtensions, _ packet: RawSpan, now: Instant) {
    let level = extensions.audioLevel.map { $0.level >= 127 ? 0 : AudioLevels.linear[Int($0.level)] }
    let captured = extensions.absoluteCaptureTime.map { NTPTime(bits: $0).unixNanoseconds }
    var source = RTPSource(
      source: header.ssrc, timestamp: now, rtpTimestamp: header.timestamp, audioLevel: level,
      captureTime: captured)
    receiving[index].lastPacket = source
    for place in 0..<header.csrcCount {
      source.source = header.csrc(at: place, of: packet)
      // The level is that of the mix (RFC 6465 would tell each one's).
      source.audioLevel = nil
      receiving[index].contributing.note(source)
    }
  }
}

/// RFC 6464 levels, in dB below overload, as amplitudes from 1 down.
private enum AudioLevels {
  static let linear: [Double] = {
    // One decibel is the twentieth root of a tenth.
    var levels = [1.0]
    for _ in 1...127 { levels.append(levels[levels.count - 1] * 0.891_250_938_133_745_6) }
    return levels
  }()
}
