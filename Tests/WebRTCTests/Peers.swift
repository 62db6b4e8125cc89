import Base
import DTLS
import SCTP
import SDP

@testable import WebRTC

extension PeerConnection {
  /// A connection whose randomness repeats.
  static func make(seed: UInt64 = 1, configure: (inout Configuration) -> Void = { _ in }) -> PeerConnection {
    var configuration = Configuration(certificate: Call.certificates.0)
    configuration.seed = seed
    configure(&configuration)
    return PeerConnection(configuration: configuration)
  }

  /// All that happened since the last call.
  mutating func takeEvents() -> [PeerConnectionEvent] {
    var events: [PeerConnectionEvent] = []
    while let event = pollEvent() { events.append(event) }
    return events
  }

  /// The section of a transceiver in the local description.
  func localSection(_ identifier: TransceiverIdentifier) -> MediaDescription? {
    transceiver(identifier)?.mid.flatMap { localDescription?.description.media(mid: $0) }
  }
}

extension [PeerConnectionEvent] {
  var signalingStates: [SignalingState] {
    compactMap { event in if case .signalingStateChange(let state) = event { state } else { nil } }
  }
  var connectionStates: [PeerConnectionState] {
    compactMap { event in if case .connectionStateChange(let state) = event { state } else { nil } }
  }
  var tracks: [TransceiverIdentifier] {
    compactMap { event in if case .track(let identifier) = event { identifier } else { nil } }
  }
  var removedTracks: [TransceiverIdentifier] {
    compactMap { event in if case .trackRemoved(let identifier) = event { identifier } else { nil } }
  }
  /// How often the connection asked for an offer.
  var negotiationsNeeded: Int { count { event in if case .negotiationNeeded = event { true } else { false } } }
  var openedChannels: Int { count { event in if case .dataChannelOpen = event { true } else { false } } }
  var closedChannels: Int { count { event in if case .dataChannelClose = event { true } else { false } } }
  var closingChannels: Int { count { event in if case .dataChannelClosing = event { true } else { false } } }
  var channelErrors: [PeerConnectionError] {
    compactMap { event in if case .dataChannelError(_, let error) = event { error } else { nil } }
  }
  var keyFrameRequests: Int { count { event in if case .keyFrameRequested = event { true } else { false } } }
}

/// One exchange in which `offerer` makes the offer; descriptions travel as text.
func exchange(_ offerer: inout PeerConnection, _ answerer: inout PeerConnection, now: Instant = .zero) throws {
  try offerer.setLocalDescription(now: now)
  try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: now)
  try answerer.setLocalDescription(now: now)
  try offerer.setRemoteDescription(.answer, sdp: "\(answerer.localDescription!.description)", now: now)
}

/// Descriptions as other implementations write them.
enum Foreign {
  static let transport = """
    a=ice-ufrag:F7gI
    a=ice-pwd:x9cml/YzichV2+XlhiMu8gxp
    a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F
    a=setup:actpass
    """

  /// A description of these sections, each a string of lines that begins with `m=`.
  static func description(_ sections: [String], bundle: [String]? = nil, session: String = "") -> String {
    var lines = ["v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0"]
    if let bundle { lines.append("a=group:BUNDLE \(bundle.joined(separator: " "))") }
    if !session.isEmpty { lines.append(session) }
    return (lines + sections).joined(separator: "\n") + "\n"
  }

  /// An accepted section of sound or pictures with its transport.
  static func section(
    _ kind: String, mid: String?, payloadTypes: String, lines: String, direction: String = "sendrecv", transport: String = transport
  ) -> String {
    """
    m=\(kind) 9 UDP/TLS/RTP/SAVPF \(payloadTypes)
    c=IN IP4 0.0.0.0
    \(mid.map { "a=mid:\($0)\n" } ?? "")a=\(direction)
    a=rtcp-mux
    \(transport)
    \(lines)
    """
  }

  static func opus(mid: String? = "0", direction: String = "sendrecv", lines: String = "") -> String {
    section(
      "audio", mid: mid, payloadTypes: "111",
      lines: "a=rtpmap:111 opus/48000/2\na=fmtp:111 minptime=10;useinbandfec=1" + (lines.isEmpty ? "" : "\n" + lines), direction: direction)
  }
}

enum ChannelOptionsFor {
  static func label(_ label: String, negotiated: UInt16? = nil) -> ChannelOptions {
    var options = ChannelOptions()
    (options.label, options.negotiatedIdentifier) = (label, negotiated)
    return options
  }
}
