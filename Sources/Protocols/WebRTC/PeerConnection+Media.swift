import Base
import RTP

/// A media packet that arrived, decrypted, and without the wrapping of retransmissions.
public struct ReceivedMedia: Sendable {
  /// Whose receiver it is for.
  public var transceiver: TransceiverIdentifier
  /// What the payload is.
  public var codec: CodecCapability
  /// The packet's header; its ranges count from the packet's start.
  public var header: RTP.Header
  /// Where the packet lies in the datagram that was given.
  public var packet: Range<Int>
  /// The video orientation extension's byte, when the packet carries it.
  public var videoOrientation: UInt8?
}

extension PeerConnection {
  /// Sends an encoded picture. `captureTime` gives the RTP time stamp; `rotation` counts clockwise quarter turns. Dropped, and counted, while
  /// the transceiver may not send. Of a simulcast, `encoding` says which of the sender's encodings it is, by its place among them.
  public mutating func sendVideo(
    _ frame: RawSpan, isKeyFrame: Bool, captureTime: Instant, rotation: UInt8 = 0, encoding: Int = 0, on identifier: TransceiverIdentifier,
    now: Instant
  ) {
    guard transport.isSecure else { return transport.counters.count("rtp.unconnected") }
    media.sendVideo(
      frame, isKeyFrame: isKeyFrame, captureTime: captureTime, rotation: rotation, encoding: encoding, on: identifier, now: now)
  }

  /// Sends an encoded packet of sound. `timestamp` is in the codec's RTP clock, `level` as RFC 6464 counts.
  public mutating func sendAudio(
    _ frame: RawSpan, timestamp: UInt32, captureTime: Instant, level: UInt8, on identifier: TransceiverIdentifier, now: Instant
  ) {
    guard transport.isSecure else { return transport.counters.count("rtp.unconnected") }
    media.sendAudio(frame, timestamp: timestamp, captureTime: captureTime, level: level, on: identifier, now: now)
  }

  /// W3C `canInsertDTMF`: whether tones could be sent now.
  public func canInsertTones(on identifier: TransceiverIdentifier) -> Bool {
    guard let transceiver = negotiation[identifier], !isClosed, !transceiver.isStopping else { return false }
    return transceiver.currentDirection?.sends == true && media.canSendTones(of: identifier)
  }

  /// W3C `insertDTMF` (section 7.2): the tones (0 to 9, A to D, * and #; a comma is a pause of two seconds) replace those that are still to
  /// come. `duration` is kept within 40 and 6,000 ms, `gap` at 30 ms or more. Events tell of each tone.
  public mutating func insertTones(
    _ tones: String, duration: Interval = .milliseconds(100), gap: Interval = .milliseconds(70),
    on identifier: TransceiverIdentifier, now: Instant
  ) throws(PeerConnectionError) {
    guard canInsertTones(on: identifier) else { throw PeerConnectionError(.invalidState, "no tones can be sent now") }
    let tones = tones.uppercased()
    if let wrong = tones.first(where: { $0 != "," && TelephoneEvent.event(for: $0) == nil }) {
      throw PeerConnectionError(.invalidCharacter, "“\(wrong)” is no tone")
    }
    media.insertTones(tones, duration: duration, gap: gap, of: identifier, now: now)
    takeMediaEvents()
  }

  /// Asks the peer for a key frame of what the transceiver receives (PLI). Requests in quick succession become one.
  public mutating func requestKeyFrame(of identifier: TransceiverIdentifier, now: Instant) {
    media.requestKeyFrame(of: identifier, now: now)
  }

  /// Tells that the jitter buffer went on without what came before `sequenceNumber`: the peer is not asked for it any more.
  public mutating func discardMissing(of identifier: TransceiverIdentifier, before sequenceNumber: UInt16) {
    media.discardMissing(of: identifier, before: sequenceNumber)
  }

  /// How the time stamps of what a transceiver receives lie in the peer's time, by the source that sends now; nil before its first sender report.
  public func senderClock(of identifier: TransceiverIdentifier) -> SenderClock? { media.senderClock(of: identifier) }

  /// The latest round trip to the peer; nil before the first.
  public var roundTripTime: Interval? { transport.ice.roundTripTime }

  /// Bits per second that video should be encoded with now.
  public var targetBitrate: Int { media.targetBitrate }

  /// Counts of everything that was dropped or refused, by reason.
  public var discards: Counters {
    var result = transport.counters
    result.add(transport.ice.counters)
    result.add(media.counters)
    if let association { result.add(association.counters) }
    return result
  }
}
