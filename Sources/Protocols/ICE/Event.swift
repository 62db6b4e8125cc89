import Base

/// Whether candidates are still being looked for (W3C `RTCIceGathererState`).
public enum GatheringState: String, Sendable { case new, gathering, complete }

/// Whether there is a way to the peer (W3C `RTCIceTransportState`).
public enum ConnectionState: String, Sendable {
  /// Nothing is known of the peer yet.
  case new
  /// Checks are running and none has succeeded.
  case checking
  /// There is a way; a better one may still come up.
  case connected
  /// There is a way, and all others were tried.
  case completed
  /// The peer has not been heard of for about 5 s; the agent keeps trying.
  case disconnected
  /// No way was found, or consent ran out (RFC 7675). New candidates may revive the first case, a restart both.
  case failed
  /// `close` was called.
  case closed
}

/// What the agent tells its owner.
public enum Event: Sendable, Equatable {
  /// A candidate for the peer, as it may be shown to it.
  case localCandidate(Candidate)
  /// Gathering began or ended.
  case gatheringState(GatheringState)
  /// The connection's state changed.
  case connectionState(ConnectionState)
  /// Application data now travels on this pair.
  case selectedPair(local: Candidate, remote: Candidate)
  /// The owner is to open a TCP connection, with TLS for this name when there is one, and to call `streamOpened` or `streamFailed`.
  case openStream(SocketIdentifier, to: SocketAddress, tlsName: String?)
  /// The owner is to close a stream once its bytes are written.
  case closeStream(SocketIdentifier)
  /// A server could not be used (W3C `icecandidateerror`): `code` is the server's, or 701 when it was not reached.
  case candidateError(url: String, address: SocketAddress?, code: Int, text: String)
}
