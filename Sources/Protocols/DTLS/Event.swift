/// What happened in an association.
public enum Event: Sendable, Hashable {
  /// The handshake is done and the peer's certificate is the announced one. The keys are nil when no SRTP profile was agreed on.
  case connected(KeyingMaterial?)
  /// The peer sent application data: an SCTP packet.
  case applicationData([UInt8])
  /// The peer closed the association in order.
  case closed
  /// The association failed and stays so.
  case failed(DTLSError)
}

/// Which side begins the handshake: the one whose description says `a=setup:active` is the client (RFC 5763 section 5).
public enum Role: Sendable, Hashable { case client, server }

/// Where an association stands, with the names of W3C `RTCDtlsTransportState`.
public enum State: String, Sendable, Hashable { case new, connecting, connected, closed, failed }
