/// A text that is not a session description: which line, and what is wrong with it.
public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line's number, 1 for the first.
  public var line: Int
  /// The line as it was written; empty when a line is missing.
  public var text: String
  /// What is wrong, as part of a sentence.
  public var reason: String

  public var description: String { text.isEmpty ? "line \(line): \(reason)" : "line \(line), “\(text)”: \(reason)" }
}
