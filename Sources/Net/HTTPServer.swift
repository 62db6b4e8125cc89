import Base
import CMicroHTTPD
import Glibc
import Synchronization

/// A small HTTP server (libmicrohttpd) for the built-in answering peer and for tests. One thread serves all connections; handlers are asynchronous.
public final class HTTPServer: Sendable {
  /// Answers a request.
  public typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// What the server shows in TLS.
  public struct Identity: Sendable {
    /// Private key and certificate chain as PEM text.
    public let (key, certificate): (String, String)
    /// An identity.
    public init(key: String, certificate: String) { (self.key, self.certificate) = (key, certificate) }
  }

  /// Where it listens, with the port that the kernel chose when none was asked for.
  public let address: SocketAddress
  private let connections: HTTPConnections

  /// Listens on `address`, by default any free port of the loopback. Content of requests is limited to `maximumBody` bytes.
  public init(
    on address: SocketAddress = SocketAddress(.loopback4, 0), identity: Identity? = nil, maximumBody: Int = 1 << 20,
    handler: @escaping Handler
  ) throws(SystemError) {
    connections = HTTPConnections(handler: handler, maximumBody: maximumBody, scheme: identity == nil ? "http" : "https")
    let context = Unmanaged.passUnretained(connections).toOpaque()
    errno = 0
    let daemon = address.withSockaddr { pointer, _ in
      http_daemon_start(
        pointer, HTTPConnections.begin, HTTPConnections.access, HTTPConnections.completed, context, 30, 256, identity?.key,
        identity?.certificate)
    }
    guard let daemon else { throw SystemError("listen on \(address)", code: errno == 0 ? EINVAL : errno) }
    self.address = SocketAddress(address.ip, http_daemon_port(daemon))
    connections.start(daemon)
  }

  deinit { stop() }

  /// `http://127.0.0.1:8080` or alike, without a path.
  public var origin: String { "\(connections.scheme)://\(address)" }

  /// Cuts all connections and ends the thread. Requests that wait are answered with 503 where there is time, or cut. It may be called again.
  public func stop() { connections.stop() }
}

/// The requests of a server that are being served.
final class HTTPConnections: @unchecked Sendable {
  // Unchecked because of the daemon's pointer: it is set before and cleared after the daemon's thread is served, under the lock.

  /// One request, from its first line to the end of the answer. It belongs to the daemon's thread, and to the handler's task while its connection is suspended.
  final class Exchange: @unchecked Sendable {
    // Unchecked because of that: suspending and resuming, under the lock of `HTTPConnections`, hand it over.
    let target: String
    var connection: OpaquePointer?
    var isBegun = false
    var body: [UInt8] = []
    var response: HTTPResponse?
    init(target: String) { self.target = target }
  }

  private struct State: @unchecked Sendable {
    // Unchecked for the daemon's pointer, which libmicrohttpd lets any thread use.
    var daemon: OpaquePointer?
    var suspended: [ObjectIdentifier: Exchange] = [:]
    var isStopping = false
  }

  let scheme: String
  private let handler: HTTPServer.Handler
  private let maximumBody: Int
  private let state = Mutex(State())

  init(handler: @escaping HTTPServer.Handler, maximumBody: Int, scheme: String) {
    (self.handler, self.maximumBody, self.scheme) = (handler, maximumBody, scheme)
  }

  func start(_ daemon: OpaquePointer) {
    let started = State(daemon: daemon)
    state.withLock { $0.daemon = started.daemon }
  }

  func stop() {
    let stopped = state.withLock { state -> State in
      state.isStopping = true
      for exchange in state.suspended.values {
        exchange.response = HTTPResponse(503)
        MHD_resume_connection(exchange.connection)
      }
      state.suspended = [:]
      defer { state.daemon = nil }
      return state
    }
    if let daemon = stopped.daemon { MHD_stop_daemon(daemon) }
  }

  // MARK: The daemon's callbacks

  static let begin: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
    _, target, _ in
    Unmanaged.passRetained(Exchange(target: target.map { String(cString: $0) } ?? "/")).toOpaque()
  }

  static let completed:
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, MHD_RequestTerminationCode)
      -> Void = {
        _, _, exchange, _ in
        if let pointer = exchange?.pointee { Unmanaged<Exchange>.fromOpaque(pointer).release() }
        exchange?.pointee = nil
      }

  static let access: MHD_AccessHandlerCallback = { context, connection, _, method, _, content, size, exchange in
    guard let context, let connection, let method, let size, let pointer = exchange?.pointee else { return .NO }
    return Unmanaged<HTTPConnections>.fromOpaque(context).takeUnretainedValue().handle(
      Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue(), connection, String(cString: method), content, size)
  }

  private func handle(
    _ exchange: Exchange, _ connection: OpaquePointer, _ method: String, _ content: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    if !exchange.isBegun {
      exchange.isBegun = true
      let length = MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length").flatMap { Int(String(cString: $0)) }
      return length ?? 0 > maximumBody ? send(HTTPResponse(413), connection) : .YES
    }
    if size.pointee > 0 {
      guard exchange.body.count + size.pointee <= maximumBody, let content else { return .NO }
      exchange.body.append(contentsOf: UnsafeRawBufferPointer(start: content, count: size.pointee))
      size.pointee = 0
      return .YES
    }
    if let response = exchange.response { return send(response, connection) }
    guard let request = request(exchange, connection, method) else { return send(HTTPResponse(400), connection) }
    let isSuspended = state.withLock { state in
      guard !state.isStopping else { return false }
      exchange.connection = connection
      MHD_suspend_connection(connection)
      state.suspended[ObjectIdentifier(exchange)] = exchange
      return true
    }
    guard isSuspended else { return send(HTTPResponse(503), connection) }
    Task { finish(exchange, await handler(request)) }
    return .YES
  }

  private func finish(_ exchange: Exchange, _ response: HTTPResponse) {
    state.withLock { state in
      guard state.suspended.removeValue(forKey: ObjectIdentifier(exchange)) != nil else { return }  // answered by `stop`
      exchange.response = response
      MHD_resume_connection(exchange.connection)
    }
  }

  private func request(_ exchange: Exchange, _ connection: OpaquePointer, _ method: String) -> HTTPRequest? {
    var headers = HTTPHeaders()
    withUnsafeMutablePointer(to: &headers) { pointer in
      _ = MHD_get_connection_values(
        connection, .HEADER_KIND,
        { context, _, name, value in
          guard let context, let name else { return .YES }
          context.assumingMemoryBound(to: HTTPHeaders.self).pointee.add(String(cString: name), value.map { String(cString: $0) } ?? "")
          return .YES
        }, pointer)
    }
    guard exchange.target.hasPrefix("/"), let url = try? HTTPURL("\(scheme)://\(headers["Host"] ?? "localhost")\(exchange.target)") else {
      return nil
    }
    var request = HTTPRequest(method, url, headers: headers, body: exchange.body)
    request.remoteAddress = http_client_address(connection).flatMap { SocketAddress(UnsafeRawPointer($0)) }
    return request
  }

  private func send(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
    var body = response.body
    let count = body.count
    guard let answer = MHD_create_response_from_buffer(count, &body, .RESPMEM_MUST_COPY) else { return .NO }
    defer { MHD_destroy_response(answer) }
    for field in response.headers.fields { MHD_add_response_header(answer, field.name, field.value) }
    return MHD_queue_response(connection, UInt32(response.status), answer)
  }
}
