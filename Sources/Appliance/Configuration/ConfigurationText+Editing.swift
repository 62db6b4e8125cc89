extension ConfigurationText {
  /// What is wrong with a change of one key.
  public struct EditFailure: Error, Equatable, CustomStringConvertible {
    /// One sentence for a person.
    public let description: String
  }

  /// A step of a key's full name: a name, or a number in brackets.
  enum Step {
    case name(String)
    case index(Int)
  }

  /// The text with `literal`, a TOML value, behind the key of this full name, such as `display.rotate` or `network.wifi[0].password`. Everything else stays as it is, comments too.
  ///
  /// A table that is not there yet is added at the end; so is the entry of a list of tables whose number comes next.
  func setting(_ key: String, to literal: String) throws(EditFailure) -> [UInt8] {
    var steps = try ConfigurationText.steps(of: key)
    guard case .name(let name)? = steps.popLast() else {
      throw EditFailure(description: "\(key) is a place in a list; the whole list can be set")
    }
    let document: TOMLDocument
    do { document = try TOMLDocument(bytes) } catch { preconditionFailure("the text has been parsed before") }
    guard let table = try find(steps, of: key, in: document.root) else { return appending(steps, name, literal) }
    guard case .table(let members) = table.content else {
      throw EditFailure(description: "\(key): what it would stand in is \(table.kindName)")
    }
    if let value = members[name] {
      if case .table = value.content, !isInline(value) { throw EditFailure(description: "\(key) is a table; one of its keys can be set") }
      if case .array(let items) = value.content, let first = items.first, case .table = first.content, !isInline(first) {
        throw EditFailure(description: "\(key) is a list of tables; one of their keys can be set, as \(key)[0].KEY")
      }
      let start = offset(of: value.position)
      return Array(bytes[..<start]) + Array(literal.utf8) + Array(bytes[ConfigurationText.endOfValue(in: bytes, at: start)...])
    }
    let line = "\(name) = \(literal)"
    if isInline(table) {
      let start = offset(of: table.position) + 1
      return Array(bytes[..<start]) + Array((members.isEmpty ? " \(line) " : " \(line),").utf8) + Array(bytes[start...])
    }
    return inserting(line, into: steps, table)
  }

  /// Whether a text is a value of TOML, and nothing more.
  static func isValue(_ literal: String) -> Bool {
    guard let document = try? TOMLDocument(Array("key = \(literal)".utf8)), case .table(let members) = document.root.content else {
      return false
    }
    return members.count == 1 && !literal.contains { $0.isNewline }
  }

  // MARK: Names

  static func steps(of key: String) throws(EditFailure) -> [Step] {
    var steps: [Step] = []
    for part in key.split(separator: ".", omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != "[" }
      guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }) else {
        throw EditFailure(description: "\"\(key)\" is no name of a key; accepted: as display.mode or network.wifi[0].password")
      }
      steps.append(.name(String(name)))
      for index in part[name.endIndex...].split(separator: "[", omittingEmptySubsequences: true) {
        guard index.last == "]", let number = Int(index.dropLast()), number >= 0, number < 1_000 else {
          throw EditFailure(description: "\"\(key)\" is no name of a key; accepted: as display.mode or network.wifi[0].password")
        }
        steps.append(.index(number))
      }
    }
    return steps
  }

  /// The value of a full name; nil when it is not there. Throws for a name that is none, and for an entry that a list does not have.
  func value(of key: String) throws(EditFailure) -> JSON? {
    let steps = try ConfigurationText.steps(of: key)
    guard let document = try? TOMLDocument(bytes), let node = try find(steps, of: key, in: document.root) else { return nil }
    return JSON(node)
  }

  /// All values.
  var values: JSON { (try? TOMLDocument(bytes)).map { JSON($0.root) } ?? .null }

  func find(_ steps: [Step], of key: String, in root: TOMLDocument.Node) throws(EditFailure) -> TOMLDocument.Node? {
    var node = root
    for step in steps {
      switch (step, node.content) {
      case (.name(let name), .table(let members)):
        guard let next = members[name] else { return nil }
        node = next
      case (.index(let index), .array(let items)):
        guard index <= items.count else { throw EditFailure(description: "\(key): the list has \(items.count) entries, counted from 0") }
        guard index < items.count else { return nil }
        node = items[index]
      default: throw EditFailure(description: "\(key): what it would stand in is \(node.kindName)")
      }
    }
    return node
  }

  // MARK: Places

  func offset(of position: TOMLDocument.Position) -> Int {
    var (line, start) = (1, 0)
    while line < position.line, let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) { (line, start) = (line + 1, end + 1) }
    return min(start + position.column - 1, bytes.count)
  }

  func isInline(_ table: TOMLDocument.Node) -> Bool {
    let start = offset(of: table.position)
    return start < bytes.count && bytes[start] == UInt8(ascii: "{")
  }

  /// The line ends of the text.
  private var newline: String { bytes.contains(UInt8(ascii: "\r")) ? "\r\n" : "\n" }

  /// Puts a line right behind the header of a table: whatever follows there belongs to it.
  private func inserting(_ line: String, into steps: [Step], _ table: TOMLDocument.Node) -> [UInt8] {
    guard let start = header(of: steps) else { return appending(steps, nil, line) }
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    let isLast = end == bytes.count && bytes.last != UInt8(ascii: "\n")
    return Array(bytes[..<end]) + Array(((isLast ? newline : "") + line + newline).utf8) + Array(bytes[end...])
  }

  /// Where the line of a table's header begins; nil when the table has none of its own, as the file itself, and those that dotted keys make.
  func header(of steps: [Step]) -> Int? {
    var names: [String] = []
    var index: Int?
    for step in steps {
      switch step {
      case .name(let name): (names, index) = (names + [name], nil)
      case .index(let number): index = number
      }
    }
    let wanted = (index == nil ? "[" : "[[") + names.joined(separator: ".") + (index == nil ? "]" : "]]")
    var (start, count) = (0, 0)
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let text = String(
        decoding: bytes[start..<end].filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r") },
        as: UTF8.self)
      if text == wanted || text.hasPrefix(wanted + "#") {
        if count == index ?? 0 { return start }
        count += 1
      }
      start = end + 1
    }
    return nil
  }

  /// Adds a table with one line at the end; `name` nil: `literal` is the whole line.
  private func appending(_ steps: [Step], _ name: String?, _ literal: String) -> [UInt8] {
    var (path, isList) = ("", false)
    for step in steps {
      if case .name(let name) = step { path += path.isEmpty ? name : ".\(name)" }
      if case .index = step { isList = true } else { isList = false }
    }
    let line = name.map { "\($0) = \(literal)" } ?? literal
    // Keys of the file itself stand in front of all tables.
    if path.isEmpty { return Array((line + newline).utf8) + bytes }
    let header = isList ? "[[\(path)]]" : "[\(path)]"
    let gap = bytes.isEmpty ? "" : (bytes.last == UInt8(ascii: "\n") ? "" : newline) + newline
    return bytes + Array((gap + header + newline + line + newline).utf8)
  }

  /// Where the value that begins at `start` ends.
  static func endOfValue(in bytes: [UInt8], at start: Int) -> Int {
    var (index, depth) = (start, 0)
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        index = endOfLiteral(in: bytes, at: index)
        if depth == 0 { return index }
        continue
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        if depth == 0 { return trimmed(bytes, start, index) }
        depth -= 1
        if depth == 0 { return index + 1 }
      case UInt8(ascii: "#"):
        if depth == 0 { return trimmed(bytes, start, index) }
        index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        continue
      case UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"): if depth == 0 { return trimmed(bytes, start, index) }
      default: break
      }
      index += 1
    }
    return trimmed(bytes, start, index)
  }

  /// The end without the blanks in front of it.
  private static func trimmed(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
    var end = end
    while end > start, bytes[end - 1] == UInt8(ascii: " ") || bytes[end - 1] == UInt8(ascii: "\t") { end -= 1 }
    return end
  }
}

extension JSON {
  /// A value of TOML; null for times, which no key takes.
  init(_ node: TOMLDocument.Node) {
    switch node.content {
    case .table(let members): self = .object(members.mapValues { JSON($0) })
    case .array(let items): self = .array(items.map { JSON($0) })
    case .string(let text): self = .string(text)
    case .integer(let value): self = .integer(value)
    case .float(let value): self = .number(value)
    case .boolean(let value): self = .boolean(value)
    case .time: self = .null
    }
  }
}

extension ConfigurationKey.Value {
  /// TOML values that an operator's word may mean, the likeliest first: a text needs no quotes where a text is wanted, and is taken byte for byte.
  func literals(of word: String) -> [String] {
    switch self {
    case .boolean, .integer, .number, .integers: [word]
    case .text, .file, .words: [ConfigurationText.quoted(word)]
    case .list(let item): word.hasPrefix("[") ? [word] : item.literals(of: word).map { "[\($0)]" }
    case .oneOrList(let item): word.hasPrefix("[") ? [word] : item.literals(of: word)
    case .either(let values): values.flatMap { $0.literals(of: word) }
    }
  }
}
