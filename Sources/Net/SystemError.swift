import Glibc

/// A system call failed.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What was tried, such as `bind 192.0.2.1:5353`.
  public let operation: String
  /// The `errno` it ended with.
  public let code: Int32

  /// The error `code` of `operation`.
  public init(_ operation: String, code: Int32 = errno) { (self.operation, self.code) = (operation, code) }

  /// The system's text for the code, such as `Connection refused`.
  public var reason: String { String(cString: strerror(code)) }
  /// `bind 192.0.2.1:5353: Address already in use`.
  public var description: String { "\(operation): \(reason)" }
}
