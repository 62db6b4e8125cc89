import Base
import Bytes

@testable import STUN
@testable import TURN

/// Answers a client's requests as a test says, under the credentials `user`, `secret` in `example.org`.
struct ScriptedServer {
  let relayed = SocketAddress("203.0.113.200:50000")!
  let mapped = SocketAddress("198.51.100.1:4000")!
  var nonce = "nonce-1"
  var lifetime: UInt32 = 600
  /// What each method was last asked, and how often.
  var requests: [Method: Int] = [:]
  /// Answers the next request of this method with that error.
  var errors: [Method: ErrorCode] = [:]
  /// Answers every Allocate with this.
  var refusal: ErrorCode?
  var addsIntegrity = true
  var givesRelay = true
  static let key = Digest.hash(.md5, Array("user:example.org:secret".utf8))

  /// The answer to what a client sent; nil when it is no request.
  mutating func answer(_ bytes: [UInt8]) -> [UInt8]? {
    guard let message = try? Message(bytes.span.bytes), message.messageClass == .request else { return nil }
    requests[message.method, default: 0] += 1
    if !message.hasIntegrity { return refusal(message, ErrorCode(401, "Unauthenticated")) }
    guard message.hasValidIntegrity(key: ScriptedServer.key) else { return refusal(message, ErrorCode(401, "Wrong")) }
    if message.text(.nonce) != nonce { return refusal(message, ErrorCode(438, "Stale Nonce")) }
    if let error = errors.removeValue(forKey: message.method) { return refusal(message, error) }
    if message.method == .allocate, let refusal { return self.refusal(message, refusal) }
    var response = MessageBuilder(.success, to: message)
    if message.method == .allocate {
      if givesRelay { response.append(.xorRelayedAddress, xorAddress: relayed) }
      response.append(.xorMappedAddress, xorAddress: mapped)
    }
    if message.method == .allocate || message.method == .refresh {
      response.append(.lifetime, uint32: min(lifetime, message.uint32(.lifetime) ?? lifetime))
    }
    if addsIntegrity { response.appendIntegrity(key: ScriptedServer.key) }
    return response.bytes
  }

  private func refusal(_ request: borrowing Message, _ error: ErrorCode) -> [UInt8] {
    var response = MessageBuilder(.error, to: request)
    response.append(error)
    if error.code == 401 || error.code == 438 {
      response.append(.realm, text: "example.org")
      response.append(.nonce, text: nonce)
    }
    return response.bytes
  }
}

/// A client and its server, with nothing lost between them.
struct Session {
  var client: Client
  var server = ScriptedServer()
  var now = Instant.zero
  var events: [Client.Event] = []
  /// What the client sent that is no request.
  var sent: [[UInt8]] = []
  var isCut = false

  init(transport: Client.Transport = .datagram, password: String = "secret", families: [IPAddress.Family] = [.v4]) {
    var configuration = Client.Configuration(username: "user", password: password, transport: transport)
    configuration.addressFamilies = families
    client = Client(configuration, random: Randomness(seed: 1))
  }

  /// Carries messages until both are silent.
  mutating func exchange() {
    while let bytes = client.pollTransmit() {
      if isCut { continue }
      if let answer = server.answer(bytes) { _ = client.receive(answer.span.bytes, now: now) } else { sent.append(bytes) }
    }
    while let event = client.pollEvent() { events.append(event) }
  }

  mutating func start() {
    client.start(now: now)
    exchange()
  }

  /// Lets time pass, deadline by deadline.
  mutating func run(seconds: Int64) {
    let end = now + .seconds(seconds)
    while let deadline = client.deadline, deadline <= end {
      now = max(now, deadline)
      client.handleTimeout(now: now)
      exchange()
    }
    now = end
  }

  /// The next message of the client, which is not carried to the server.
  mutating func poll() -> [UInt8]? { client.pollTransmit() }

  mutating func receive(_ bytes: [UInt8]) -> Client.Received { client.receive(bytes.span.bytes, now: now) }
}
