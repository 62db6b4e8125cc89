import Base
import Bytes
import CLinux
import Glibc

/// A UDP socket on an event loop. Datagrams come and go in batches of up to 64, without an allocation. Belongs to the loop's thread.
public final class UDPSocket {
  /// How a socket is to be set up.
  public struct Options: Sendable {
    /// The kernel's receive and send buffers in bytes, as far as the system permits: a key frame must fit.
    public var bufferSize: Int32 = 2 << 20
    /// The differentiated services code point of all packets, 0 to 63 (RFC 8837): 46 (EF) for speech, 34 (AF41) for interactive video.
    public var codePoint: UInt8 = 0
    /// Shares the port with other sockets of the machine, as multicast protocols do.
    public var sharesPort = false
    /// The defaults.
    public init() {}
  }

  /// Called with each datagram, which it may change in place (decryption), the sender, and the time at which the kernel took it in.
  public typealias Receiver = (_ datagram: inout MutableRawSpan, _ from: SocketAddress, _ arrival: Instant) -> Void

  /// The address it is bound to, with the port that the kernel chose when none was asked for.
  public let localAddress: SocketAddress
  /// Datagrams dropped, by reason: `udp.truncated`, `udp.blocked`, `udp.refused`, `udp.tooLarge`, `udp.unreachable`, `udp.failed`.
  public private(set) var counters = Counters()
  /// Datagrams and bytes sent and received, without IP and UDP headers.
  public private(set) var (packetsSent, bytesSent, packetsReceived, bytesReceived) = (0, 0, 0, 0)

  private let loop: EventLoop
  private let descriptor: Int32
  private let receiver: Receiver
  private var outgoing = DatagramBatch()
  private var registration: EventLoop.Registration?
  private var isBlocked = false
  private var isClosed = false

  /// Binds a socket to `address` (port 0: any free one) and receives on `loop`.
  public init(
    bindingTo address: SocketAddress, on loop: EventLoop, options: Options = Options(), receiver: @escaping Receiver
  ) throws(SystemError) {
    loop.checkIsolated()
    let isV6 = address.ip.family == .v6
    let descriptor = socket(isV6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    if isV6 { _ = setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
    if options.sharesPort {
      _ = setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
      _ = setOption(descriptor, SOL_SOCKET, SO_REUSEPORT, 1)
    }
    _ = setOption(descriptor, SOL_SOCKET, SO_RCVBUF, options.bufferSize)
    _ = setOption(descriptor, SOL_SOCKET, SO_SNDBUF, options.bufferSize)
    _ = linux_enable_timestamps(descriptor)
    guard address.withSockaddr({ bind(descriptor, $0, $1) }) == 0, let bound = SocketAddress(boundTo: descriptor) else {
      let error = SystemError("bind \(address)")
      Glibc.close(descriptor)
      throw error
    }
    self.loop = loop
    self.descriptor = descriptor
    self.receiver = receiver
    localAddress = bound
    setCodePoint(options.codePoint)
    do {
      registration = try loop.register(descriptor, for: .readable) { [unowned self] ready in self.handle(ready) }
    } catch {
      Glibc.close(descriptor)
      isClosed = true
      throw error
    }
  }

  deinit {
    guard !isClosed else { return }
    // Closing ends the watch as well; the loop may be gone, so its own book is kept only from its thread.
    if loop.isCurrent { close() } else { Glibc.close(descriptor) }
  }

  /// Stops receiving and closes the socket. What was not flushed is dropped. It may be called again.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    if let registration { loop.unregister(registration) }
    Glibc.close(descriptor)
  }

  /// Sets the differentiated services code point, 0 to 63, of the packets to come.
  public func setCodePoint(_ value: UInt8) {
    let trafficClass = Int32(value & 63) << 2
    let done =
      localAddress.ip.family == .v6
      ? setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_TCLASS, trafficClass)
      : setOption(descriptor, Int32(IPPROTO_IP), IP_TOS, trafficClass)
    if !done { Log.info("no code point \(value) on \(localAddress): \(SystemError("setsockopt").reason)") }
  }

