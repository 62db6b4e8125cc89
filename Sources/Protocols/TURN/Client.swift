import Base
import Bytes
import STUN

/// A TURN client (RFC 8656): one allocation on one server, over UDP, TCP or TLS that the owner provides.
///
/// A value without clock or socket: bytes from the server and the time go in; bytes for the server (`pollTransmit`), events and the next
/// `deadline` come out. On a stream the owner cuts the bytes with `StreamReassembler` first.
public struct Client: Sendable {
  /// What the bytes travel in.
  public enum Transport: Sendable {
    /// UDP: requests are retransmitted.
    case datagram
    /// TCP or TLS: requests are sent once, ChannelData is padded.
    case stream
  }

  /// What a client needs to know.
  public struct Configuration: Sendable {
    /// Long-term credentials.
    public var username: String, password: String
    /// UDP, or a stream.
    public var transport: Transport
    /// The families wanted for the relayed address: one, or both in one allocation (RFC 8656 section 7.1).
    public var addressFamilies: [IPAddress.Family] = [.v4]
    /// The lifetime asked for; the server may choose another.
    public var lifetime: Interval = .seconds(600 as Int64)
    /// First retransmission over UDP; doubles each time.
    public var retransmissionTimeout: Interval = .milliseconds(250)
    /// How often a request is sent over UDP, until it is given up after 9.75 s.
    public var attempts = 6
    /// How long a stream may take to answer.
    public var streamTimeout: Interval = .seconds(10 as Int64)
    /// A NAT between client and server sees a packet at least this often.
    public var keepAliveInterval: Interval = .seconds(20 as Int64)

    /// The usual times with these credentials.
    public init(username: String, password: String, transport: Transport) {
      (self.username, self.password, self.transport) = (username, password, transport)
    }
  }

  /// Where the client is.
  public enum State: Sendable { case idle, allocating, allocated, failed, closed }

  /// Why there is no allocation, or no way to a peer.
  public enum Failure: Error, Sendable, Equatable {
    /// The server did not answer in time.
    case timeout
    /// The server said no.
    case refused(ErrorCode)
    /// The server granted the request but left out what was asked for.
    case malformedResponse
  }

  /// What the owner is told.
  public enum Event: Sendable, Equatable {
    /// `relayedAddresses` and `mappedAddress` are known.
    case allocated
    /// The server sends the client elsewhere (300): a new client is needed there. `domain` is the name on its certificate, if told.
    case redirected(to: SocketAddress, domain: String?)
    /// There is no allocation, or it was lost.
    case failed(Failure)
    /// Data of this address now passes, both ways.
    case permitted(IPAddress)
    /// The server lets nothing pass for this address.
    case refused(IPAddress, Failure)
    /// Data for this peer can go as ChannelData.
    case channelBound(SocketAddress)
  }

  /// What a datagram from the server was.
  public enum Received: Sendable, Equatable {
    /// A message for the client itself.
    case handled
    /// Not for this client: an unknown transaction or channel, or no TURN at all.
    case ignored
    /// What a peer sent: `count` bytes at `offset` of the datagram.
    case data(from: SocketAddress, offset: Int, count: Int)
  }

  enum Request: Sendable, Equatable {
    case allocate
    /// Lifetime 0, so that an allocation left over from an earlier life makes room.
    case release
    case refresh
    case createPermission(IPAddress)
    case channelBind(SocketAddress, UInt16)
    case close
  }

  struct Transaction: Sendable {
    var id: TransactionID
    var request: Request
    var bytes: [UInt8]
    var timer: RetransmissionTimer
    /// The nonce that it was signed with; nil when it was not signed.
    var nonce: String?
    var challenges: Int
  }

  struct Permission: Sendable {
    var ip: IPAddress
    var isActive = false
    var refreshAt: Instant?
    var expiresAt: Instant?
  }

  struct Channel: Sendable {
    var number: UInt16
    var peer: SocketAddress
    var isBound = false
    var refreshAt: Instant?
  }

  /// As given.
  public let configuration: Configuration
  /// Where the client is.
  public internal(set) var state = State.idle
  /// The relayed addresses, one for each family that was granted; empty before `.allocated`.
  public internal(set) var relayedAddresses: [SocketAddress] = []
  /// The client's own address as the server sees it.
  public internal(set) var mappedAddress: SocketAddress?
  /// Discards by name: `turn.malformed`, `turn.integrity`, `turn.oversized`.
  public internal(set) var counters = Counters()

