// Page → run: transceivers and senders (W3C WebRTC 1.0, section 5).

/// Sound or pictures.
public enum TrackKind: String, Codable, Sendable { case audio, video }

/// W3C `RTCRtpTransceiverDirection`.
public enum TransceiverDirection: String, Codable, Sendable { case sendrecv, sendonly, recvonly, inactive, stopped }

/// W3C `RTCRtpEncodingParameters`.
public struct Encoding: Codable, Sendable, Equatable {
  /// The restriction identifier.
  public var rid: String?
  /// Whether it is sent.
  public var active: Bool?
  /// Bits per second at most.
  public var maxBitrate: Double?
  /// Pictures per second at most.
  public var maxFramerate: Double?
  /// By how much the picture's sides are divided, 1 or more.
  public var scaleResolutionDownBy: Double?
  /// W3C `RTCPriorityType`: the share among the connection's streams.
  public var priority: String?
  /// W3C `RTCPriorityType`: the marking of packets.
  public var networkPriority: String?

  /// An encoding with the standard's defaults.
  public init(
    active: Bool? = nil, maxBitrate: Double? = nil, maxFramerate: Double? = nil, scaleResolutionDownBy: Double? = nil
  ) {
    (self.active, self.maxBitrate, self.maxFramerate) = (active, maxBitrate, maxFramerate)
    self.scaleResolutionDownBy = scaleResolutionDownBy
  }
}

/// W3C `RTCRtpCodec`, and where it was negotiated the payload type.
public struct Codec: Codable, Sendable, Equatable {
  /// The payload type, 0 to 127.
  public var payloadType: Int?
  /// `video/VP8`.
  public var mimeType: String
  /// In Hz.
  public var clockRate: Int
  /// Of sound.
  public var channels: Int?
  /// The value of `a=fmtp`.
  public var sdpFmtpLine: String?

  /// A codec.
  public init(payloadType: Int? = nil, mimeType: String, clockRate: Int, channels: Int? = nil, sdpFmtpLine: String? = nil) {
    (self.payloadType, self.mimeType, self.clockRate) = (payloadType, mimeType, clockRate)
    (self.channels, self.sdpFmtpLine) = (channels, sdpFmtpLine)
  }
}

/// A new transceiver: W3C `addTransceiver`, or `addTrack` where no transceiver was free.
public struct TransceiverAdd: ControlMessage {
  public static let type = "transceiver.add"
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver's number.
  public var transceiver: UInt32
  /// Sound or pictures.
  public var kind: TrackKind
  /// The direction wanted.
  public var direction: TransceiverDirection
  /// Identifiers of the streams that the sent track belongs to.
  public var streams: [String]
  /// The sent track's number.
  public var track: UInt32?
  /// The sent track's identifier.
  public var trackId: String?
  /// Whether `addTrack` made it.
  public var isAddedByTrack: Bool?
  /// What its receiver will play, numbered by the page.
  public var receivingTrack: Snapshot.Transceiver.ReceivingTrack?
  /// How it is sent.
  public var encodings: [Encoding]?

  /// The message.
  public init(
    connection: UInt32, transceiver: UInt32, kind: TrackKind, direction: TransceiverDirection = .sendrecv, streams: [String] = [],
    track: UInt32? = nil, trackId: String? = nil, isAddedByTrack: Bool? = nil,
    receivingTrack: Snapshot.Transceiver.ReceivingTrack? = nil, encodings: [Encoding]? = nil
  ) {
    (self.connection, self.transceiver, self.kind) = (connection, transceiver, kind)
    (self.direction, self.streams, self.track) = (direction, streams, track)
    (self.trackId, self.isAddedByTrack, self.receivingTrack) = (trackId, isAddedByTrack, receivingTrack)
    self.encodings = encodings
  }
}

