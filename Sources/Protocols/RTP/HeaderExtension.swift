/// The header extensions that are understood, each named by its URI in session descriptions (RFC 8285).
public enum HeaderExtension: UInt8, CaseIterable, Sendable, Hashable {
  /// Media identification, `sdes:mid` (RFC 8843 section 15).
  case mid
  /// Identifier of a simulcast encoding, `sdes:rtp-stream-id` (RFC 8852).
  case rid
  /// Identifier of the encoding that a retransmission repairs (RFC 8852).
  case repairedRid
  /// When the packet left, in 6.18 fixed-point seconds (libwebrtc's abs-send-time).
  case absoluteSendTime
  /// Sequence number across all streams of a transport (draft-holmer-rmcat-transport-wide-cc-extensions).
  case transportSequenceNumber
  /// Loudness of the audio in the packet (RFC 6464).
  case audioLevel
  /// Coordination of video orientation (3GPP TS 26.114 section 7.4.5).
  case videoOrientation
  /// Bounds of the receiver's playout delay (libwebrtc's playout-delay).
  case playoutDelay
  /// When the media in the packet was captured (libwebrtc's abs-capture-time).
  case absoluteCaptureTime

  /// The URI that stands for the extension in a session description.
  public var uri: String {
    switch self {
    case .mid: "urn:ietf:params:rtp-hdrext:sdes:mid"
    case .rid: "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    case .repairedRid: "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
    case .absoluteSendTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    case .transportSequenceNumber: "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    case .audioLevel: "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    case .videoOrientation: "urn:3gpp:video-orientation"
    case .playoutDelay: "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
    case .absoluteCaptureTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
    }
  }

  /// The extension with this URI; nil for one that is not understood.
  public init?(uri: String) {
    guard let match = Self.allCases.first(where: { $0.uri == uri }) else { return nil }
    self = match
  }
}
