import Base
import Bytes

@testable import SCTP

/// What a link does to packets, drawn from a seed.
struct LinkConditions {
  /// Probabilities.
  var loss = 0.0
  var duplication = 0.0
  var reordering = 0.0
  /// One way.
  var delay = Interval.milliseconds(10)
  /// How much later a reordered packet arrives.
  var reorderingDelay = Interval.milliseconds(15)
  /// Larger packets vanish.
  var largestPacket = Int.max
  /// Bytes per second, and how many bytes wait before packets are dropped; nil means at once.
  var rate: Int?
  var queue = 100_000
}

/// Two associations and the link between them, in virtual time.
final class VirtualLink {
  struct Packet {
    var arrival: Instant
    var order: Int
    var isToB: Bool
    var bytes: [UInt8]
  }

  var a: Association
  var b: Association
  var conditions: LinkConditions
  var now = Instant.zero
  var eventsA: [Event] = []
  var eventsB: [Event] = []
  /// How many messages are among the events.
  var (messagesAtA, messagesAtB) = (0, 0)
  /// Packets for which it gives true vanish.
  var drop: ((Packet) -> Bool)?
  var packetCount = 0
  var byteCount = 0
  var largestSent = 0
  private var underway: [Packet] = []
  private var random: RandomSource
  private var order = 0
  private var lineFree = (a: Instant.zero, b: Instant.zero)

  init(
    _ conditions: LinkConditions = LinkConditions(), seed: UInt64 = 1, a: Association.Configuration = .init(),
    b: Association.Configuration = .init()
  ) {
    self.conditions = conditions
    random = RandomSource(seed: seed)
    self.a = Association(configuration: a, isDTLSClient: true, seed: seed &* 2 &+ 1)
    self.b = Association(configuration: b, isDTLSClient: false, seed: seed &* 2 &+ 2)
    self.a.setRemoteMaximumMessageSize(b.maximumMessageSize)
    self.b.setRemoteMaximumMessageSize(a.maximumMessageSize)
  }

  /// Both ends up.
  static func connected(
    _ conditions: LinkConditions = LinkConditions(), seed: UInt64 = 1, a: Association.Configuration = .init(),
    b: Association.Configuration = .init()
  ) -> VirtualLink {
    let link = VirtualLink(conditions, seed: seed, a: a, b: b)
    link.a.start(now: link.now)
    link.b.start(now: link.now)
    link.run { link.a.state == .connected && link.b.state == .connected }
    return link
  }

  /// Lets time pass until `condition` holds or `limit` has passed. Gives whether it held.
  @discardableResult func run(_ limit: Interval = .milliseconds(120_000), until condition: () -> Bool = { false }) -> Bool {
    let end = now + limit
    flush()
    while !condition() {
      var next = end
      if let packet = underway.first { next = min(next, packet.arrival) }
      if let deadline = a.deadline { next = min(next, max(deadline, now)) }
      if let deadline = b.deadline { next = min(next, max(deadline, now)) }
      now = next
      guard now < end else { return condition() }
      while let packet = underway.first, packet.arrival <= now {
        underway.removeFirst()
        if packet.isToB { b.receive(packet.bytes.span.bytes, now: now) } else { a.receive(packet.bytes.span.bytes, now: now) }
        flush()
      }
      a.handleTimeout(now: now)
      b.handleTimeout(now: now)
      flush()
    }
    return true
  }

  /// Takes all packets and events.
  func flush() {
    while let packet = a.pollTransmit(now: now) { send(packet, isToB: true) }
    while let packet = b.pollTransmit(now: now) { send(packet, isToB: false) }
    while let event = a.pollEvent() {
      if case .message = event { messagesAtA += 1 }
      eventsA.append(event)
    }
    while let event = b.pollEvent() {
      if case .message = event { messagesAtB += 1 }
      eventsB.append(event)
    }
  }

