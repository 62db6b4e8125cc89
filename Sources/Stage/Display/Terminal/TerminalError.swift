import Glibc

/// Why a virtual terminal cannot be owned.
public enum TerminalError: Error, Equatable, CustomStringConvertible {
  /// There is no such device: a kernel without virtual terminals, or a wrong path.
  case absent(path: String)
  /// What is there is no virtual terminal.
  case notVirtual(path: String)
  /// This user may not use it.
  case denied(path: String)
  /// The kernel refused one of the steps, with an error number.
  case refused(step: String, code: Int32)

  /// The error of a system call on the terminal at `path`.
  init(path: String, step: String, code: Int32) {
    switch code {
    case ENOENT, ENXIO, ENODEV: self = .absent(path: path)
    case EACCES, EPERM: self = .denied(path: path)
    case ENOTTY: self = .notVirtual(path: path)
    default: self = .refused(step: "\(path): \(step)", code: code)
    }
  }

  public var description: String {
    switch self {
    case .absent(let path): "\(path): there is no such terminal"
    case .notVirtual(let path): "\(path) is no virtual terminal; accepted: /dev/tty1 to /dev/tty63"
    case .denied(let path): "\(path): this user may not own it; a systemd unit gives it by TTYPath=\(path) and StandardInput=tty"
    case .refused(let step, let code): unsafe "\(step): \(String(cString: strerror(code)))"
    }
  }
}
