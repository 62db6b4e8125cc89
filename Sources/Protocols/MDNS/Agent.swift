import Base
import Bytes

/// Where a message of the agent goes.
public enum Destination: Sendable, Hashable {
  /// 224.0.0.251 and ff02::fb, port 5353, on the links it is served on.
  case multicast
  /// One host.
  case unicast(SocketAddress)
}

/// A message to be sent.
public struct Transmit: Sendable {
  /// Where to.
  public var destination: Destination
  /// The datagram.
  public var bytes: [UInt8]
}

/// What became of a look-up.
public enum Event: Sendable, Equatable {
  /// The addresses of a name that was asked for; link-local IPv6 ones carry the scope of the datagram they came in.
  case resolved(name: String, addresses: [IPAddress])
  /// Nobody answered for the name in time.
  case failed(name: String)
}

/// Multicast DNS as WebRTC uses it (RFC 6762, draft-ietf-mmusic-mdns-ice-candidates): looks up `.local` names, and answers for random names that stand
/// for addresses not to be shown. Sans-IO: datagrams and time in; datagrams, events and the next deadline out.
public struct Agent: Sendable {
  /// What can be tuned.
  public struct Configuration: Sendable {
    /// Whether the first question of a look-up asks for a unicast answer (RFC 6762 section 5.4). On a host with several users of port 5353
    /// such an answer reaches any one of them, so it is off.
    public var asksForUnicast = false
    /// The lifetime of our records, in seconds (RFC 6762 section 10).
    public var timeToLive: UInt32 = 120
    /// The defaults.
    public init() {}
  }

  private struct Lookup {
    var sent = 0
    var nextSend: Instant
    var deadline: Instant
  }

  private struct Registered {
    var addresses: [IPAddress]
    var lastMulticast: Instant?
    var announcements = 2
    var nextAnnouncement: Instant
  }

  /// Seconds from one question to the next: 1, 2, 4 … (RFC 6762 section 5.2).
  private static func pause(after sent: Int) -> Interval { .seconds(Int64(1) << Int64(min(sent - 1, 6))) }

  /// Messages that were not heeded: `mdns.malformed`, `mdns.ignored` (opcode or response code), `mdns.limited` (an answer went out within the last second).
  public private(set) var counters = Counters()

  private let configuration: Configuration
  private var lookups: [Name: Lookup] = [:]
  private var registered: [Name: Registered] = [:]
  private var transmits = Queue<Transmit>()
  private var events = Queue<Event>()

  /// An agent that knows and asks nothing yet.
  public init(configuration: Configuration = Configuration()) { self.configuration = configuration }

  // MARK: Names of our own

  /// Answers from now on for a new random name (a version 4 UUID and `.local`) that stands for `address`, and announces it. Gives back the name.
  public mutating func register(_ address: IPAddress, using generator: inout some RandomNumberGenerator, now: Instant) -> String {
    var words = (generator.next() as UInt64, generator.next() as UInt64)
    words.0 = words.0 & ~0xF000 | 0x4000
    words.1 = words.1 & ~(3 << 62) | 1 << 63
    func hexadecimal(_ value: UInt64, _ digits: Int) -> String {
      let text = String(value & (digits == 16 ? .max : 1 << UInt64(digits * 4) - 1), radix: 16)
      return String(repeating: "0", count: digits - text.count) + text
    }
    let parts = [(words.0 >> 32, 8), (words.0 >> 16, 4), (words.0, 4), (words.1 >> 48, 4), (words.1, 12)]
    let text = parts.map(hexadecimal).joined(separator: "-") + ".local"
    guard let name = Name(text) else { preconditionFailure("a UUID is a valid label") }
    registered[name] = Registered(addresses: [address], nextAnnouncement: now)
    return text
  }

  /// Stops answering for `name`, and takes it back from those who heard of it.
  public mutating func unregister(_ name: String) {
    guard let name = Name(name), let old = registered.removeValue(forKey: name) else { return }
    send(response(name, old.addresses, timeToLive: 0), to: .multicast)
  }

  // MARK: Look-ups

  /// Asks for the addresses of `name`: now, after 1 s, 3 s, 7 s … until one comes or `timeout` has passed. The outcome is an event. Asked again
  /// meanwhile, it is the same look-up with the later deadline. A name that cannot be one fails at once.
  public mutating func resolve(_ name: String, timeout: Interval = .seconds(5), now: Instant) {
    guard let key = Name(name) else { return events.append(.failed(name: name)) }
    if let own = registered[key] { return events.append(.resolved(name: "\(key)", addresses: own.addresses)) }
    let deadline = now + timeout
    if let running = lookups[key] {
      lookups[key]?.deadline = max(running.deadline, deadline)
    } else {
      lookups[key] = Lookup(nextSend: now, deadline: deadline)
    }
  }

  /// Forgets the look-up of `name`; no event follows.
  public mutating func cancel(_ name: String) {
    if let name = Name(name) { lookups[name] = nil }
  }

  // MARK: Input

  /// Takes in a datagram that came to port 5353.
  public mutating func receive(_ datagram: RawSpan, from: SocketAddress, now: Instant) {
    guard let message = try? Message(parsing: datagram) else { return counters.count("mdns.malformed") }
    guard message.code == 0 else { return counters.count("mdns.ignored") }
    if message.isResponse { accept(message, from: from) } else { answer(message, from: from, now: now) }
  }

