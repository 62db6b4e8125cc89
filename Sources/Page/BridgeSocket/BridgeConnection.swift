import Base
import BridgeMessages
import CGLib
import Glibc

/// One end of `bridge.sock` in a program that runs GLib's main loop: a stream of frames that never blocks. Main thread only.
public final class BridgeConnection {
  /// The most that may wait for the socket, in bytes. What a document sends beyond is an error of the call that sends it.
  public let backlogLimit: Int

  /// Called for each frame that arrives.
  public var onFrame: ((BridgeFrame) -> Void)?
  /// Called once, when the other end is gone or breaks the protocol.
  public var onClose: (() -> Void)?

  private var descriptor: Int32
  private var reader = BridgeFrameReader()
  private var outgoing: [UInt8] = []
  private var outgoingStart = 0
  private var readSource: guint = 0
  private var writeSource: guint = 0
  /// Frames that came while a call waited for its answer.
  private var deferred: [BridgeFrame] = []
  private var deferredSource: guint = 0

  /// Connects to the socket at `path`; nil when nobody listens there.
  public init?(path: String, backlogLimit: Int = 96 << 20) {
    self.backlogLimit = backlogLimit
    descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let utf8 = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard utf8.count < room.count else { return false }
      unsafe room.copyBytes(from: utf8)
      return true
    }
    let connected =
      fits
      && withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
      }
    guard connected, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
      Glibc.close(descriptor)
      return nil
    }
    let this = Unmanaged.passUnretained(self).toOpaque()
    readSource = g_unix_fd_add(
      descriptor, GIOCondition(G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue),
      { _, _, data in
        unsafe Unmanaged<BridgeConnection>.fromOpaque(data!).takeUnretainedValue().readable()
        return 1
      }, this)
  }

  deinit {
    onClose = nil
    close()
    if deferredSource != 0 { g_source_remove(deferredSource) }
  }

  /// Whether the other end is still there.
  public var isOpen: Bool { descriptor >= 0 }

  /// Queues a frame; false when the backlog is full or nobody is at the other end.
  public func send(_ kind: BridgeFrame.Kind, document: UInt32, target: UInt32, payload: UnsafeRawBufferPointer) -> Bool {
    guard isOpen, payload.count <= BridgeFrame.maximumPayload, outgoing.count - outgoingStart + payload.count <= backlogLimit else {
      return false
    }
    if outgoingStart > 0, outgoingStart * 2 >= outgoing.count {
      outgoing.removeFirst(outgoingStart)
      outgoingStart = 0
    }
    outgoing.append(contentsOf: BridgeFrame.header(kind: kind, document: document, target: target, payloadLength: payload.count))
    unsafe outgoing.append(contentsOf: payload)
    if writeSource == 0 { flush() }
    return isOpen
  }

  /// Queues a control message.
  @discardableResult public func send(control text: String, document: UInt32 = 0) -> Bool {
    let utf8 = Array(text.utf8)
    return utf8.withUnsafeBytes { unsafe send(.control, document: document, target: 0, payload: $0) }
  }

  /// Waits for a frame that `isWanted` takes, at most until `deadline` (`g_get_monotonic_time`); all others are delivered afterwards.
  public func wait(until deadline: gint64, for isWanted: (BridgeFrame) -> Bool) -> BridgeFrame? {
    while isOpen {
      while let frame = takeFrame() {
        if isWanted(frame) {
          while let next = takeFrame() { deferred.append(next) }
          scheduleDeferred()
          return frame
        }
        deferred.append(frame)
      }
      scheduleDeferred()
      let remaining = deadline - g_get_monotonic_time()
      guard remaining > 0, isOpen else { return nil }
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN) | (outgoing.isEmpty ? 0 : Int16(POLLOUT)), revents: 0)
      guard unsafe Glibc.poll(&poll, 1, Int32((remaining + 999) / 1000)) > 0 else { continue }
      if poll.revents & Int16(POLLOUT) != 0 { flush() }
      if poll.revents & ~Int16(POLLOUT) != 0 { receive() }
    }
    return nil
  }

  private func scheduleDeferred() {
    guard !deferred.isEmpty, deferredSource == 0 else { return }
    deferredSource = g_idle_add_full(
      G_PRIORITY_DEFAULT,
      { data in
        unsafe Unmanaged<BridgeConnection>.fromOpaque(data!).takeUnretainedValue().deliverDeferred()
        return 0
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
  }

  private func deliverDeferred() {
    deferredSource = 0
    let frames = deferred
    deferred = []
    for frame in frames { onFrame?(frame) }
  }

  private func readable() {
    receive()
    // What was put off came first.
    if !deferred.isEmpty {
      while let frame = takeFrame() { deferred.append(frame) }
      return
    }
    while let frame = takeFrame() { onFrame?(frame) }
  }

  private func receive() {
    guard isOpen else { return }
    var end = false
    withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 16) { room in
      let count = unsafe Glibc.read(descriptor, room.baseAddress!, room.count)
      if count > 0 {
        reader.receive(unsafe UnsafeRawBufferPointer(rebasing: room[..<count]).bytes)
      } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
        end = true
      }
    }
    if end { close() }
  }

  private func takeFrame() -> BridgeFrame? {
    do { return try reader.next() } catch {
      Log.error("bridge: \(error)")
      close()
      return nil
    }
  }

  private func flush() {
    while isOpen, outgoingStart < outgoing.count {
      let count = outgoing.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress! + outgoingStart, $0.count - outgoingStart, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        outgoingStart += count
      } else if errno == EINTR {
        continue
      } else if errno == EAGAIN {
        if writeSource == 0 {
          writeSource = g_unix_fd_add(
            descriptor, G_IO_OUT,
            { _, _, data in
              let connection = unsafe Unmanaged<BridgeConnection>.fromOpaque(data!).takeUnretainedValue()
              connection.flush()
              return connection.writeSource == 0 ? 0 : 1
            }, Unmanaged.passUnretained(self).toOpaque())
        }
        return
      } else {
        close()
        return
      }
    }
    outgoing.removeAll(keepingCapacity: outgoing.capacity <= 1 << 20)
    outgoingStart = 0
    writeSource = 0
  }

  private func close() {
    guard isOpen else { return }
    if readSource != 0 { g_source_remove(readSource) }
    if writeSource != 0 { g_source_remove(writeSource) }
    readSource = 0
    writeSource = 0
    Glibc.close(descriptor)
    descriptor = -1
    outgoing = []
    outgoingStart = 0
    onClose?()
  }
}
