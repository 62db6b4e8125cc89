import Base

extension Agent {
  /// What an agent is to do, and its times. The times are those of the RFCs or brisker; tests shorten none of them.
  public struct Configuration: Sendable {
    /// STUN and TURN servers with resolved addresses.
    public var servers: [Server] = []
    /// More servers come by `setServers`, so gathering is not complete before that.
    public var expectsServers = false
    /// Only relayed candidates are used and shown (W3C `iceTransportPolicy: "relay"`).
    public var relayOnly = false
    /// The names that the peer is shown in place of these addresses of the machine (mDNS).
    public var concealedNames: [IPAddress: String] = [:]
    /// Connect to passive TCP candidates of the peer (RFC 6544).
    public var usesTCP = true

    /// Pace of new checks once the burst is spent (Ta of RFC 8445 section 14.2).
    public var checkInterval: Interval = .milliseconds(20)
    /// How many checks may go out at once.
    public var checkBurst = 8
    /// First repetition of a check; doubles each time.
    public var checkTimeout: Interval = .milliseconds(50)
    /// Longest gap between repetitions of a check.
    public var checkTimeoutLimit: Interval = .milliseconds(800)
    /// How long a pair is tried until it counts as failed.
    public var checkLifetime: Interval = .seconds(15 as Int64)
    /// How long the agent waits for candidates that can be tried, once nothing else is left, before it fails. With `checkLifetime`: a peer
    /// that stays silent ends in `failed` 15 s after its last candidate, 20 s when it never said that it was the last.
    public var patience: Interval = .seconds(15 as Int64)
    /// The same while the peer may still send candidates.
    public var tricklePatience: Interval = .seconds(20 as Int64)

    /// Consent is checked this often, times 0.8 to 1.2 at random (RFC 7675 section 5.1).
    public var consentInterval: Interval = .seconds(5 as Int64)
    /// Without an answer for so long nothing is sent any more (RFC 7675 section 5.1).
    public var consentLifetime: Interval = .seconds(30 as Int64)
    /// When nothing was received for so long, the peer is asked, and again each `probeInterval`.
    public var quietInterval: Interval = .milliseconds(2_500)
    /// Without an answer for so long after that, the state is `disconnected` and another pair may be selected.
    public var silenceInterval: Interval = .milliseconds(2_500)
    /// Pace of checks that nobody answers on a pair that once worked.
    public var probeInterval: Interval = .milliseconds(500)
    /// Valid pairs that are not selected are checked this often, so that they can step in (Tr of RFC 8445 section 11).
    public var backupInterval: Interval = .seconds(15 as Int64)

    /// First repetition of a request to a STUN or TURN server over UDP; doubles each time, given up after 9.75 s.
    public var serverTimeout: Interval = .milliseconds(250)
    /// How often a request to a STUN or TURN server is sent.
    public var serverAttempts = 6
    /// How long a TCP or TLS connection may take.
    public var streamTimeout: Interval = .seconds(10 as Int64)

    /// No servers, all candidates, the usual times.
    public init() {}
  }
}
