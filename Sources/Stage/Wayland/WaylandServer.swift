import Base
import CLinux
import Glibc
import Synchronization

/// Somebody who wants to connect to the stage, as the kernel says.
public struct WaylandPeer: Sendable, Hashable {
  /// The process.
  public var process: Int32
  /// The user that it runs as.
  public var user: UInt32
}

/// Why the Wayland server could not be started.
public struct WaylandServerError: Error, Equatable, CustomStringConvertible {
  /// What was tried.
  public var operation: String
  /// The system's error number.
  public var code: Int32

  public var description: String { unsafe "the Wayland socket: \(operation): \(String(cString: strerror(code)))" }
}

/// The stage's Wayland server: a socket that web pages and other clients connect to (the Wayland protocol, version 1).
///
/// Belongs to one thread at a time: `StageThread` takes it over when it starts.
public final class WaylandServer: @unchecked Sendable {
  // Unchecked: handed over once, from who makes it to the stage's thread.

  /// The socket's path, for `WAYLAND_DISPLAY`.
  public let path: String
  private let compositor: Wayland.Compositor
  private let epoll: Wayland.Descriptor
  private let listener: Wayland.Descriptor
  private var connections: [Int: Connection] = [:]
  private let published = Mutex(Counters())
  private let isAdmitted: @Sendable (WaylandPeer) -> Bool
  private let onToplevel: @Sendable (ToplevelEvent) -> Void
  private static let listenerToken: UInt64 = 0
  private static let connectionLimit = 64
  private static let hangUp = "it hung up"

  private struct Connection {
    var socket: Wayland.Descriptor
    var client: Wayland.Client
    var isWaitingToWrite = false
    /// Whether messages are left that were not handled at once.
    var hasMore = false
  }

  /// Opens the socket; a socket that stands at `path` is replaced.
  ///
  /// `width`, `height` (in pixels) and `refreshRate` (a second) describe the screen. `isAdmitted` says whether who connects may stay;
  /// `onToplevel` is told of windows. Both are called on the thread that the server belongs to, and must be brief.
  public init(
    path: String, width: Int, height: Int, refreshRate: Double = 60, keyboardLayout: String = "us",
    isAdmitted: @escaping @Sendable (WaylandPeer) -> Bool, onToplevel: @escaping @Sendable (ToplevelEvent) -> Void = { _ in }
  ) throws(WaylandServerError) {
    self.path = path
    (self.isAdmitted, self.onToplevel) = (isAdmitted, onToplevel)
    compositor = Wayland.Compositor(
      output: Wayland.OutputMode(width: width, height: height, refreshRate: refreshRate), keyboardLayout: keyboardLayout)
    listener = try WaylandServer.listen(path)
    epoll = Wayland.Descriptor(owning: linux_epoll_create())
    let status = linux_epoll_set(epoll.number, listener.number, UInt32(linux_readable), WaylandServer.listenerToken, true)
    guard status == 0 else { throw WaylandServerError(operation: "epoll", code: errno) }
  }

  deinit {
    for connection in connections.values {
      compositor.disconnect(connection.client, reason: "the server ends", now: StageThread.now())
    }
    unlink(path)
  }

  private static func listen(_ path: String) throws(WaylandServerError) -> Wayland.Descriptor {
    var address = sockaddr_un()
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else { throw WaylandServerError(operation: "path", code: ENAMETOOLONG) }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let listener = Wayland.Descriptor(owning: socket(AF_UNIX, kind, 0))
    guard listener.number >= 0 else { throw WaylandServerError(operation: "socket", code: errno) }
    unlink(path)
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    // Whoever may connect is decided by `isAdmitted`, not by the file's mode.
    guard status == 0, chmod(path, 0o666) == 0, Glibc.listen(listener.number, 16) == 0 else {
      throw WaylandServerError(operation: "bind", code: errno)
    }
    return listener
  }

