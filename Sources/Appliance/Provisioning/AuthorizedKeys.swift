/// A file of public keys, one a line (sshd(8), AUTHORIZED_KEYS FILE FORMAT). Empty lines and those that begin with `#` say nothing.
struct AuthorizedKeys: Sendable, Equatable {
  /// The keys, in the file's order.
  private(set) var keys: [SSHKey] = []
  /// What is wrong, line by line, for people.
  private(set) var failures: [String] = []

  /// Reads a file's bytes, whatever system wrote its line ends.
  init(_ bytes: [UInt8]) {
    let lines = String(decoding: ConfigurationText.utf8(bytes), as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let text = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      if text.isEmpty || text.hasPrefix("#") { continue }
      do throws(SSHKey.Failure) { keys.append(try SSHKey(text)) } catch {
        failures.append(
          "line \(index + 1): \(error.description)"
            + (error.accepted.isEmpty ? "" : "; accepted: " + error.accepted.joined(separator: ", ")))
      }
    }
  }
}
