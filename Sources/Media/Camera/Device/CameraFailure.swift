import Glibc
import V4L2

/// Why a camera gives no pictures.
public enum CameraFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// It is not there.
  case absent(String)
  /// Another program holds it.
  case busy(String)
  /// It is there and does not work.
  case broken(String)

  /// What the kernel's refusal means.
  public init(_ error: V4L2Error) {
    if error.isBusy {
      self = .busy(error.description)
    } else if error.isGone {
      self = .absent(error.description)
    } else {
      self = .broken(error.description)
    }
  }

  public var description: String {
    switch self {
    case .absent(let reason), .busy(let reason), .broken(let reason): reason
    }
  }
}
