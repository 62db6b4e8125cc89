import Base
import CLinux
import Glibc

/// A connected stream socket in the file system, read in lines and written in whole, each within a limit of time.
final class UnixSocket: Sendable {
  let descriptor: Int32

  /// Why a socket could not be opened: an `errno` value.
  struct Failure: Error { let code: Int32 }

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Opens the address of `path`, which may have at most 107 bytes.
  static func withAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard !bytes.isEmpty, bytes.count < capacity, !bytes.contains(0) else { return nil }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  static func open() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  }

  /// Connects to the socket at `path`.
  static func connect(path: String) throws(Failure) -> UnixSocket {
    let descriptor = open()
    guard descriptor >= 0 else { throw Failure(code: errno) }
    let socket = UnixSocket(descriptor: descriptor)
    guard let status = unsafe withAddress(path, { unsafe Glibc.connect(descriptor, $0, $1) }) else { throw Failure(code: ENAMETOOLONG) }
    guard status == 0 else { throw Failure(code: errno) }
    return socket
  }

  /// Limits how long a read or write may wait.
  func setTimeout(seconds: Int) {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
  }

  /// Writes all of `bytes`; false when the other side is gone or does not read.
  func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Waits; false, at once, when the other side has gone.
  func rest(seconds: Double) -> Bool {
    var watch = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&watch, 1, Int32(min(3_600, max(0, seconds)) * 1_000)) <= 0
  }

  /// Ends both directions: whoever waits on the socket goes on.
  func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Collects what arrives into lines.
  struct LineReader {
    let socket: UnixSocket
    let maximumLength: Int
    private var pending: [UInt8] = []
    /// How much of `pending` is known to hold no line's end.
    private var searched = 0

    init(_ socket: UnixSocket, maximumLength: Int) { (self.socket, self.maximumLength) = (socket, maximumLength) }

    /// The next line without its end, or the part that is too long; nil when the other side has ended, is silent for too long, or broke off.
    mutating func next() -> [UInt8]? {
      while true {
        if let end = pending[searched...].firstIndex(of: 10) {
          let line = Array(pending[..<end])
          pending.removeSubrange(...end)
          searched = 0
          return line
        }
        searched = pending.count
        if pending.count > maximumLength { return pending }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket.descriptor, $0.baseAddress, $0.count, 0) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return nil }
        pending += buffer[..<count]
      }
    }
  }
}
