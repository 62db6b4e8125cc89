import Base
import CLinux
import Glibc
import Synchronization

/// The socket that operators' verbs talk to: `control.sock` in the runtime folder, one request and one answer a line.
///
/// Whoever may write to the socket may use every verb: its mode (0660) and the folder's decide.
public final class ControlSocket: Sendable {
  /// What a verb answers with.
  public enum Answer: Sendable {
    /// One value.
    case value(any Encodable & Sendable)
    /// A value now and one after each `interval` (in seconds), until there is none or the asker goes away.
    case stream(interval: Double, next: @Sendable () -> (any Encodable & Sendable)?)
  }

  /// Does what a request asks; throws `VerbFailure` when it cannot.
  ///
  /// It is called on a thread of the connection's own, and may wait there: operators are answered even when everything else is busy.
  public typealias Handler = @Sendable (ControlRequest) throws(VerbFailure) -> Answer

  /// Why the socket could not be opened.
  public enum Failure: Error, Equatable, CustomStringConvertible {
    /// Another `parlor run` answers there.
    case inUse(path: String)
    /// The system refused.
    case system(path: String, reason: String)

    public var description: String {
      switch self {
      case .inUse(let path): "\(path): another parlor run is using it"
      case .system(let path, let reason): "\(path): \(reason)"
      }
    }
  }

  /// Requests answered at the same time; others are told to come again.
  static let maximumConnections = 16

  private struct State {
    var handlers: [String: Handler] = [:]
    var connections: [ObjectIdentifier: UnixSocket] = [:]
    var isClosed = false
  }

  /// Where the socket is.
  public let path: String
  private let listener: UnixSocket
  private let lock: UnixSocket.Lock
  private let state = Mutex(State())

  /// Opens `control.sock` in `folder`, in place of a stale one. Answers nothing before `start`.
  public init(folder: String) throws(Failure) {
    path = folder.hasSuffix("/") ? folder + "control.sock" : folder + "/control.sock"
    lock = try ControlSocket.takeLock(path: path)
    let descriptor = UnixSocket.open()
    guard descriptor >= 0 else { throw ControlSocket.systemFailure(path) }
    listener = UnixSocket(descriptor: descriptor)
    // The lock is ours: whatever stands here is left over.
    unlink(path)
    guard let status = unsafe UnixSocket.withAddress(path, { unsafe bind(descriptor, $0, $1) }) else {
      throw .system(path: path, reason: "the path is too long for a socket")
    }
    // Nobody can connect before `listen`, so there is no moment with another mode.
    guard status == 0, chmod(path, 0o660) == 0, listen(descriptor, 16) == 0 else { throw ControlSocket.systemFailure(path) }
  }

  private static func systemFailure(_ path: String) -> Failure {
    .system(path: path, reason: unsafe String(cString: strerror(errno)))
  }