/// Changes what a transceiver's members say; those not given stay.
public struct TransceiverSet: ControlMessage {
  public static let type = "transceiver.set"
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver's number.
  public var transceiver: UInt32
  /// The direction wanted.
  public var direction: TransceiverDirection?
  /// Identifiers of the streams that the sent track belongs to.
  public var streams: [String]?
  /// Whether `addTrack` used it.
  public var isAddedByTrack: Bool?
  /// W3C `setCodecPreferences`; empty for the default.
  public var codecs: [Codec]?
  /// W3C `jitterBufferTarget` in milliseconds, `null` for none.
  public var jitterBufferTarget: ExplicitNull<Double>?

  /// The message.
  public init(
    connection: UInt32, transceiver: UInt32, direction: TransceiverDirection? = nil, streams: [String]? = nil,
    isAddedByTrack: Bool? = nil, codecs: [Codec]? = nil
  ) {
    (self.connection, self.transceiver, self.direction) = (connection, transceiver, direction)
    (self.streams, self.isAddedByTrack, self.codecs) = (streams, isAddedByTrack, codecs)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    connection = try container.decode(UInt32.self, forKey: .connection)
    transceiver = try container.decode(UInt32.self, forKey: .transceiver)
    direction = try container.decodeIfPresent(TransceiverDirection.self, forKey: .direction)
    streams = try container.decodeIfPresent([String].self, forKey: .streams)
    isAddedByTrack = try container.decodeIfPresent(Bool.self, forKey: .isAddedByTrack)
    codecs = try container.decodeIfPresent([Codec].self, forKey: .codecs)
    // A `null` is a value here.
    guard container.contains(.jitterBufferTarget) else { return }
    jitterBufferTarget = ExplicitNull(wrappedValue: try container.decodeIfPresent(Double.self, forKey: .jitterBufferTarget))
  }
}

/// W3C `RTCRtpTransceiver.stop`.
public struct TransceiverStop: ControlMessage {
  public static let type = "transceiver.stop"
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver's number.
  public var transceiver: UInt32

  /// The message.
  public init(connection: UInt32, transceiver: UInt32) { (self.connection, self.transceiver) = (connection, transceiver) }
}

/// Gives a sender another track, or none: W3C `replaceTrack`, `addTrack`, `removeTrack`.
public struct SenderSetTrack: Request {
  public static let type = "sender.setTrack"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver's number.
  public var transceiver: UInt32
  /// The track's number; nil: nothing is sent.
  public var track: UInt32?
  /// Whether `replaceTrack` asks: negotiation is not touched then.
  public var isReplacing: Bool?

  /// The message.
  public init(id: UInt32, connection: UInt32, transceiver: UInt32, track: UInt32?, isReplacing: Bool? = nil) {
    (self.id, self.connection, self.transceiver) = (id, connection, transceiver)
    (self.track, self.isReplacing) = (track, isReplacing)
  }
}

/// W3C `RTCRtpSender.setParameters`, as far as it changes anything.
public struct SenderSetParameters: Request {
  public static let type = "sender.setParameters"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver's number.
  public var transceiver: UInt32
  /// How it is sent from now on.
  public var encodings: [Encoding]
  /// W3C `RTCDegradationPreference`.
  public var degradationPreference: String?

  /// The message.
  public init(id: UInt32, connection: UInt32, transceiver: UInt32, encodings: [Encoding]) {
    (self.id, self.connection, self.transceiver, self.encodings) = (id, connection, transceiver, encodings)
  }
}

/// W3C `insertDTMF`: replaces the tones that wait.
public struct SenderTones: ControlMessage {
  public static let type = "sender.tones"
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver's number.
  public var transceiver: UInt32
  /// Of `0`–`9`, `A`–`D`, `#`, `*` and `,`.
  public var tones: String
  /// How long each sounds, in milliseconds.
  public var duration: Int
  /// The pause between them, in milliseconds.
  public var gap: Int

  /// The message.
  public init(connection: UInt32, transceiver: UInt32, tones: String, duration: Int = 100, gap: Int = 70) {
    (self.connection, self.transceiver, self.tones) = (connection, transceiver, tones)
    (self.duration, self.gap) = (duration, gap)
  }
}