  /// What the thread has to poll for reading: `process` has work when one of them is ready.
  var descriptors: [Int32] { [epoll.number] }

  /// Does what there is to do, without waiting. Returns whether there is more, so that nobody may sleep.
  func process() -> Bool {
    var events = [linux_event](repeating: linux_event(), count: 64)
    let count = unsafe linux_epoll_wait(epoll.number, &events, Int32(events.count), 0)
    for event in events.prefix(Int(max(0, count))) {
      if event.token == WaylandServer.listenerToken {
        accept()
      } else if event.events & UInt32(linux_readable | linux_error | linux_hangup) != 0 {
        read(Int(event.token))
      }
    }
    let now = StageThread.now()
    var hasMore = false
    for identifier in connections.keys.sorted() {
      guard let client = connections[identifier]?.client else { continue }
      let isBusy = compositor.dispatch(client, now: now)
      connections[identifier]?.hasMore = isBusy
      hasMore = hasMore || isBusy
    }
    flush()
    return hasMore
  }

  /// Passes on what a person or remote hands do.
  func send(_ input: StageInput) {
    compositor.send(input, now: StageThread.now())
    flush()
  }

  /// Passes on what the on-screen keyboard does.
  func perform(_ action: KeyboardAction) {
    compositor.perform(action, now: StageThread.now())
    flush()
  }

  /// The text field that is typed into; nil when there is none.
  var focusedField: FocusedField? { compositor.focusedField }

  /// The screen is another one now, or has another size: clients are told, and draw anew. On the thread that the server belongs to.
  ///
  /// `width` and `height` are in pixels and `millimetres` is the size of what is seen, all as a viewer sees it; `refreshRate` is a second.
  func setOutput(
    width: Int, height: Int, refreshRate: Double, make: String = "Parlor", model: String = "Stage",
    millimetres: (width: Int, height: Int)? = nil
  ) {
    var mode = Wayland.OutputMode(width: width, height: height, refreshRate: refreshRate)
    (mode.make, mode.model) = (make, model)
    mode.millimetres = millimetres.map { Wayland.OutputMode.PhysicalSize(width: $0.width, height: $0.height) }
    compositor.setOutput(mode, now: StageThread.now())
    flush()
  }

  /// Shows or hides the cursor. The pointer stays where it is.
  func setCursorVisible(_ isVisible: Bool) { compositor.setCursorVisible(isVisible) }

  /// Whether the client under the pointer, if any, leaves it to the stage what the cursor looks like.
  var leavesCursorToStage: Bool { compositor.leavesCursorToStage }

  /// Asks a window's client to close it.
  func close(toplevel identifier: UInt64) {
    compositor.close(identifier)
    flush()
  }

  /// What lies on the screen now; nil when nothing changed since the layers were taken last.
  func takeLayers() -> LayersUpdate? {
    defer { flush() }
    return compositor.takeLayers()
  }

  /// Whether clients have drawn something since the layers were taken last.
  var isContentNew: Bool { compositor.isContentNew }

  /// Whether `presented` has to be called at the next refresh, though nothing may have changed.
  var isRefreshWanted: Bool { compositor.isRefreshWanted }

  /// The layers taken last are on the screen since `time`: clients are told, so that they draw their next picture.
  func presented(at time: Instant, refresh: Interval, sequence: Int) {
    compositor.presented(at: time, refresh: refresh, sequence: sequence)
    flush()
  }

  /// What was dropped or refused, by a stable name. From any thread.
  public var counters: Counters { published.withLock { $0 } }

  // MARK: Connections

