import Base
import CLinux
import Glibc

/// A stream socket in the file system that programs on this machine connect to. Belongs to the loop's thread.
public final class UnixListener {
  /// Where it listens.
  public let path: String
  private let loop: EventLoop
  private let accepted: (UnixStream) -> Void
  private var descriptor: Int32
  private var registration: EventLoop.Registration?

  /// Listens at `path` (at most 107 bytes), in place of what a former process left there. Only the own user and, with `mode` 0o660, the group
  /// may connect. Each connection is given to `accepted`, which keeps it and sets its handlers.
  public init(path: String, mode: mode_t = 0o600, on loop: EventLoop, accepted: @escaping (UnixStream) -> Void) throws(SystemError) {
    loop.checkIsolated()
    (self.path, self.loop, self.accepted) = (path, loop, accepted)
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    do throws(SystemError) {
      unlink(path)
      guard let bound = withUnixAddress(path, { bind(descriptor, $0, $1) }) else { throw SystemError("bind \(path)", code: ENAMETOOLONG) }
      guard bound == 0 else { throw SystemError("bind \(path)") }
      guard chmod(path, mode) == 0 else { throw SystemError("chmod \(path)") }
      guard listen(descriptor, 16) == 0 else { throw SystemError("listen \(path)") }
      registration = try loop.register(descriptor, for: .readable) { [weak self] _ in self?.accept() }
    } catch {
      Glibc.close(descriptor)
      descriptor = -1
      throw error
    }
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  private func accept() {
    while true {
      let connection = linux_accept(descriptor)
      guard connection >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        if errno != EAGAIN, errno != EWOULDBLOCK { Log.error("\(path): \(SystemError("accept").reason)") }
        return
      }
      do throws(SystemError) {
        accepted(try UnixStream(adopting: connection, on: loop))
      } catch {
        Log.error("\(path): \(error)")
      }
    }
  }

  /// Takes no more connections and removes the socket's file. It may be called again.
  public func close() {
    guard descriptor >= 0 else { return }
    if let registration { loop.unregister(registration) }
    registration = nil
    Glibc.close(descriptor)
    descriptor = -1
    unlink(path)
  }
}

/// Opens the address of `path`; nil when it does not fit into one.
func withUnixAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = Array(path.utf8)
  guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else { return nil }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
  }
}
