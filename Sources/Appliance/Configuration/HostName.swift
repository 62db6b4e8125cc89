import Base

/// Names of hosts (RFC 1123 section 2.1).
enum HostName {
  /// Whether `text` is one: labels of letters, digits and hyphens between dots.
  static func isValid(_ text: String) -> Bool {
    text.utf8.count <= 253
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 < 128 && Character(Unicode.Scalar($0)).isLetterOrDigit) }
      }
  }

  /// Whether `text` names a host or is an address.
  static func isHost(_ text: String) -> Bool { IPAddress(text) != nil || (isValid(text) && !text.allSatisfy { $0.isNumber || $0 == "." }) }

  /// Takes `HOST`, `HOST:PORT`, `ADDRESS`, `[ADDRESS]:PORT` apart; nil when it is nothing of that.
  static func split(_ text: String) -> (host: String, port: UInt16?)? {
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      let (host, rest) = (String(text[text.index(after: text.startIndex)..<end]), text[text.index(after: end)...])
      guard IPAddress(host)?.family == .v6 else { return nil }
      if rest.isEmpty { return (host, nil) }
      guard rest.hasPrefix(":"), let port = port(rest.dropFirst()) else { return nil }
      return (host, port)
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), isHost(String(parts[0])) else { return nil }
    if parts.count == 1 { return (String(parts[0]), nil) }
    return port(parts[1]).map { (String(parts[0]), $0) }
  }

  private static func port(_ text: Substring) -> UInt16? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(text), port > 0 else { return nil }
    return port
  }
}

extension Character {
  fileprivate var isLetterOrDigit: Bool { isLetter || isNumber }
}
