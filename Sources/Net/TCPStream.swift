import Base
import Bytes
import CLinux
import Glibc

/// Why a stream could not be opened, or ended.
public enum StreamError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Nobody answered in time.
  case timedOut(SocketAddress)
  /// The system refused: connection refused, reset, no route.
  case system(SystemError)
  /// The certificate or the handshake was at fault.
  case tls(TLSError)

  public var description: String {
    switch self {
    case .timedOut(let address): "\(address) does not answer"
    case .system(let error): error.description
    case .tls(let error): error.description
    }
  }
}

/// A TCP connection on an event loop, with TLS when asked for. Belongs to the loop's thread.
public final class TCPStream {
  /// Plain, or protected by TLS.
  public enum Security: Sendable {
    case plain
    /// TLS; the server's certificate must bear `name` (a host name or an IP address) and be vouched for by `trust`.
    case tls(name: String, trust: TrustStore)
  }

  /// What the owner is told. After `close()` nothing more.
  public struct Handlers {
    /// The connection stands, TLS included: sending may begin. Given the local address.
    public var opened: (SocketAddress) -> Void
    /// Bytes came in.
    public var received: (RawSpan) -> Void
    /// It is over; nil when the other end closed it in order.
    public var closed: (StreamError?) -> Void

    /// The three handlers.
    public init(opened: @escaping (SocketAddress) -> Void, received: @escaping (RawSpan) -> Void, closed: @escaping (StreamError?) -> Void)
    {
      (self.opened, self.received, self.closed) = (opened, received, closed)
    }
  }

  private enum State { case connecting, securing, open, closed }

  /// Where it goes.
  public let remoteAddress: SocketAddress
  /// How many bytes wait because the connection is slower than the sender.
  public var bufferedByteCount: Int { outgoing.count - sentCount }
  /// `tcp.blocked`: sends refused because too much was waiting.
  public private(set) var counters = Counters()

  private let loop: EventLoop
  private let handlers: Handlers
  private let maximumBuffered: Int
  private var tls: TLSClient?
  private var state = State.connecting
  private var descriptor: Int32 = -1
  private var registration: EventLoop.Registration?
  private var timer: TimerToken?
  private var outgoing: [UInt8] = []
  private var sentCount = 0
  private var isWaitingToWrite = true

  /// Begins to connect. The outcome, even an immediate one, comes through the handlers, after this returns. `timeout` covers the TLS handshake too.
  /// More than `maximumBuffered` bytes never wait: media that is late is worth nothing.
  public init(
    connectingTo address: SocketAddress, from local: IPAddress? = nil, security: Security = .plain, timeout: Interval = .seconds(10),
    maximumBuffered: Int = 256 << 10, on loop: EventLoop, handlers: Handlers
  ) {
    loop.checkIsolated()
    remoteAddress = address
    self.loop = loop
    self.handlers = handlers
    self.maximumBuffered = maximumBuffered
    if case .tls(let name, let trust) = security { tls = TLSClient(name: name, trust: trust) }
    do throws(SystemError) {
      try connect(from: local)
      timer = loop.schedule(at: MonotonicClock.now() + timeout) { [weak self] in self?.end(.timedOut(address)) }
    } catch {
      timer = loop.schedule(at: .zero) { [weak self] in self?.end(.system(error)) }
    }
  }

  deinit {
    if descriptor >= 0 && loop.isCurrent { close() } else if descriptor >= 0 { Glibc.close(descriptor) }
  }

  private func connect(from local: IPAddress?) throws(SystemError) {
    let family = remoteAddress.ip.family == .v6 ? AF_INET6 : AF_INET
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    _ = setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    _ = setOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    if let local, SocketAddress(local, 0).withSockaddr({ bind(descriptor, $0, $1) }) != 0 { throw SystemError("bind \(local)") }
    if remoteAddress.withSockaddr({ Glibc.connect(descriptor, $0, $1) }) != 0, errno != EINPROGRESS {
      throw SystemError("connect \(remoteAddress)")
    }
    registration = try loop.register(descriptor, for: .writable) { [weak self] ready in self?.handle(ready) }
  }

