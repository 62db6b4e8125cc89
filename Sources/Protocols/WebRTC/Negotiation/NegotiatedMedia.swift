import RTP

/// A codec that both descriptions of a media section agree on.
public struct NegotiatedCodec: Sendable, Equatable {
  /// The payload type this side sends with.
  public var payloadType: UInt8
  /// What the codec is; `parameters` are those that the peer wrote, for they say how it wants to receive.
  public var capability: CodecCapability
  /// The payload type of retransmissions (RFC 4588), when they were agreed on.
  public var retransmissionPayloadType: UInt8?
}

/// What a media section came to, once offer and answer are both known.
struct NegotiatedMedia: Sendable, Equatable {
  /// In order of preference: the first one is sent.
  var codecs: [NegotiatedCodec] = []
  /// Payload types that may arrive, by number: what this side announced.
  var receivePayloadTypes: [UInt8: ReceiveFormat] = [:]
  var extensions: [HeaderExtension: UInt8] = [:]
  var isReducedSizeRTCP = false
  /// Most bits per second that the peer wants to receive.
  var bandwidth: Int?
  /// The primary source that the peer declared, and its retransmission source.
  var remoteSource: UInt32?
  var remoteRetransmissionSource: UInt32?

  /// What an arriving payload type means.
  enum ReceiveFormat: Sendable, Equatable {
    case media(CodecCapability)
    case retransmission(of: UInt8)
  }

  var extensionMap: HeaderExtensionMap {
    var map = HeaderExtensionMap()
    for (kind, identifier) in extensions { _ = map.set(kind, identifier: identifier) }
    return map
  }

  /// The codec that is sent: the first that is not there only to help another.
  var sendCodec: NegotiatedCodec? { codecs.first { !$0.capability.isAuxiliary && $0.capability.payloadFormat != nil } }

  /// The payload type of telephone events on the sent codec's clock (RFC 4733 section 2.1).
  var tonePayloadType: UInt8? {
    guard let clockRate = sendCodec?.capability.clockRate else { return nil }
    return codecs.first { $0.capability.name.lowercased() == "telephone-event" && $0.capability.clockRate == clockRate }?.payloadType
  }
}

extension Transceiver {
  /// The header extensions agreed on, with their identifiers.
  public var negotiatedExtensions: [HeaderExtension: UInt8] { negotiated?.extensions ?? [:] }
}