  /// Puts a packet on the link.
  func send(_ bytes: [UInt8], isToB: Bool) {
    packetCount += 1
    byteCount += bytes.count
    largestSent = max(largestSent, bytes.count)
    var packet = Packet(arrival: now, order: 0, isToB: isToB, bytes: bytes)
    if let drop, drop(packet) { return }
    guard bytes.count <= conditions.largestPacket, Double.random(in: 0..<1, using: &random) >= conditions.loss else { return }
    if let rate = conditions.rate {
      var free = isToB ? lineFree.b : lineFree.a
      free = max(free, now)
      guard (free - now).nanoseconds * Int64(rate) / 1_000_000_000 < Int64(conditions.queue) else { return }
      free += .nanoseconds(Int64(bytes.count) * 1_000_000_000 / Int64(rate))
      if isToB { lineFree.b = free } else { lineFree.a = free }
      packet.arrival = free
    }
    packet.arrival += conditions.delay
    let copies = Double.random(in: 0..<1, using: &random) < conditions.duplication ? 2 : 1
    for _ in 0..<copies {
      var copy = packet
      if Double.random(in: 0..<1, using: &random) < conditions.reordering { copy.arrival += conditions.reorderingDelay }
      copy.order = order
      order += 1
      var index = underway.count
      while index > 0, underway[index - 1].arrival > copy.arrival { index -= 1 }
      underway.insert(copy, at: index)
    }
  }

  /// Sends a message from A.
  func sendFromA(_ bytes: [UInt8], isText: Bool = false, on channel: ChannelIdentifier) throws(ChannelError) {
    try a.send(bytes.span.bytes, isText: isText, on: channel, now: now)
  }

  /// Sends a message from B.
  func sendFromB(_ bytes: [UInt8], isText: Bool = false, on channel: ChannelIdentifier) throws(ChannelError) {
    try b.send(bytes.span.bytes, isText: isText, on: channel, now: now)
  }

  /// Opens a channel on A and gives both ends' identifiers once B has it.
  func openChannel(_ options: ChannelOptions = ChannelOptions()) throws -> (a: ChannelIdentifier, b: ChannelIdentifier) {
    let before = eventsB.count
    let channel = try a.open(options)
    var offered: ChannelIdentifier?
    run {
      for event in eventsB[before...] {
        if case .channelOffered(let identifier, _, streamIdentifier: _) = event { offered = identifier }
      }
      return offered != nil
    }
    guard let offered else { throw ChannelError.notOpen }
    return (channel, offered)
  }
}

extension [Event] {
  /// The messages among the events.
  var messages: [(channel: ChannelIdentifier, bytes: [UInt8], isText: Bool)] {
    compactMap { if case .message(let channel, let bytes, let isText) = $0 { (channel, bytes, isText) } else { nil } }
  }
  /// The channels that were closed.
  var closedChannels: [ChannelIdentifier] { compactMap { if case .channelClosed(let channel) = $0 { channel } else { nil } } }
  /// The channels that the peer opened.
  var offers: [(channel: ChannelIdentifier, options: ChannelOptions, stream: UInt16)] {
    compactMap { if case .channelOffered(let channel, let options, let stream) = $0 { (channel, options, stream) } else { nil } }
  }
  /// How often the association came up.
  var connections: Int { count { if case .connected = $0 { true } else { false } } }
  /// The end's reason, where it came to an end.
  var closing: String?? {
    for case .closed(let reason) in self { return .some(reason) }
    return nil
  }
}

/// `count` bytes that are a function of `seed`. Cut from one random block, as random numbers are slow in debug builds.
func pattern(_ count: Int, seed: UInt64) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count)
  var start = Int(truncatingIfNeeded: (seed &+ 1) &* 7_919 % UInt64(randomBlock.count))
  while bytes.count < count {
    let piece = randomBlock[start...].prefix(count - bytes.count)
    bytes += piece
    start = (start + piece.count) % randomBlock.count
  }
  return bytes
}

private let randomBlock: [UInt8] = {
  var random = RandomSource(seed: 1)
  return random.bytes(65_521)
}()