  /// Sends `bytes`, at once or as soon as the connection takes them. False when the stream is not open, or too much is waiting already: then nothing of `bytes` is sent.
  @discardableResult
  public func send(_ bytes: RawSpan) -> Bool {
    guard state == .open else { return false }
    guard bufferedByteCount + bytes.byteCount <= maximumBuffered else {
      counters.count("tcp.blocked")
      return false
    }
    if tls != nil {
      do {
        try tls?.write(bytes)
        tls?.drain(into: &outgoing)
      } catch {
        loop.schedule(at: .zero) { [weak self] in self?.end(.tls(error)) }
        return false
      }
    } else {
      bytes.withUnsafeBytes { outgoing.append(contentsOf: $0) }
    }
    if !isWaitingToWrite { write() }
    return true
  }

  /// Closes the connection in order. No handler is called any more. It may be called again.
  public func close() {
    if state == .open {
      tls?.finish()
      tls?.drain(into: &outgoing)
      _ = writeOnce()
    }
    release()
  }

  private func release() {
    state = .closed
    if let timer { loop.cancel(timer) }
    if let registration { loop.unregister(registration) }
    (timer, registration) = (nil, nil)
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  private func end(_ error: StreamError?) {
    guard state != .closed else { return }
    release()
    handlers.closed(error)
  }

  private func handle(_ ready: EventLoop.Readiness) {
    switch state {
    case .closed: return
    case .connecting: finishConnecting()
    case .securing, .open:
      if ready.contains(.writable) { write() }
      if !ready.isDisjoint(with: [.readable, .error, .hangUp]) { read() }
    }
  }

  private func finishConnecting() {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    guard code == 0 else { return end(.system(SystemError("connect \(remoteAddress)", code: code))) }
    isWaitingToWrite = false
    if let registration { loop.update(registration, for: .readable) }
    guard tls != nil else { return open() }
    state = .securing
    secure()
  }

  private func open() {
    state = .open
    if let timer { loop.cancel(timer) }
    timer = nil
    handlers.opened(SocketAddress(boundTo: descriptor) ?? SocketAddress(IPAddress(v4: 0), 0))
  }

  /// Carries the handshake on. False when the stream is over.
  private func secure() {
    do {
      try tls?.advance()
    } catch {
      // The alert that says why still goes out.
      tls?.drain(into: &outgoing)
      _ = writeOnce()
      return end(.tls(error))
    }
    tls?.drain(into: &outgoing)
    write()
    if state == .securing, tls?.isConnected == true { open() }
  }

  private func read() {
    // Bound first: the optimiser of Swift 6.3.1 aborts on a span of a property of the loop.
    let buffer = loop.streamBuffer
    // A few pieces, then the other sockets have their turn.
    for _ in 0..<8 {
      guard state != .closed else { return }
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      guard count >= 0 else {
        if errno == EINTR { continue }
        if errno != EAGAIN && errno != EWOULDBLOCK { end(.system(SystemError("receive from \(remoteAddress)"))) }
        return
      }
      guard count > 0 else { return end(nil) }
      if tls == nil {
        handlers.received(buffer.bytes.extracting(first: count))
      } else {
        tls?.receive(buffer.bytes.extracting(first: count))
        if state == .securing { secure() }
        if state == .open { decrypt() }
      }
    }
  }

  private func decrypt() {
    let plain = loop.plainBuffer  // see `read`
    do {
      while state == .open {
        let count = try tls?.read(into: plain) ?? 0
        guard count > 0 else { break }
        handlers.received(plain.bytes.extracting(first: count))
      }
    } catch {
      return end(.tls(error))
    }
    if state == .open, tls?.isFinished == true { end(nil) }
  }

  private func write() {
    guard let registration, state != .closed else { return }
    if let error = writeOnce() { return end(.system(error)) }
    let waits = bufferedByteCount > 0
    if waits != isWaitingToWrite {
      isWaitingToWrite = waits
      loop.update(registration, for: waits ? [.readable, .writable] : .readable)
    }
  }

  private func writeOnce() -> SystemError? {
    while sentCount < outgoing.count {
      let count = outgoing.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sentCount, outgoing.count - sentCount, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        return errno == EAGAIN || errno == EWOULDBLOCK ? nil : SystemError("send to \(remoteAddress)")
      }
      sentCount += count
    }
    outgoing.removeAll(keepingCapacity: true)
    sentCount = 0
    return nil
  }
}
