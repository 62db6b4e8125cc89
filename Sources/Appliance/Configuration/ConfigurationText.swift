/// A configuration file's text, and where in it stand secrets and the names of files.
///
/// Whoever keeps a configuration where others can read it takes the secrets out (`withoutSecrets`), and puts them back from the text that was kept (`fillingIn`).
public struct ConfigurationText: Sendable {
  /// The text in UTF-8, without a byte order mark.
  public let bytes: [UInt8]
  /// The file's path, for messages.
  public let file: String
  private let found: [Found]

  /// What stands in place of a secret that the box has and the file has not.
  public static let mark = "(kept on the box)"

  /// A value that names a file.
  public struct FileName: Sendable, Equatable {
    /// The key's full name, such as `network.wifi[0].ca_file`.
    public var key: String
    /// The path as it is written: an absolute one, or one from the configuration's folder.
    public var path: String
    /// The path as seen from here.
    public var absolutePath: String
    /// Whether nobody else may read the file.
    public var isSecret: Bool
  }

  /// A value of a key that is secret or names a file.
  private struct Found {
    var key: String
    /// The key's name with what tells list entries apart in place of their numbers.
    var lastingKey: String
    var value: String
    var position: TOMLDocument.Position
    var isFile: Bool
    var isSecret: Bool
  }