  /// A lock file beside the socket tells a live one from a stale one, without a race between the two.
  private static func takeLock(path: String) throws(Failure) -> UnixSocket.Lock {
    let descriptor = Glibc.open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw systemFailure(path) }
    let lock = UnixSocket.Lock(descriptor: descriptor)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw errno == EWOULDBLOCK ? .inUse(path: path) : systemFailure(path)
    }
    return lock
  }

  deinit { stop() }

  /// Has `verb` done by `handler` from now on.
  public func register(_ verb: String, _ handler: @escaping Handler) {
    state.withLock { $0.handlers[verb] = handler }
  }

  /// Begins to answer.
  public func start() {
    ControlSocket.startThread(name: "control") { [weak self, listener] in
      while true {
        let descriptor = accept(listener.descriptor, nil, nil)
        if descriptor < 0 {
          // Interrupted, or the asker left before it was accepted; anything else means that the socket was shut down.
          if errno == EINTR || errno == ECONNABORTED { continue }
          if errno == EMFILE || errno == ENFILE || errno == ENOMEM {
            Log.error("control socket: \(unsafe String(cString: strerror(errno)))")
            usleep(100_000)
            continue
          }
          return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard let self else {
          close(descriptor)
          return
        }
        self.serve(UnixSocket(descriptor: descriptor))
      }
    }
  }

  /// Ends all connections and removes the socket. Harmless when repeated.
  public func stop() {
    let connections = state.withLock { state -> [UnixSocket]? in
      guard !state.isClosed else { return nil }
      state.isClosed = true
      return Array(state.connections.values)
    }
    guard let connections else { return }
    unlink(path)
    listener.shutDown()
    for connection in connections { connection.shutDown() }
  }

  private func serve(_ socket: UnixSocket) {
    let identifier = ObjectIdentifier(socket)
    let isAdmitted = state.withLock { state in
      guard !state.isClosed, state.connections.count < ControlSocket.maximumConnections else { return false }
      state.connections[identifier] = socket
      return true
    }
    // An asker that does not read its answers must not hold a thread for ever.
    socket.setTimeout(seconds: 30)
    guard isAdmitted else {
      _ = socket.write(ControlResponse.failure(VerbFailure(.unavailable, "too many requests at once")).line)
      return
    }
    let user = Asker.userName(linux_peer_user(socket.descriptor))
    ControlSocket.startThread(name: "control verb") { [weak self] in
      var lines = UnixSocket.LineReader(socket, maximumLength: ControlRequest.maximumLength)
      while let line = lines.next(), let self, self.answer(line, from: user, to: socket) {}
      self?.state.withLock { _ = $0.connections.removeValue(forKey: identifier) }
    }
  }

  /// Answers one request; false when the connection is of no more use.
  private func answer(_ line: [UInt8], from user: String, to socket: UnixSocket) -> Bool {
    do throws(VerbFailure) {
      let request = try ControlRequest(line: line)
      switch try perform(request, by: Asker(user: user, claims: request.from)) {
      case .value(let value):
        return socket.write(ControlResponse.value(try ControlSocket.json(value), more: false).line)
      case .stream(let interval, let next):
        while let value = next() {
          guard socket.write(ControlResponse.value(try ControlSocket.json(value), more: true).line) else { return false }
          guard socket.rest(seconds: interval) else { return false }
        }
        return socket.write(ControlResponse.value(.null, more: false).line)
      }
    } catch {
      if error.exitCode == .badData { Log.warning("control: refused a request of \(user): \(error)") }
      return socket.write(ControlResponse.failure(error).line) && line.count <= ControlRequest.maximumLength
    }
  }

  /// Does what a request asks, and writes down who had something done.
  private func perform(_ request: ControlRequest, by asker: Asker) throws(VerbFailure) -> Answer {
    let handlers = state.withLock { $0.handlers }
    guard let handler = handlers[request.verb] else {
      let nearest = NearestName.find(request.verb, among: handlers.keys).map { "; did you mean \"\($0)\"?" } ?? ""
      throw VerbFailure(.usage, "unknown verb \"\(request.verb)\"\(nearest)")
    }
    guard let deed = request.deed else {
      Log.info("control: \(request.verb) by \(asker)")
      return try handler(request)
    }
    do throws(VerbFailure) {
      let answer = try handler(request)
      Log.notice("\(asker) \(deed)")
      return answer
    } catch {
      if error.exitCode == .notPermitted { Log.notice("\(asker) was refused \(request.verb): \(error)") }
      throw error
    }
  }

  private static func json(_ value: any Encodable & Sendable) throws(VerbFailure) -> JSON {
    if let json = value as? JSON { return json }
    do { return try JSON(value) } catch { throw VerbFailure(.internalError, "the answer cannot be written: \(error)") }
  }

  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
  }

  private static func startThread(name: String, _ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let argument = unsafe Unmanaged.passRetained(Work(name: name, body: body)).toOpaque()
    let status = unsafe pthread_create(
      &thread, nil,
      { @Sendable argument in
        let work = unsafe Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue()
        linux_set_thread_name(work.name)
        work.body()
        return nil
      }, argument)
    precondition(status == 0, "the machine has no room for one more thread")
    pthread_detach(thread)
  }
}

extension UnixSocket {
  /// An open file whose lock says that its socket is alive.
  final class Lock: Sendable {
    private let descriptor: Int32
    init(descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }
  }
}
