import FoundationEssentials

/// What nobody else may read, such as a password: in the configuration itself, or in a file beside it. It never shows in logs and messages.
public enum Secret: Sendable, Hashable {
  /// The secret itself.
  case text(String)
  /// The path of a file whose first line is the secret.
  case file(String)

  /// Why a secret cannot be had.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// One sentence for a person.
    public let description: String
  }

  /// The longest line that is taken for a secret, in bytes.
  static let maximumLength = 65_536

  /// The secret: of a file the first line, as it is then, without its end and without a byte order mark. Throws when there is none.
  public func read() throws(Failure) -> String {
    guard case .file(let path) = self else {
      guard case .text(let text) = self else { preconditionFailure("a secret is a text or in a file") }
      return text
    }
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw Failure(description: "the file \(path) cannot be read")
    }
    var line = data.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
    guard !line.isEmpty else { throw Failure(description: "the first line of the file \(path) is empty") }
    guard line.count <= Secret.maximumLength, let text = String(validating: line, as: UTF8.self), !text.utf8.contains(0) else {
      throw Failure(description: "the first line of the file \(path) is no text")
    }
    return text
  }

  /// The path of the file, when the secret lies in one.
  public var path: String? { if case .file(let path) = self { path } else { nil } }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The file's path, or that there is a secret.
  public var description: String { path.map { "in \($0)" } ?? "(hidden)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
