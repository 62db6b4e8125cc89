import Base
import Bytes
import CLinux
import Glibc

/// A connection between two programs on this machine, on an event loop. Belongs to the loop's thread.
public final class UnixStream {
  /// What the owner is told. After `close()` nothing more.
  public struct Handlers {
    /// Bytes came in.
    public var received: (RawSpan) -> Void
    /// What waited to be sent shrank to no more than ``lowWater`` bytes.
    public var drained: () -> Void
    /// It is over; nil when the other end closed it in order.
    public var closed: (SystemError?) -> Void

    /// The three handlers.
    public init(
      received: @escaping (RawSpan) -> Void, drained: @escaping () -> Void = {}, closed: @escaping (SystemError?) -> Void
    ) {
      (self.received, self.drained, self.closed) = (received, drained, closed)
    }
  }

  /// Who is told; set before the loop runs on.
  public var handlers: Handlers?
  /// The user at the other end, nil when the system does not say.
  public let peerUser: UInt32?
  /// Below this many waiting bytes the owner is told that it may go on.
  public var lowWater = 256 << 10
  /// How many bytes wait because the other end reads slower than this one sends.
  public var bufferedByteCount: Int { outgoing.count - sentCount }

  private let loop: EventLoop
  private var descriptor: Int32
  private var registration: EventLoop.Registration?
  private var outgoing: [UInt8] = []
  private var sentCount = 0
  private var interest: EventLoop.Readiness = .readable
  private var isAboveLowWater = false

  /// Bytes read at a time.
  private static let pieceCount = 128 << 10
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: UnixStream.pieceCount, alignment: 64)

  /// A stream over a connected, non-blocking descriptor, which it owns from now on.
  init(adopting descriptor: Int32, on loop: EventLoop) throws(SystemError) {
    loop.checkIsolated()
    (self.loop, self.descriptor) = (loop, descriptor)
    peerUser = UInt32(exactly: linux_peer_user(descriptor))
    do throws(SystemError) {
      registration = try loop.register(descriptor, for: .readable) { [weak self] ready in self?.handle(ready) }
    } catch {
      Glibc.close(descriptor)
      self.descriptor = -1
      throw error
    }
  }

  /// Connects to the socket at `path`, at once.
  public convenience init(connectingTo path: String, on loop: EventLoop) throws(SystemError) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    let status = withUnixAddress(path) { Glibc.connect(descriptor, $0, $1) }
    guard status == 0 else {
      let error = SystemError("connect \(path)", code: status == nil ? ENAMETOOLONG : errno)
      Glibc.close(descriptor)
      throw error
    }
    try self.init(adopting: descriptor, on: loop)
  }

  deinit {
    if descriptor >= 0, loop.isCurrent { close() } else if descriptor >= 0 { Glibc.close(descriptor) }
    buffer.deallocate()
  }

  /// Sends `head` and then `bytes`, at once or as soon as the other end reads. The owner keeps `bufferedByteCount` within its limits.
  public func send(_ head: RawSpan, _ bytes: RawSpan) {
    guard descriptor >= 0 else { return }
    var (headSent, bodySent) = (0, 0)
    if bufferedByteCount == 0 {
      let count = head.withUnsafeBytes { head in
        bytes.withUnsafeBytes { linux_send_pieces(descriptor, head.baseAddress, head.count, $0.baseAddress, $0.count) }
      }
      if count > 0 {
        headSent = min(count, head.byteCount)
        bodySent = count - headSent
      } else if errno != EAGAIN, errno != EWOULDBLOCK, errno != EINTR {
        return fail(SystemError("send"))
      }
    }
    guard headSent < head.byteCount || bodySent < bytes.byteCount else { return }
    outgoing.append(bytes: head.extracting(headSent..<head.byteCount))
    outgoing.append(bytes: bytes.extracting(bodySent..<bytes.byteCount))
    followBuffer()
  }

  /// Reads on, or leaves what comes to the kernel's buffer, so that the other end has to wait.
  public func setReading(_ isReading: Bool) {
    watch(isReading ? interest.union(.readable) : interest.subtracting(.readable))
  }

  /// Closes the connection; what waits is dropped. No handler is called any more. It may be called again.
  public func close() {
    if let registration { loop.unregister(registration) }
    registration = nil
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
    (outgoing, sentCount, handlers) = ([], 0, nil)
  }

  private func fail(_ error: SystemError?) {
    // Later, for the owner may be in the midst of sending.
    loop.schedule(at: .zero) { [weak self] in self?.end(error) }
  }

  private func end(_ error: SystemError?) {
    guard descriptor >= 0 else { return }
    let closed = handlers?.closed
    close()
    closed?(error)
  }

  private func handle(_ ready: EventLoop.Readiness) {
    if ready.contains(.writable) { write() }
    if !ready.isDisjoint(with: [.readable, .error, .hangUp]) { read() }
  }

  private func read() {
    let buffer = self.buffer  // bound first: the optimiser of Swift 6.3.1 aborts on a span of a property in a loop
    // A few pieces, then the other sockets have their turn.
    for _ in 0..<4 {
      guard descriptor >= 0 else { return }
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      guard count >= 0 else {
        if errno == EINTR { continue }
        if errno != EAGAIN && errno != EWOULDBLOCK { end(SystemError("receive")) }
        return
      }
      guard count > 0 else { return end(nil) }
      handlers?.received(buffer.bytes.extracting(first: count))
      if count < buffer.count || !interest.contains(.readable) { return }
    }
  }

  private func write() {
    while sentCount < outgoing.count {
      let count = outgoing.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sentCount, outgoing.count - sentCount, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        if errno != EAGAIN, errno != EWOULDBLOCK { return fail(SystemError("send")) }
        break
      }
      sentCount += count
    }
    if sentCount == outgoing.count {
      // The storage of ordinary traffic is kept, that of a rare large picture is not.
      outgoing.removeAll(keepingCapacity: outgoing.capacity <= 1 << 20)
      sentCount = 0
    } else if sentCount > 1 << 20 {
      outgoing.removeFirst(sentCount)
      sentCount = 0
    }
    followBuffer()
  }

  private func followBuffer() {
    let waiting = bufferedByteCount
    watch(waiting > 0 ? interest.union(.writable) : interest.subtracting(.writable))
    if waiting > lowWater {
      isAboveLowWater = true
    } else if isAboveLowWater {
      isAboveLowWater = false
      handlers?.drained()
    }
  }

  private func watch(_ wanted: EventLoop.Readiness) {
    guard wanted != interest, let registration else { return }
    interest = wanted
    loop.update(registration, for: wanted)
  }
}