  private func accept() {
    while true {
      let number = linux_accept(listener.number)
      guard number >= 0 else { return }
      let socket = Wayland.Descriptor(owning: number)
      var peer = WaylandPeer(process: 0, user: 0)
      guard unsafe linux_peer(socket.number, &peer.process, &peer.user), isAdmitted(peer), connections.count < WaylandServer.connectionLimit
      else {
        Log.warning("process \(peer.process) of user \(peer.user) may not connect to the stage")
        compositor.counters.count("wayland.refused")
        continue
      }
      let client = compositor.connect(Wayland.Peer(process: peer.process, user: peer.user))
      guard linux_epoll_set(epoll.number, socket.number, UInt32(linux_readable), UInt64(client.identifier), true) == 0 else {
        compositor.disconnect(client, reason: "epoll takes no more", now: StageThread.now())
        continue
      }
      connections[client.identifier] = Connection(socket: socket, client: client)
    }
  }

  private func read(_ identifier: Int) {
    guard let connection = connections[identifier] else { return }
    // Who sends faster than its messages are handled has to wait.
    guard !connection.hasMore else { return }
    let capacity = 32_768
    var numbers = [Int32](repeating: -1, count: 253)
    var numberCount = Int32(numbers.count)
    var received = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      received = unsafe linux_receive_descriptors(connection.socket.number, buffer.baseAddress, capacity, &numbers, &numberCount)
      count = max(0, received)
    }
    let code = errno
    let descriptors = numbers.prefix(Int(numberCount)).map { Wayland.Descriptor(owning: $0) }
    if received > 0 {
      compositor.receive(bytes, descriptors: descriptors, from: connection.client, now: StageThread.now())
    } else if received == 0 || (code != EAGAIN && code != EINTR) {
      let reason = received == 0 ? WaylandServer.hangUp : unsafe String(cString: strerror(code))
      compositor.disconnect(connection.client, reason: reason, now: StageThread.now())
    }
  }

  /// Sends what is queued, ends what has to end, and tells the owner about windows.
  private func flush() {
    for (identifier, connection) in connections {
      var isBroken = false
      while !isBroken, !connection.client.outgoing.isEmpty {
        guard let sent = write(connection) else {
          isBroken = true
          break
        }
        if sent == 0 { break }
      }
      if isBroken { compositor.disconnect(connection.client, reason: WaylandServer.hangUp, now: StageThread.now()) }
      if let reason = connection.client.endReason {
        finish(identifier, reason)
        continue
      }
      let wantsToWrite = !connection.client.outgoing.isEmpty
      if wantsToWrite != connection.isWaitingToWrite {
        connections[identifier]?.isWaitingToWrite = wantsToWrite
        let events = UInt32(linux_readable) | (wantsToWrite ? UInt32(linux_writable) : 0)
        _ = linux_epoll_set(epoll.number, connection.socket.number, events, UInt64(identifier), false)
      }
    }
    if compositor.areCountersNew {
      compositor.areCountersNew = false
      published.withLock { $0 = compositor.counters }
    }
    for event in compositor.takeEvents() { onToplevel(event) }
  }

  /// Sends once; nil when the connection is broken, 0 when the socket is full.
  private func write(_ connection: Connection) -> Int? {
    let client = connection.client
    let (byteCount, descriptors) = client.outgoing.chunk()
    let numbers = descriptors.map(\.number)
    let sent = client.outgoing.bytes.withUnsafeBytes { bytes in
      unsafe linux_send_descriptors(connection.socket.number, bytes.baseAddress, byteCount, numbers, Int32(numbers.count))
    }
    guard sent >= 0 else { return errno == EAGAIN || errno == EINTR ? 0 : nil }
    client.outgoing.remove(byteCount: sent, descriptorCount: numbers.count)
    return sent
  }

  private func finish(_ identifier: Int, _ reason: String) {
    guard let connection = connections.removeValue(forKey: identifier) else { return }
    _ = linux_epoll_remove(epoll.number, connection.socket.number)
    let line = "Wayland client \(identifier), process \(connection.client.peer.process): \(reason)"
    if reason == WaylandServer.hangUp {
      Log.info(line)
    } else {
      // What the client did wrong, or what it asked too much of.
      compositor.counters.count("wayland.ended")
      Log.warning(line)
    }
  }
}