  private mutating func accept(_ message: Message, from: SocketAddress) {
    guard from.port == 5353 else { return counters.count("mdns.ignored") }  // RFC 6762 section 11
    var found: [Name: [IPAddress]] = [:]
    for record in message.answers + message.additional where record.timeToLive > 0 && lookups[record.name] != nil {
      guard record.type == Message.RecordType.a || record.type == Message.RecordType.aaaa else { continue }
      guard var ip = IPAddress(bytes: record.data), (ip.family == .v4) == (record.type == Message.RecordType.a) else {
        counters.count("mdns.malformed")
        continue
      }
      if ip.family == .v6, ip.isLinkLocal { ip.scope = from.ip.scope }
      if !found[record.name, default: []].contains(ip) { found[record.name, default: []].append(ip) }
    }
    for (name, addresses) in found {
      lookups[name] = nil
      events.append(.resolved(name: "\(name)", addresses: addresses))
    }
  }

  private mutating func answer(_ message: Message, from: SocketAddress, now: Instant) {
    let isLegacy = from.port != 5353  // a plain DNS client (RFC 6762 section 6.7)
    for (name, wantsUnicast) in questioned(message) {
      guard let own = registered[name] else { continue }
      var reply = response(name, own.addresses, timeToLive: isLegacy ? min(10, configuration.timeToLive) : configuration.timeToLive)
      // Another one's record in the question, with more than half its life to go, is known to the asker already.
      let known = message.answers.filter { $0.name == name && $0.timeToLive > configuration.timeToLive / 2 }
      reply.answers.removeAll { answer in known.contains { $0.type == answer.type && $0.data == answer.data } }
      guard !reply.answers.isEmpty else { continue }
      if isLegacy {
        reply.identifier = message.identifier
        reply.questions = message.questions.filter { $0.name == name }.map { Message.Question(name: $0.name, type: $0.type) }
        for index in reply.answers.indices { reply.answers[index].flushesCache = false }
        send(reply, to: .unicast(from))
      } else if wantsUnicast {
        send(reply, to: .unicast(from))
      } else if let last = own.lastMulticast, now - last < .seconds(1) {
        counters.count("mdns.limited")
      } else {
        registered[name]?.lastMulticast = now
        send(reply, to: .multicast)
      }
    }
  }

  /// The names of ours that are asked for, each once; by unicast when all its questions say so.
  private func questioned(_ message: Message) -> [(Name, wantsUnicast: Bool)] {
    var names: [(Name, wantsUnicast: Bool)] = []
    for question in message.questions where registered[question.name] != nil {
      guard [Message.RecordType.a, Message.RecordType.aaaa, Message.RecordType.any].contains(question.type) else { continue }
      if let index = names.firstIndex(where: { $0.0 == question.name }) {
        names[index].wantsUnicast = names[index].wantsUnicast && question.wantsUnicast
      } else {
        names.append((question.name, question.wantsUnicast))
      }
    }
    return names
  }

  // MARK: Time

  /// When `handleTimeout` is to be called next.
  public var deadline: Instant? {
    let announcements = registered.values.lazy.filter { $0.announcements > 0 }.map(\.nextAnnouncement)
    return (lookups.values.map { min($0.nextSend, $0.deadline) } + announcements).min()
  }

  /// Whether there is no name to answer for, and none that is asked for: then nothing needs to be received.
  public var isIdle: Bool { lookups.isEmpty && registered.isEmpty }

  /// Does what is due at `now`.
  public mutating func handleTimeout(now: Instant) {
    for (name, lookup) in lookups {
      if lookup.deadline <= now {
        lookups[name] = nil
        events.append(.failed(name: "\(name)"))
      } else if lookup.nextSend <= now {
        ask(name, isFirst: lookup.sent == 0)
        lookups[name]?.sent += 1
        lookups[name]?.nextSend = now + Agent.pause(after: lookup.sent + 1)
      }
    }
    for (name, own) in registered where own.announcements > 0 && own.nextAnnouncement <= now {
      registered[name]?.announcements -= 1
      registered[name]?.nextAnnouncement = now + .seconds(1)
      registered[name]?.lastMulticast = now
      send(response(name, own.addresses, timeToLive: configuration.timeToLive), to: .multicast)
    }
  }

  private mutating func ask(_ name: Name, isFirst: Bool) {
    var message = Message(isResponse: false)
    let wantsUnicast = isFirst && configuration.asksForUnicast
    message.questions = [Message.RecordType.a, Message.RecordType.aaaa].map {
      Message.Question(name: name, type: $0, wantsUnicast: wantsUnicast)
    }
    send(message, to: .multicast)
  }

  // MARK: Output

  /// The next message to be sent.
  public mutating func pollTransmit() -> Transmit? { transmits.popFirst() }

  /// The next event.
  public mutating func pollEvent() -> Event? { events.popFirst() }

  private mutating func send(_ message: Message, to destination: Destination) {
    transmits.append(Transmit(destination: destination, bytes: message.encoded()))
  }

  private func response(_ name: Name, _ addresses: [IPAddress], timeToLive: UInt32) -> Message {
    var message = Message(isResponse: true)
    message.answers = addresses.map { ip in
      Message.Record(
        name: name, type: ip.family == .v4 ? Message.RecordType.a : Message.RecordType.aaaa, flushesCache: true, timeToLive: timeToLive,
        data: ip.bytes)
    }
    return message
  }
}
