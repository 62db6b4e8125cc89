import Glibc

/// The verbs' side of the control socket.
public struct ControlClient: Sendable {
  /// Where the runtime folder is when nothing else says so.
  public static let defaultFolder = "/run/parlor"

  /// Where `control.sock` is.
  public let path: String
  private let asker: Asker?

  /// A client of the `parlor run` whose runtime folder is `folder`, on behalf of `asker`.
  public init(folder: String, asker: Asker? = nil) {
    self.asker = asker
    path = folder.hasSuffix("/") ? folder + "control.sock" : folder + "/control.sock"
  }

  /// Sends a request and gives each answer to `receive` until there are no more, or `receive` returns false.
  public func perform(_ request: ControlRequest, receive: (JSON) throws(VerbFailure) -> Bool) throws(VerbFailure) {
    let socket: UnixSocket
    do throws(UnixSocket.Failure) {
      socket = try UnixSocket.connect(path: path)
    } catch {
      switch error.code {
      case ENOENT, ECONNREFUSED:
        throw VerbFailure(.unavailable, "parlor run does not answer at \(path); is it running? (--runtime DIR says where)")
      case EACCES, EPERM: throw VerbFailure(.notPermitted, "\(path): this user may not control parlor")
      default: throw VerbFailure(.unavailable, "\(path): \(unsafe String(cString: strerror(error.code)))")
      }
    }
    socket.setTimeout(seconds: 60)
    // Turned away, the request finds nobody to read it; the answer that says why is there all the same.
    var request = request
    if let asker { request.from = asker.claims }
    _ = socket.write(request.line)
    var lines = UnixSocket.LineReader(socket, maximumLength: 1 << 26)
    while true {
      guard let line = lines.next() else { throw VerbFailure(.unavailable, "\(path): the connection broke off before the answer came") }
      switch try ControlResponse(line: line) {
      case .failure(let failure): throw failure
      case .value(.null, more: false) where request.arguments["watch"]?.boolean == true: return
      case .value(let value, let more): if try !receive(value) || !more { return }
      }
    }
  }

  /// Sends a request that has one answer, and returns that.
  public func perform(_ request: ControlRequest) throws(VerbFailure) -> JSON {
    var answer = JSON.null
    try perform(request) { value in
      answer = value
      return true
    }
    return answer
  }
}
