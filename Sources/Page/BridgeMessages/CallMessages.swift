// Calls of a document: the page waits for their answers, since the functions behind them are synchronous.

/// The newest picture of a track; answered with a picture.
public struct FrameGrab: ControlMessage {
  public static let type = "frame.grab"
  public var track: UInt32

  /// The message.
  public init(track: UInt32) { self.track = track }
}

/// What can be sent and received (W3C `getCapabilities`); answered with a ``CapabilitiesReply``.
public struct GetCapabilities: ControlMessage {
  public static let type = "capabilities"

  /// The message.
  public init() {}
}

/// Whose media a receiver played lately (W3C `getSynchronizationSources`); answered with a ``SourcesReply``.
public struct ReceiverSources: ControlMessage {
  public static let type = "receiver.sources"
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver's number.
  public var transceiver: UInt32

  /// The message.
  public init(connection: UInt32, transceiver: UInt32) { (self.connection, self.transceiver) = (connection, transceiver) }
}

/// Any call.
public enum CallMessage: Sendable, Decodable {
  case frameGrab(FrameGrab)
  case getCapabilities
  case receiverSources(ReceiverSources)

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Envelope.CodingKeys.self)
    let type = try container.decode(String.self, forKey: .type)
    switch type {
    case FrameGrab.type: self = .frameGrab(try FrameGrab(from: decoder))
    case GetCapabilities.type: self = .getCapabilities
    case ReceiverSources.type: self = .receiverSources(try ReceiverSources(from: decoder))
    default: throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "“\(type)” is no call")
    }
  }
}

/// The answer to ``GetCapabilities``: W3C `RTCRtpCapabilities` of each kind, the same for sending and receiving.
public struct CapabilitiesReply: Codable, Sendable, Equatable {
  /// W3C `RTCRtpCapabilities`.
  public struct Capabilities: Codable, Sendable, Equatable {
    /// W3C `RTCRtpHeaderExtensionCapability`.
    public struct HeaderExtension: Codable, Sendable, Equatable {
      public var uri: String

      /// An extension.
      public init(uri: String) { self.uri = uri }
    }

    public var codecs: [Codec]
    public var headerExtensions: [HeaderExtension]

    /// The capabilities of one kind.
    public init(codecs: [Codec], headerExtensions: [HeaderExtension]) {
      (self.codecs, self.headerExtensions) = (codecs, headerExtensions)
    }
  }

  public var audio: Capabilities
  public var video: Capabilities

  /// The value.
  public init(audio: Capabilities, video: Capabilities) { (self.audio, self.video) = (audio, video) }
}

/// The answer to ``ReceiverSources``, the newest first.
public struct SourcesReply: Codable, Sendable, Equatable {
  /// W3C `RTCRtpContributingSource`.
  public struct Source: Codable, Sendable, Equatable {
    /// The SSRC or CSRC.
    public var source: UInt32
    public var rtpTimestamp: UInt32
    /// 0 to 1.
    public var audioLevel: Double?
    /// How long ago it was played, in milliseconds.
    public var age: Double

    /// A source.
    public init(source: UInt32, rtpTimestamp: UInt32, audioLevel: Double?, age: Double) {
      (self.source, self.rtpTimestamp, self.audioLevel, self.age) = (source, rtpTimestamp, audioLevel, age)
    }
  }

  public var synchronization: [Source]
  public var contributing: [Source]

  /// The value.
  public init(synchronization: [Source] = [], contributing: [Source] = []) {
    (self.synchronization, self.contributing) = (synchronization, contributing)
  }
}
