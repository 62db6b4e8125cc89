import Base

extension Association {
  /// What an association is made with.
  public struct Configuration: Sendable {
    /// SCTP ports; with WebRTC both 5,000 unless signalled otherwise.
    public var localPort: UInt16 = 5_000
    public var remotePort: UInt16 = 5_000
    /// The largest message that we accept, in bytes: what our description says in `a=max-message-size`. 0 means as much as the receive window holds.
    public var maximumMessageSize = 262_144
    /// The packet size in bytes with which an association starts; every path must carry it. At least 512.
    public var mtu = 1_200
    /// The largest packet size that is probed for, in bytes; not above 1,400, so that DTLS, TURN and IPv6 fit around it.
    public var maximumMTU = 1_400
    /// How many received bytes we hold for messages that are not complete, not in order, or not yet polled.
    public var receiveWindow = 5 << 20
    /// How many bytes may wait to be sent on a channel.
    public var maximumBufferedAmount = 16 << 20
    /// How many streams we accept and would send on.
    public var streams: UInt16 = 65_535
    /// The retransmission timeout before the first measurement, and its bounds. The lower bound is below RFC 9260's second: calls cannot wait.
    public var initialTimeout = Interval.milliseconds(500)
    public var minimumTimeout = Interval.milliseconds(400)
    public var maximumTimeout = Interval.milliseconds(10_000)
    /// How often INIT or COOKIE ECHO is sent again before the association is closed.
    public var maximumInitRetransmissions = 8
    /// How many timeouts in a row close the association: some ten minutes, as ICE decides earlier whether a call is over.
    public var maximumRetransmissions = 60
    /// How long an acknowledgment may wait for a second packet or for data.
    public var delayedAcknowledgment = Interval.milliseconds(100)
    /// How often an idle path is tested.
    public var heartbeatInterval = Interval.milliseconds(30_000)
    /// Whether messages of different channels may interleave when the peer can do it too (I-DATA, RFC 8260).
    public var offersInterleaving = false
    /// Whether packets without a checksum are accepted, as DTLS protects them (RFC 9653), and sent to peers that accept them.
    public var offersZeroChecksum = true

    /// The values above.
    public init() {}
  }

  /// Where an association stands: W3C `RTCSctpTransportState`, with the time before `start` as closed and the orderly end as `shutdown`.
  public enum State: Sendable { case closed, connecting, connected, shutdown }
}
