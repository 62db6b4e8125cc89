/// One media description: a line `m=` and what follows it.
public struct MediaDescription: Sendable, Hashable {
  /// The kind of media.
  public enum Kind: Sendable, Hashable, CustomStringConvertible {
    case audio, video, application
    case other(String)

    public init(_ name: String) {
      switch name {
      case "audio": self = .audio
      case "video": self = .video
      case "application": self = .application
      default: self = .other(name)
      }
    }

    public var description: String {
      switch self {
      case .audio: "audio"
      case .video: "video"
      case .application: "application"
      case .other(let name): name
      }
    }
  }

  // The line m=.
  public var kind: Kind
  /// 9 where ICE decides, 0 where the media is refused or only bundled.
  public var port: UInt16
  /// The number of ports, where it is written.
  public var portCount: Int?
  /// Such as `UDP/TLS/RTP/SAVPF`.
  public var protocolName: String
  /// Payload types, or `webrtc-datachannel`.
  public var formats: [String]

  /// The line `c=`.
  public var connection: Connection?
  public var bandwidth: [Bandwidth] = []

  public var mid: String?
  public var direction = Direction.sendrecv
  public var msids: [MSID] = []
  /// Whether the media is only wanted as part of a bundle (RFC 8843 section 6).
  public var isBundleOnly = false

  // Transport.
  public var usernameFragment: String?
  public var password: String?
  public var iceOptions: [String] = []
  public var fingerprints: [CertificateFingerprint] = []
  public var setup: Setup?
  /// The attributes `candidate:…`, without the `a=` before them.
  public var candidates: [String] = []
  public var hasEndOfCandidates = false

  // RTP.
  public var isRTCPMux = false
  /// `a=rtcp-mux-only` (RFC 8858).
  public var isRTCPMuxOnly = false
  public var isRTCPReducedSize = false
  /// The line `a=rtcp`.
  public var rtcpPort: RTCPPort?
  public var rtpMaps: [RTPMap] = []
  /// By payload type.
  public var formatParameters: [UInt8: FormatParameters] = [:]
  public var feedback: [RTCPFeedback] = []
  public var headerExtensions: [ExtensionMapping] = []
  public var extmapAllowMixed = false
  public var sourceGroups: [SourceGroup] = []
  public var sources: [SourceAttribute] = []
  public var rids: [RID] = []
  public var simulcast: Simulcast?
  /// In milliseconds.
  public var ptime: Double?
  /// In milliseconds.
  public var maxptime: Double?

  // SCTP (RFC 8841).
  public var sctpPort: UInt16?
  /// In bytes; 0 for any size.
  public var maxMessageSize: Int?

  /// Attributes without a meaning here, in order.
  public var unknown: [Attribute] = []
  /// Lines of other types, in order.
  public var otherLines: [Line] = []

  public init(kind: Kind, port: UInt16 = 9, protocolName: String, formats: [String] = []) {
    self.kind = kind
    self.port = port
    self.protocolName = protocolName
    self.formats = formats
  }

  /// Whether the media is refused (RFC 8829 section 5.3.1).
  public var isRejected: Bool { port == 0 && !isBundleOnly }
  /// Whether it is RTP, of any profile.
  public var isRTP: Bool { protocolName[...].parts("/").contains("RTP") }
  /// Whether it is SCTP over DTLS: data channels.
  public var isSCTP: Bool { protocolName[...].parts("/").contains("SCTP") }

  /// What a payload type stands for.
  public func rtpMap(_ payloadType: UInt8) -> RTPMap? { rtpMaps.first { $0.payloadType == payloadType } }
  /// The feedback of a payload type, with what was said for all of them.
  public func feedback(_ payloadType: UInt8) -> [String] {
    feedback.filter { $0.payloadType == nil || $0.payloadType == payloadType }.map(\.value)
  }
}