  var credential: LongTermCredential
  var random: Randomness
  var transactions: [Transaction] = []
  var permissions: [Permission] = []
  var channels: [Channel] = []
  var nextChannel = ChannelData.numbers.lowerBound
  var refreshAt: Instant?
  var expiresAt: Instant?
  var keepAliveAt: Instant?
  /// How often the server had an allocation for these addresses already.
  var mismatches = 0
  var allocateAt: Instant?
  private var transmits = Queue<[UInt8]>()
  private var events = Queue<Event>()

  /// A client at rest. `random` gives the transaction identifiers.
  public init(_ configuration: Configuration, random: Randomness) {
    self.configuration = configuration
    self.random = random
    credential = LongTermCredential(username: configuration.username, password: configuration.password)
  }

  /// Asks the server for an allocation. Ends in `.allocated`, `.redirected` or `.failed`.
  public mutating func start(now: Instant) {
    guard state == .idle else { return }
    state = .allocating
    begin(.allocate, now: now)
  }

  /// Asks the server to let data of `ip` pass; `.permitted` or `.refused` follows. Without effect unless allocated.
  public mutating func permit(_ ip: IPAddress, now: Instant) {
    guard state == .allocated, !permissions.contains(where: { $0.ip == ip }) else { return }
    permissions.append(Permission(ip: ip))
    begin(.createPermission(ip), now: now)
  }

  /// Whether data of `ip` passes.
  public func isPermitted(_ ip: IPAddress) -> Bool { permissions.contains { $0.ip == ip && $0.isActive } }

  /// Asks the server for a channel to `peer`, so that `channel(to:)` gets a value; `.channelBound` tells when. Without effect unless
  /// allocated, when there is one already, or when the server refused one before.
  public mutating func bindChannel(_ peer: SocketAddress, now: Instant) {
    guard state == .allocated, !channels.contains(where: { $0.peer == peer }), channels.count < ChannelData.numbers.count else { return }
    while channels.contains(where: { $0.number == nextChannel }) { advanceChannel() }
    channels.append(Channel(number: nextChannel, peer: peer))
    begin(.channelBind(peer, nextChannel), now: now)
    advanceChannel()
  }

  /// The bound channel to `peer`.
  public func channel(to peer: SocketAddress) -> UInt16? { channels.first { $0.peer == peer && $0.isBound }?.number }

  /// Lets permissions and channels of all other peers run out.
  public mutating func forgetPeers(except kept: (SocketAddress) -> Bool) {
    channels.removeAll { !kept($0.peer) }
    permissions.removeAll { permission in !channels.contains { $0.peer.ip == permission.ip } }
    transactions.removeAll { transaction in
      switch transaction.request {
      case .createPermission(let ip): !permissions.contains { $0.ip == ip }
      case .channelBind(let peer, _): !kept(peer)
      default: false
      }
    }
  }

  /// Queues `data` for `peer`: as ChannelData when there is a channel, else as a Send indication. At most 65,000 bytes, else it is counted as
  /// `turn.oversized` and dropped.
  public mutating func send(_ data: RawSpan, to peer: SocketAddress) {
    guard state == .allocated else { return }
    guard data.byteCount <= 65_000 else { return counters.count("turn.oversized") }
    if let channel = channel(to: peer) {
      transmit(ChannelData.message(channel: channel, data, padded: configuration.transport == .stream))
    } else {
      var builder = MessageBuilder(.indication, .send, transactionID: TransactionID(using: &random))
      builder.append(.xorPeerAddress, xorAddress: peer)
      builder.append(.data, span: data)
      transmit(builder.bytes)
    }
  }

  /// Gives the allocation back: one Refresh with lifetime 0 is left to be polled, nothing else happens any more.
  public mutating func close(now: Instant) {
    let wasAllocated = state == .allocated
    stop(.closed)
    if wasAllocated { begin(.close, now: now) }
  }

  /// The next message for the server.
  public mutating func pollTransmit() -> [UInt8]? { transmits.popFirst() }

  /// The next event.
  public mutating func pollEvent() -> Event? { events.popFirst() }

  mutating func transmit(_ bytes: [UInt8]) { transmits.append(bytes) }

  mutating func emit(_ event: Event) { events.append(event) }

  /// Ends all activity.
  mutating func stop(_ final: State) {
    state = final
    transactions = []
    permissions = []
    channels = []
    (refreshAt, expiresAt, keepAliveAt, allocateAt) = (nil, nil, nil, nil)
  }

  private mutating func advanceChannel() {
    nextChannel = nextChannel == ChannelData.numbers.upperBound ? ChannelData.numbers.lowerBound : nextChannel + 1
  }
}
