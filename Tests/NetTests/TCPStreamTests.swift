import Base
import Bytes
import Glibc
import Testing

@testable import Net

@Suite(.timeLimit(.minutes(1))) struct TCPStreamTests {
  enum Event: Sendable, Equatable {
    case opened
    case received([UInt8])
    case closed(StreamError?)
  }

  actor Client {
    let loop: EventLoop
    let events = Arrivals<Event>()
    private var stream: TCPStream?
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    init(_ loop: EventLoop) { self.loop = loop }

    func connect(_ address: SocketAddress, _ security: TCPStream.Security = .plain, timeout: Interval = .seconds(600)) {
      let events = events
      stream = TCPStream(
        connectingTo: address, security: security, timeout: timeout, on: loop,
        handlers: .init(
          opened: { _ in events.add(.opened) }, received: { events.add(.received(Array(bytes: $0))) }, closed: { events.add(.closed($0)) }))
    }
    func send(_ bytes: [UInt8]) -> Bool { stream!.send(bytes.span.bytes) }
    func close() { stream?.close() }
    func buffered() -> Int { stream!.bufferedByteCount }
    func blocked() -> Int { stream!.counters["tcp.blocked"] }
  }

  /// A socket that listens on the loopback.
  final class Listener: Sendable {
    let descriptor: Int32
    let address: SocketAddress
    /// One that does not listen refuses.
    init(listens: Bool = true) {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      _ = SocketAddress(.loopback4, 0).withSockaddr { bind(descriptor, $0, $1) }
      if listens { listen(descriptor, 4) }
      address = SocketAddress(boundTo: descriptor)!
      self.descriptor = descriptor
    }
    func accept() async -> Int32 {
      let accepted = await blocking { [descriptor] in Glibc.accept(descriptor, nil, nil) }
      // Whoever calls may need the listener no more: its descriptor must not become another's meanwhile.
      withExtendedLifetime(self) {}
      return accepted
    }
    deinit { close(descriptor) }
  }

  /// Reads `count` bytes, or what comes before the end.
  func receive(_ descriptor: Int32, _ count: Int) async -> [UInt8] {
    await blocking {
      var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 64 << 10))
      while bytes.count < count, case let part = recv(descriptor, &buffer, min(buffer.count, count - bytes.count), 0), part > 0 {
        bytes += buffer[..<part]
      }
      return bytes
    }
  }

  @Test func bytesGoBothWaysAndTheOtherEndsCloseIsToldOnce() async {
    let fixture = LoopFixture()
    let listener = Listener()
    let client = Client(fixture.loop)
    await client.connect(listener.address)
    let peer = await listener.accept()
    #expect(await client.events.next() == .opened)
    #expect(await client.send([1, 2, 3]))
    #expect(await receive(peer, 3) == [1, 2, 3])
    send(peer, [9, 8] as [UInt8], 2, 0)
    #expect(await client.events.next() == .received([9, 8]))
    close(peer)
    #expect(await client.events.next() == .closed(nil))
    #expect(await !client.send([1]))
  }

  @Test func aSlowReceiverMakesTheStreamRefuseRatherThanQueueWithoutEnd() async {
    let fixture = LoopFixture()
    let listener = Listener()
    let client = Client(fixture.loop)
    await client.connect(listener.address)
    let peer = await listener.accept()
    #expect(await client.events.next() == .opened)
    let piece = [UInt8](repeating: 5, count: 64 << 10)
    var accepted = 0
    while await client.send(piece) { accepted += piece.count }
    #expect(await client.blocked() == 1)
    #expect(await client.buffered() <= 256 << 10)
    #expect(await receive(peer, accepted).count == accepted)
    close(peer)
  }

  @Test func aPortThatNobodyListensOnRefuses() async {
    let fixture = LoopFixture()
    let client = Client(fixture.loop)
    let listener = Listener(listens: false)
    let address = listener.address
    await client.connect(address)
    #expect(await client.events.next() == .closed(.system(SystemError("connect \(address)", code: ECONNREFUSED))))
  }

  @Test func aServerThatNeverFinishesTheHandshakeTimesOut() async {
    let fixture = LoopFixture()
    let listener = Listener()
    let client = Client(fixture.loop)
    await client.connect(listener.address, .tls(name: "localhost", trust: .system), timeout: .milliseconds(50))
    let peer = await listener.accept()
    #expect(await client.events.next() == .closed(.timedOut(listener.address)))
    close(peer)
  }

  @Test func aServerThatDoesNotSpeakTLSIsAnErrorInTLS() async {
    let fixture = LoopFixture()
    let listener = Listener()
    let client = Client(fixture.loop)
    await client.connect(listener.address, .tls(name: "localhost", trust: .system))
    let peer = await listener.accept()
    _ = send(peer, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, 0)
    let event = await client.events.next()
    guard case .closed(.tls(let error)) = event else { return #expect(Bool(false), "\(event as Any)") }
    #expect(error.code == "tls.failed")
    close(peer)
  }

  struct TLSCase: Sendable, CustomTestStringConvertible {
    let names: String
    let days: ClosedRange<Int>
    let asked: String
    let isTrusted: Bool
    let expected: TLSError?
    var testDescription: String { expected.map { "\($0)" } ?? "\(asked) is accepted" }
  }

  static let cases = [
    TLSCase(names: "DNS:example.org,IP:127.0.0.1", days: -1...30, asked: "example.org", isTrusted: true, expected: nil),
    TLSCase(names: "DNS:*.example.org,IP:127.0.0.1", days: -1...30, asked: "a.example.org", isTrusted: true, expected: nil),
    TLSCase(names: "DNS:example.org,IP:127.0.0.1", days: -1...30, asked: "127.0.0.1", isTrusted: true, expected: nil),
    TLSCase(
      names: "DNS:example.org", days: -1...30, asked: "127.0.0.1", isTrusted: true,
      expected: .nameMismatch(expected: "127.0.0.1", names: ["example.org"])),
    TLSCase(
      names: "DNS:example.org,IP:192.0.2.1", days: -1...30, asked: "example.com", isTrusted: true,
      expected: .nameMismatch(expected: "example.com", names: ["example.org", "192.0.2.1"])),
    TLSCase(names: "DNS:example.org", days: -30 ... -1, asked: "example.org", isTrusted: true, expected: .expired),
    TLSCase(names: "DNS:example.org", days: 1...30, asked: "example.org", isTrusted: true, expected: .notYetValid),
    TLSCase(
      names: "DNS:example.org", days: -1...30, asked: "example.org", isTrusted: false,
      expected: .untrusted(reason: "unable to get local issuer certificate")),
  ]

  @Test(arguments: cases) func theServersCertificateDecides(_ item: TLSCase) async throws {
    let certificates = TestCertificates()
    defer { certificates.remove() }
    let server = try HTTPServer(identity: certificates.identity(item.names, days: item.days)) { _ in
      HTTPResponse(200, body: Array("hello".utf8))
    }
    defer { server.stop() }
    let fixture = LoopFixture()
    let client = Client(fixture.loop)
    let trust = item.isTrusted ? try TrustStore(files: [certificates.file], includingSystem: false) : .system
    await client.connect(server.address, .tls(name: item.asked, trust: trust))
    if let expected = item.expected {
      #expect(await client.events.next() == .closed(.tls(expected)))
    } else {
      #expect(await client.events.next() == .opened)
      #expect(await client.send(Array("GET / HTTP/1.0\r\nHost: example.org\r\n\r\n".utf8)))
      var text = ""
      while case .received(let bytes) = await client.events.next() { text += String(decoding: bytes, as: UTF8.self) }
      #expect(text.contains(" 200 ") && text.hasSuffix("hello"))
    }
    await client.close()
  }
}
