/// How a verb ended, after `sysexits.h`.
public enum ExitCode: Int32, Sendable {
  /// All went well.
  case ok = 0
  /// The command line is wrong.
  case usage = 64
  /// The input is wrong.
  case badData = 65
  /// What was asked for is not there now: no `parlor run`, no call, no answer.
  case unavailable = 69
  /// A fault in Parlor itself.
  case internalError = 70
  /// A file could not be written.
  case cannotCreate = 73
  /// Not permitted to this user, or switched off.
  case notPermitted = 77
  /// The configuration is wrong.
  case badConfiguration = 78
}

/// Why a verb could not do what was asked.
public struct VerbFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// The verb's exit code.
  public var exitCode: ExitCode
  /// One sentence for a person.
  public var description: String

  /// A failure that ends the verb with `exitCode` and tells `description`.
  public init(_ exitCode: ExitCode, _ description: String) { (self.exitCode, self.description) = (exitCode, description) }
}