  /// Receives what is sent to `group` on the interface with index `interface`, from there only, and sends to groups through it, heard on this machine too.
  public func join(_ group: IPAddress, interface: UInt32) throws(SystemError) {
    let done: Bool
    if group.family == .v4 {
      var request = ip_mreqn()
      request.imr_multiaddr.s_addr = UInt32(truncatingIfNeeded: group.low).bigEndian
      request.imr_ifindex = Int32(bitPattern: interface)
      let size = socklen_t(MemoryLayout<ip_mreqn>.size)
      done =
        setOption(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_ALL, 0) && setOption(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, 255)
        && setsockopt(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, size) == 0
        && setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &request, size) == 0
    } else {
      var request = ipv6_mreq()
      request.ipv6mr_multiaddr = in6_addr(group)
      request.ipv6mr_interface = interface
      done =
        setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, 255)
        && setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_ADD_MEMBERSHIP, &request, socklen_t(MemoryLayout<ipv6_mreq>.size)) == 0
        && setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, Int32(bitPattern: interface))
    }
    guard done else { throw SystemError("join \(group) on interface \(interface)") }
  }

  /// Puts a datagram made of up to three parts into the batch: `prefix`, `payload`, and `padding` zero bytes. It goes out with the next `flush`.
  public func send(prefix: RawSpan, _ payload: RawSpan, padding: Int = 0, to destination: SocketAddress) {
    guard prefix.byteCount + payload.byteCount + padding <= DatagramBatch.datagramSize else { return counters.count("udp.tooLarge") }
    send(to: destination) { target in
      var writer = ByteWriter(target)
      do {
        try writer.copy(prefix)
        try writer.copy(payload)
        try writer.zeros(padding)
      } catch { preconditionFailure("the length was checked") }
      return writer.count
    }
  }

  /// Puts a datagram into the batch. It goes out with the next `flush`.
  public func send(_ payload: RawSpan, to destination: SocketAddress) {
    guard payload.byteCount <= DatagramBatch.datagramSize else { return counters.count("udp.tooLarge") }
    send(to: destination) { target in
      var writer = ByteWriter(target)
      do { try writer.copy(payload) } catch { preconditionFailure("the length was checked") }
      return writer.count
    }
  }

  /// Lets `fill` write a datagram straight into the batch and say how many bytes it wrote; 0 sends nothing. The space is 2,048 bytes.
  /// `fill` must not send on this socket.
  public func send(to destination: SocketAddress, _ fill: (consuming MutableRawSpan) -> Int) {
    guard !isClosed, let slot = slotForSending() else { return counters.count("udp.blocked") }
    let length = fill(slot.mutableBytes)
    precondition(length <= DatagramBatch.datagramSize, "no more than the space given")
    guard length > 0 else { return }
    outgoing.append(count: length, to: destination)
    bytesSent += length
  }

  /// Hands all waiting datagrams to the kernel. What it has no room for goes out as soon as it has; when the batch is full too, new ones are dropped and counted.
  public func flush() {
    guard !isClosed, outgoing.count > 0, !isBlocked else { return }
    let result = outgoing.send(descriptor) { code in
      switch code {
      case ECONNREFUSED: counters.count("udp.refused")
      case EMSGSIZE: counters.count("udp.tooLarge")
      case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL: counters.count("udp.unreachable")
      default: counters.count("udp.failed")
      }
    }
    packetsSent += result.sent
    if result.isBlocked, let registration {
      isBlocked = true
      loop.update(registration, for: [.readable, .writable])
    }
  }

  private func slotForSending() -> UnsafeMutableRawBufferPointer? {
    if let slot = outgoing.nextSlot() { return slot }
    flush()
    return outgoing.nextSlot()
  }

  private func handle(_ ready: EventLoop.Readiness) {
    if ready.contains(.writable), isBlocked, let registration {
      isBlocked = false
      loop.update(registration, for: .readable)
      flush()
    }
    if !ready.isDisjoint(with: [.readable, .error]) { receive() }
  }

  private func receive() {
    // A few batches, then the other sockets have their turn.
    for _ in 0..<4 {
      let count = loop.datagrams.receive(descriptor)
      if count < 0 {
        counters.count(errno == ECONNREFUSED ? "udp.refused" : "udp.failed")
        continue
      }
      let now = MonotonicClock.now()
      for index in 0..<count {
        let (bytes, from, age) = loop.datagrams.received(index)
        guard bytes.count > 0, let from else {
          counters.count("udp.truncated")
          continue
        }
        packetsReceived += 1
        bytesReceived += bytes.count
        var span = bytes.mutableBytes
        receiver(&span, from, now - age)
        if isClosed { return }
      }
      if count < DatagramBatch.capacity { return }
    }
  }
}
