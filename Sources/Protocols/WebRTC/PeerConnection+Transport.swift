import DTLS
import ICE

// What is known of the one transport: W3C `RTCDtlsTransport` and `RTCIceTransport`.
extension PeerConnection {
  /// The DTLS transport's state.
  public var dtlsTransportState: DTLSTransportState { transport.state }

  /// The DTLS role; nil before an answer chose it.
  public var dtlsRole: DTLS.Role? { transport.role }

  /// The peer's certificate chain in DER, the peer's own first; empty before the handshake (W3C `getRemoteCertificates`).
  public var remoteCertificates: [[UInt8]] { transport.remoteCertificates }

  /// Whether this side chooses the candidate pair: W3C `RTCIceRole`.
  public var isIceControlling: Bool { transport.ice.isControlling }

  /// The candidates that media and data travel between; nil while there is no way (W3C `getSelectedCandidatePair`).
  public var selectedCandidatePair: (local: ICE.Candidate, remote: ICE.Candidate)? { transport.ice.selectedPair }

  /// This side's candidates of the generation in force (W3C `getLocalCandidates`).
  public var localIceCandidates: [ICE.Candidate] { localCandidates }

  /// The peer's candidates, those learnt from its checks included (W3C `getRemoteCandidates`).
  public var remoteIceCandidates: [ICE.Candidate] { transport.ice.remoteCandidates }

  /// This side's ICE credentials (W3C `getLocalParameters`).
  public var localIceParameters: ICE.Parameters { transport.ice.localParameters }

  /// The peer's ICE credentials; nil before its description (W3C `getRemoteParameters`).
  public var remoteIceParameters: ICE.Parameters? { transport.ice.remoteParameters }

  /// W3C `setConfiguration` with `iceTransportPolicy`: it counts from the next gathering on. Servers are set by `setIceServers`.
  public mutating func setRelayOnly(_ isRelayOnly: Bool) { transport.ice.setRelayOnly(isRelayOnly) }
}
