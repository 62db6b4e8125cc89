/// Reads typed values out of one TOML table, as they are described, and reports what is not.
struct TableReader {
  /// Collects the problems of one file.
  final class Report {
    let file: String
    private(set) var problems: [ConfigurationProblem] = []

    init(file: String) { self.file = file }

    func add(
      _ message: String, key: String, at position: TOMLDocument.Position, accepted: [String] = [],
      severity: ConfigurationProblem.Severity = .error
    ) {
      problems.append(
        ConfigurationProblem(
          severity: severity, file: file, line: position.line, column: position.column, key: key, message: message, accepted: accepted))
    }
  }

  private let values: [String: TOMLDocument.Node]
  private let path: String
  let report: Report
  /// Where the table begins.
  let position: TOMLDocument.Position

  /// A reader of `node`; nil, and a problem reported, when that is no table.
  init?(_ node: TOMLDocument.Node, path: String, report: Report) {
    (self.path, self.report, position) = (path, report, node.keyPosition)
    guard case .table(let values) = node.content else {
      report.add("expected a table, found \(node.kindName)", key: path, at: node.position)
      return nil
    }
    self.values = values
  }

  /// The full name of one of the table's keys.
  func name(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// What may stand behind `key`.
  private func description(of key: String) -> ConfigurationKey.Value {
    guard let description = ConfigurationDescription.key(name(of: key)) else {
      preconditionFailure("\(name(of: key)) is read, and not described")
    }
    return description.value
  }

  /// Where the value of `key` stands; the table's own place when it has none.
  func position(of key: String) -> TOMLDocument.Position { values[key]?.position ?? position }

  /// What is accepted behind `key`, for messages.
  func accepted(_ key: String) -> [String] { description(of: key).accepted }

  /// Whether the table has `key`.
  func has(_ key: String) -> Bool { values[key] != nil }

  /// Whether the value of `key` is a list of nothing.
  func isEmptyList(_ key: String) -> Bool { if case .array(let items)? = values[key]?.content { items.isEmpty } else { false } }

  /// Whether the value of `key` is a whole number.
  func isInteger(_ key: String) -> Bool { if case .integer? = values[key]?.content { true } else { false } }

  /// Reports an error about the value of `key`.
  func fail(_ key: String, _ message: String, accepted: [String] = []) {
    report.add(message, key: name(of: key), at: position(of: key), accepted: accepted)
  }

  /// Reports an error about one entry of the list that `key` names.
  func fail(_ key: String, _ message: String, at index: Int, accepted: [String] = []) {
    var position = position(of: key)
    if case .array(let items)? = values[key]?.content, items.indices.contains(index) { position = items[index].position }
    report.add(message, key: "\(name(of: key))[\(index)]", at: position, accepted: accepted)
  }

  /// Reports that one entry of the list that `key` names has no effect, or not the one expected.
  func warn(_ key: String, _ message: String, at index: Int) {
    var position = position(of: key)
    if case .array(let items)? = values[key]?.content, items.indices.contains(index) { position = items[index].position }
    report.add(message, key: "\(name(of: key))[\(index)]", at: position, severity: .warning)
  }

  /// Reports that the value of `key` has no effect, or not the one expected.
  func warn(_ key: String, _ message: String) {
    report.add(message, key: name(of: key), at: position(of: key), severity: .warning)
  }

  private func failKind(_ key: String, _ node: TOMLDocument.Node, expected: String) {
    report.add("expected \(expected), found \(node.kindName)", key: name(of: key), at: node.position)
  }

  func string(_ key: String) -> String? {
    guard let node = values[key] else { return nil }
    guard case .string(let text) = node.content else {
      failKind(key, node, expected: "a text in quotes")
      return nil
    }
    guard !text.isEmpty, !text.utf8.contains(where: { $0 < 32 || $0 == 127 }) else {
      fail(key, text.isEmpty ? "is empty" : "contains a control character")
      return nil
    }
    return text
  }

  func boolean(_ key: String) -> Bool? {
    guard let node = values[key] else { return nil }
    guard case .boolean(let value) = node.content else {
      report.add("expected true or false, found \(node.kindName)", key: name(of: key), at: node.position, accepted: ["true", "false"])
      return nil
    }
    return value
  }

  /// A whole number, in the range that is described, if one is.
  func integer(_ key: String) -> Int? {
    guard let node = values[key] else { return nil }
    guard case .integer(let wide) = node.content else {
      failKind(key, node, expected: "a whole number")
      return nil
    }
    let value = Int(clamping: wide)
    guard let range = description(of: key).integerRange, !range.contains(value) else { return value }
    fail(key, "\(wide) is out of range", accepted: ["\(range.lowerBound) to \(range.upperBound)"])
    return nil
  }

  /// One of a set of integers.
  func integer<Choice: CaseIterable & RawRepresentable<Int>>(_ key: String, as type: Choice.Type) -> Choice? {
    guard let value = integer(key) else { return nil }
    if let choice = Choice(rawValue: value) { return choice }
    fail(key, "\(value) is not accepted", accepted: Choice.allCases.map { "\($0.rawValue)" })
    return nil
  }

  /// A number with or without a fraction, in the range that is described.
  func number(_ key: String) -> Double? {
    guard let node = values[key] else { return nil }
    let value: Double
    switch node.content {
    case .integer(let integer): value = Double(integer)
    case .float(let float): value = float
    default:
      failKind(key, node, expected: "a number")
      return nil
    }
    guard case .number(let range) = description(of: key) else { preconditionFailure("\(name(of: key)) is described as a number") }
    if range.contains(value) { return value }
    fail(key, "\(value) is out of range", accepted: ["\(range.lowerBound) to \(range.upperBound)"])
    return nil
  }

  /// One of a set of words.
  func word<Choice: CaseIterable & RawRepresentable<String>>(_ key: String, as type: Choice.Type) -> Choice? {
    guard let text = string(key) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    fail(key, "\"\(text)\" is not accepted", accepted: Choice.allCases.map { "\"\($0.rawValue)\"" })
    return nil
  }

  /// A text that `read` understands.
  func value<Value>(_ key: String, _ read: (String) -> Value?) -> Value? {
    guard let text = string(key) else { return nil }
    if let value = read(text) { return value }
    fail(key, "\"\(text)\" is not accepted", accepted: accepted(key))
    return nil
  }

  /// A list of texts, each with its place in the list; one text alone is a list of one where that is described. What is no text is reported and left out.
  func texts(_ key: String) -> [(index: Int, text: String)] {
    guard let node = values[key] else { return [] }
    var items: [TOMLDocument.Node] = [node]
    if case .array(let list) = node.content {
      items = list
    } else if case .list = description(of: key) {
      failKind(key, node, expected: "a list of texts")
      return []
    }
    var texts: [(index: Int, text: String)] = []
    for (index, item) in items.enumerated() {
      let name = "\(name(of: key))[\(index)]"
      if case .string(let text) = item.content {
        if text.isEmpty { report.add("is empty", key: name, at: item.position) } else { texts.append((index, text)) }
      } else {
        report.add("expected a text, found \(item.kindName)", key: name, at: item.position)
      }
    }
    return texts
  }

  /// A list of texts, as `texts` reads them; nil without the key.
  func strings(_ key: String) -> [String]? {
    let texts = texts(key).map(\.text)
    return has(key) ? texts : nil
  }

  /// A list of texts that `read` understands. nil without the key.
  func values<Value>(_ key: String, _ read: (String) -> Value?) -> [Value]? {
    var values: [Value] = []
    for (index, text) in texts(key) {
      if let value = read(text) {
        values.append(value)
      } else {
        fail(key, "\"\(text)\" is not accepted", at: index, accepted: accepted(key))
      }
    }
    return has(key) ? values : nil
  }

  /// A table of its own.
  func table(_ key: String) -> TableReader? {
    guard let node = values[key] else { return nil }
    return TableReader(node, path: name(of: key), report: report)
  }

  /// A list of tables.
  func tables(_ key: String) -> [TableReader] {
    guard let node = values[key] else { return [] }
    guard case .array(let items) = node.content else {
      report.add(
        "expected a list of tables, found \(node.kindName)", key: name(of: key), at: node.position, accepted: ["[[\(name(of: key))]]"])
      return []
    }
    return items.enumerated().compactMap { TableReader($1, path: "\(name(of: key))[\($0)]", report: report) }
  }

  /// Reports each key that is not described, with the known one that comes nearest, and each that must be there and is not.
  func finish() {
    for key in ConfigurationDescription.table(path)?.keys ?? [] where key.isRequired && !has(key.name) {
      fail(key.name, "is missing", accepted: key.value.accepted)
    }
    let known = ConfigurationDescription.names(in: path)
    for (key, node) in values where !known.contains(key) {
      let nearest = NearestName.find(key, among: known)
      report.add(
        "unknown key" + (nearest.map { "; did you mean \($0)?" } ?? ""), key: name(of: key), at: node.keyPosition,
        accepted: nearest == nil ? known.sorted() : [])
    }
  }
}
