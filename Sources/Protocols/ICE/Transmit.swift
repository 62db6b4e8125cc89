import Base

/// A socket of the owner. Datagram sockets get the numbers that the owner chooses, 0 or more; streams that the agent asks for get negative ones.
public struct SocketIdentifier: Sendable, Hashable {
  /// The number.
  public var rawValue: Int
  /// The identifier with this number.
  public init(rawValue: Int) { self.rawValue = rawValue }
}

/// Bytes that the owner is to send.
public struct Transmit: Sendable, Equatable {
  /// On this socket or stream.
  public var socket: SocketIdentifier
  /// To this address; for a stream the address that it is connected to.
  public var destination: SocketAddress
  /// A datagram, or the next bytes of the stream.
  public var bytes: [UInt8]
}

/// How application data gets to the peer: what to put around the data, and where to send the whole.
public struct Route: Sendable, Equatable {
  /// On this socket or stream.
  public var socket: SocketIdentifier
  /// To this address: the peer's, or the TURN server's.
  public var destination: SocketAddress
  /// The bytes before the data, in network order: the first `prefixCount` bytes of this value's memory.
  public var prefix: UInt32
  /// 0, 2 (RFC 4571) or 4 (ChannelData).
  public var prefixCount: Int
  /// How many zero bytes follow the data, 0 to 3: ChannelData on a stream is padded.
  public var paddingCount: Int
}

/// What a datagram was.
public enum Received: Sendable, Equatable {
  /// It was for the agent, or was discarded and counted.
  case handled
  /// It has `count` bytes of application data (DTLS, SRTP) at `offset`.
  case application(offset: Int, count: Int)
}