  /// Looks at a file's bytes. Throws when they are no TOML; what else may be wrong is `Configuration`'s business.
  public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
    (self.bytes, self.file) = (ConfigurationText.utf8(bytes), file)
    do throws(TOMLDocument.SyntaxError) {
      let document = try TOMLDocument(self.bytes)
      var found: [Found] = []
      ConfigurationText.visit(document.root, key: "", lastingKey: "", &found)
      self.found = found.sorted { ($0.position.line, $0.position.column) < ($1.position.line, $1.position.column) }
    } catch {
      throw ConfigurationError(
        problems: [
          ConfigurationProblem(
            severity: .error, file: file, line: error.position.line, column: error.position.column, key: "", message: error.message,
            accepted: [])
        ])
    }
  }

  /// The files that the text names, in its order.
  public var files: [FileName] {
    found.filter(\.isFile).map { found in
      FileName(
        key: found.key, path: found.value, absolutePath: ConfigurationText.absolute(found.value, from: file), isSecret: found.isSecret)
    }
  }

  /// The full names of the keys whose secrets stand in the text itself, in its order.
  public var secrets: [String] { secretsFound.filter { $0.value != ConfigurationText.mark }.map(\.key) }

  /// The secrets that stand in the text itself.
  var secretValues: [String] { secretsFound.map(\.value).filter { $0 != ConfigurationText.mark } }

  private var secretsFound: [Found] { found.filter { $0.isSecret && !$0.isFile } }

  /// The text with `mark` in place of each secret, and nothing else changed.
  public func withoutSecrets() -> [UInt8] {
    replacing(secretsFound.map { ($0, "\"\(ConfigurationText.mark)\"") })
  }

  /// The text with secrets of `kept` in place of each `mark`. List entries are the same when what tells them apart is: a radio network's name, an interface, a server.
  /// Throws, with the places, when a secret is not in `kept`.
  public func fillingIn(from kept: ConfigurationText?) throws(ConfigurationError) -> ConfigurationText {
    let marked = secretsFound.filter { $0.value == ConfigurationText.mark }
    if marked.isEmpty { return self }
    let values = Dictionary((kept?.secretsFound ?? []).map { ($0.lastingKey, $0.value) }, uniquingKeysWith: { first, _ in first })
    var problems: [ConfigurationProblem] = []
    var replacements: [(Found, String)] = []
    for mark in marked {
      if let value = values[mark.lastingKey], value != ConfigurationText.mark {
        replacements.append((mark, ConfigurationText.quoted(value)))
      } else {
        problems.append(
          ConfigurationProblem(
            severity: .error, file: file, line: mark.position.line, column: mark.position.column, key: mark.key,
            message: "is not kept on the box: write it here once more", accepted: []))
      }
    }
    guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    return try ConfigurationText(replacing(replacements), file: file)
  }

  /// A path that is written in the configuration `file`, as seen from here.
  static func absolute(_ path: String, from file: String) -> String {
    path.hasPrefix("/") ? path : (file.lastIndex(of: "/").map { String(file[...$0]) } ?? "") + path
  }

  // MARK: Bytes

  /// UTF-8 without a byte order mark, of UTF-8 or UTF-16 with one.
  static func utf8(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
    let isLittle = bytes.starts(with: [0xFF, 0xFE])
    guard isLittle || bytes.starts(with: [0xFE, 0xFF]), bytes.count % 2 == 0 else { return bytes }
    let units = stride(from: 2, to: bytes.count, by: 2).map { index in
      isLittle ? UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8 : UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }
    return String(validating: units, as: UTF16.self).map { Array($0.utf8) } ?? bytes
  }

  /// A basic string of TOML.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.value < 32 || scalar.value == 127:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// The text with other literals in place of values.
  private func replacing(_ replacements: [(found: Found, literal: String)]) -> [UInt8] {
    var result: [UInt8] = []
    var end = 0
    let lineStarts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    for (found, literal) in replacements {
      let start = lineStarts[found.position.line - 1] + found.position.column - 1
      result += bytes[end..<start] + Array(literal.utf8)
      end = ConfigurationText.endOfLiteral(in: bytes, at: start)
    }
    return result + bytes[end...]
  }

  /// Where the string that begins at `start` ends: one of the four kinds of TOML's.
  static func endOfLiteral(in bytes: [UInt8], at start: Int) -> Int {
    let quote = bytes[start]
    precondition(quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"), "a text begins with a quotation mark")
    let isLong = bytes[start...].starts(with: [quote, quote, quote])
    var index = start + (isLong ? 3 : 1)
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        index += 2
      } else if bytes[index] != quote {
        index += 1
      } else if !isLong {
        return index + 1
      } else {
        let run = bytes[index...].prefix { $0 == quote }.count
        // Two of them may belong to the text.
        if run >= 3 { return index + min(run, 5) }
        index += run
      }
    }
    preconditionFailure("a parsed text ends")
  }

  // MARK: The tree

  private static func visit(_ node: TOMLDocument.Node, key: String, lastingKey: String, _ found: inout [Found]) {
    switch node.content {
    case .table(let members):
      for (name, member) in members {
        visit(member, key: key.isEmpty ? name : "\(key).\(name)", lastingKey: lastingKey.isEmpty ? name : "\(lastingKey).\(name)", &found)
      }
    case .array(let items):
      var seen: [String: Int] = [:]
      for (index, item) in items.enumerated() {
        let identity = identity(of: item, in: key)
        seen[identity, default: 0] += 1
        visit(item, key: "\(key)[\(index)]", lastingKey: "\(lastingKey)[\(identity)#\(seen[identity, default: 0])]", &found)
      }
    case .string(let text):
      guard let description = description(of: key) else { return }
      let isFile = description.value.namesFiles
      guard isFile || description.isSecret else { return }
      found.append(
        Found(key: key, lastingKey: lastingKey, value: text, position: node.position, isFile: isFile, isSecret: description.isSecret))
    default: break
    }
  }

  /// The description of a key, or of the list that it is an entry of.
  private static func description(of key: String) -> ConfigurationKey? {
    if let description = ConfigurationDescription.key(key) { return description }
    guard key.hasSuffix("]"), let bracket = key.lastIndex(of: "[") else { return nil }
    return ConfigurationDescription.key(String(key[..<bracket]))
  }

  /// What tells an entry of the list `key` from the others.
  private static func identity(of item: TOMLDocument.Node, in key: String) -> String {
    guard case .table(let members) = item.content, let table = ConfigurationDescription.table("\(key)[]") else { return "" }
    return table.identity.compactMap { name in members[name].map { "\(name)=\(text(of: $0))" } }.joined(separator: ",")
  }

  private static func text(of node: TOMLDocument.Node) -> String {
    switch node.content {
    case .string(let text): quoted(text)
    case .array(let items): items.map(text).joined(separator: " ")
    default: ""
    }
  }
}

extension ConfigurationKey.Value {
  /// Whether the key's texts are paths of files.
  var namesFiles: Bool {
    switch self {
    case .file: true
    case .list(let item), .oneOrList(let item): item.namesFiles
    default: false
    }
  }
}
