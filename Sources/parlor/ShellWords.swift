import Appliance

/// A line split into words as a POSIX shell splits it (IEEE 1003.1, XCU 2.2 and 2.6.5): blanks part words, quotes and backslashes keep them together.
///
/// Nothing is expanded and nothing is run beside: `$`, `*` and `~` stand for themselves, everywhere. What asks for a second command or a file is refused.
enum ShellWords {
  /// What a shell would take for more than a word, where it stands without quotes in a word of nothing else.
  private static let operators: Set<Character> = [";", "&", "|", "<", ">", "(", ")"]

  /// The words of `line`. Throws when a quote is left open, or when the line asks for more than one command.
  static func split(_ line: String) throws(VerbFailure) -> [String] {
    var words: [String] = []
    // nil: between words. An empty word has been quoted.
    var word: String?
    var (isQuoted, isOperator) = (false, true)
    func finish() throws(VerbFailure) {
      guard let finished = word else { return }
      if !isQuoted, isOperator || finished.last == ";" { throw refusal(finished) }
      words.append(finished)
      (word, isQuoted, isOperator) = (nil, false, true)
    }
    var rest = Substring(line)
    while let character = rest.popFirst() {
      switch character {
      case " ", "\t": try finish()
      case "\n", "\r", "\r\n": if !rest.allSatisfy(\.isWhitespace) { throw refusal("a second line") }
      case "'", "\"":
        word = (word ?? "") + (try quoted(by: character, from: &rest))
        isQuoted = true
      case "\\":
        guard let next = rest.popFirst() else { throw VerbFailure(.usage, "nothing stands behind the last \\") }
        // A line that goes on is one line.
        if next == "\n" { continue }
        word = (word ?? "") + String(next)
        isQuoted = true
      default:
        word = (word ?? "") + String(character)
        isOperator = isOperator && operators.contains(character)
      }
    }
    try finish()
    return words
  }

  /// What stands up to the closing quote, which is taken too.
  private static func quoted(by quote: Character, from rest: inout Substring) throws(VerbFailure) -> String {
    var text = ""
    while let character = rest.popFirst() {
      if character == quote { return text }
      guard quote == "\"", character == "\\", let next = rest.first, "\\\"$`\n".contains(next) else {
        text.append(character)
        continue
      }
      rest.removeFirst()
      if next != "\n" { text.append(next) }
    }
    throw VerbFailure(.usage, "the quote \(quote) is not closed")
  }

  private static func refusal(_ what: String) -> VerbFailure {
    VerbFailure(.usage, "\(what): here is no shell: one verb a line, without pipes, files or a second command; quotes keep such signs")
  }
}
