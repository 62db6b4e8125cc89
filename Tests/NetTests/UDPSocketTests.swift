import Base
import Bytes
import Glibc
import Testing

@testable import Net

@Suite(.timeLimit(.minutes(1))) struct UDPSocketTests {
  struct Datagram: Sendable, Equatable {
    var bytes: [UInt8]
    var from: SocketAddress
  }

  /// Two sockets on one loop; what the second receives arrives.
  actor Pair {
    let loop: EventLoop
    let arrivals = Arrivals<Datagram>()
    private var sender: UDPSocket?
    private var receiver: UDPSocket?
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    init(_ loop: EventLoop) { self.loop = loop }

    func open(_ ip: IPAddress, receiverBuffer: Int32 = 1 << 20) throws -> (SocketAddress, SocketAddress) {
      sender = try UDPSocket(bindingTo: SocketAddress(ip, 0), on: loop) { _, _, _ in }
      var options = UDPSocket.Options()
      options.bufferSize = receiverBuffer
      options.codePoint = 46
      receiver = try UDPSocket(bindingTo: SocketAddress(ip, 0), on: loop, options: options) { [arrivals] datagram, from, arrival in
        let age = MonotonicClock.now() - arrival
        #expect(age >= .zero && age <= .seconds(60))
        arrivals.add(Datagram(bytes: Array(bytes: datagram.bytes), from: from))
      }
      return (sender!.localAddress, receiver!.localAddress)
    }

    func send(_ payloads: [[UInt8]], to address: SocketAddress? = nil) {
      for payload in payloads { sender!.send(payload.span.bytes, to: address ?? receiver!.localAddress) }
      sender!.flush()
    }

    func sendPieces() {
      let (prefix, payload): ([UInt8], [UInt8]) = ([1, 2], [3])
      sender!.send(prefix: prefix.span.bytes, payload.span.bytes, padding: 3, to: receiver!.localAddress)
      sender!.send(to: receiver!.localAddress) { space in
        var writer = ByteWriter(space)
        try! writer.uint32(0xAABB_CCDD)
        return writer.count
      }
      sender!.send(to: receiver!.localAddress) { _ in 0 }
      sender!.flush()
    }

    func counters() -> (sent: Counters, received: Counters) { (sender!.counters, receiver!.counters) }
    func packets() -> (sent: Int, received: Int) { (sender!.packetsSent, receiver!.packetsReceived) }
    func close() {
      sender?.close()
      receiver?.close()
      receiver?.close()
    }
  }

  @Test(arguments: [IPAddress.loopback4, .loopback6]) func datagramsArriveWholeAndInOrderFromTheirSender(ip: IPAddress) async throws {
    let fixture = LoopFixture()
    let pair = Pair(fixture.loop)
    let (from, _) = try await pair.open(ip)
    let payloads = (0..<200).map { [UInt8](repeating: UInt8($0), count: 1 + $0 * 6) }
    await pair.send(payloads)
    for payload in payloads { #expect(await pair.arrivals.next() == Datagram(bytes: payload, from: from)) }
    #expect(await pair.packets() == (200, 200))
    #expect(await pair.counters().sent == Counters())
    await pair.close()
  }

  @Test func aDatagramIsPutTogetherFromItsPieces() async throws {
    let fixture = LoopFixture()
    let pair = Pair(fixture.loop)
    _ = try await pair.open(.loopback4)
    await pair.sendPieces()
    #expect(await pair.arrivals.next()?.bytes == [1, 2, 3, 0, 0, 0])
    #expect(await pair.arrivals.next()?.bytes == [0xAA, 0xBB, 0xCC, 0xDD])
    #expect(await pair.packets().sent == 2)
    await pair.close()
  }

  @Test func whatCannotBeSentIsCountedAndTheRestGoesOut() async throws {
    let fixture = LoopFixture()
    let pair = Pair(fixture.loop)
    _ = try await pair.open(.loopback4)
    await pair.send([[UInt8](repeating: 0, count: 2_049)])
    await pair.send([[1]], to: SocketAddress("192.0.2.77:0")!)  // port 0 cannot be sent to
    await pair.send([[2]], to: SocketAddress("[2001:db8::1]:9")!)  // nor an address of another family
    await pair.send([[3]])
    #expect(await pair.arrivals.next()?.bytes == [3])
    let counters = await pair.counters().sent
    #expect(counters["udp.tooLarge"] == 1)
    #expect(counters.values.values.reduce(0, +) == 3)
    #expect(await pair.packets().sent == 1)
    await pair.close()
  }

  @Test func aDatagramTooLargeForAPacketIsCountedByTheReceiver() async throws {
    let fixture = LoopFixture()
    let pair = Pair(fixture.loop)
    let (_, to) = try await pair.open(.loopback4)
    let plain = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    let sent = to.withSockaddr { address, length in sendto(plain, [UInt8](repeating: 1, count: 3_000), 3_000, 0, address, length) }
    #expect(sent == 3_000)
    close(plain)
    await pair.send([[7]])
    #expect(await pair.arrivals.next()?.bytes == [7])
    #expect(await pair.counters().received["udp.truncated"] == 1)
    await pair.close()
  }

  @Test func anAddressInUseIsAnErrorThatNamesIt() async throws {
    let fixture = LoopFixture()
    let loop = fixture.loop
    let message = await loop.perform { () -> String in
      do {
        let first = try UDPSocket(bindingTo: SocketAddress(.loopback4, 0), on: loop) { _, _, _ in }
        defer { first.close() }
        _ = try UDPSocket(bindingTo: first.localAddress, on: loop) { _, _, _ in }
        return "no error"
      } catch { return "\(error)" }
    }
    #expect(message.hasPrefix("bind 127.0.0.1:") && message.hasSuffix(": Address already in use"))
  }
}
