/// One key of `parlor.toml`, described once: the reader, the reference, the schema for editors and the care for secrets all go by it.
struct ConfigurationKey: Sendable {
  /// What may stand behind a key.
  indirect enum Value: Sendable {
    case boolean
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// One of some words.
    case words([String])
    /// One of some whole numbers.
    case integers([Int])
    /// A text; `form` says for people which, `pattern` for editors (ECMA 262), where that can be said.
    case text(form: String, pattern: String? = nil)
    /// The path of a file, seen from the configuration's folder; `form` says which.
    case file(form: String)
    /// A list of texts.
    case list(Value)
    /// One text, or a list of them.
    case oneOrList(Value)
    /// One of several kinds.
    case either([Value])
  }

  /// The name in its table.
  var name: String
  /// What may stand behind it.
  var value: Value
  /// The value that holds without the key, as TOML; nil: none, and `otherwise` says what holds.
  var standard: String?
  /// What holds without the key, where no value says it.
  var otherwise: String?
  /// Whether the table makes no sense without it.
  var isRequired = false
  /// Whether nobody else may read it; of a file, what is in the file.
  var isSecret = false
  /// A value to show, as TOML; nil: `standard`.
  var example: String?
  /// What it is for.
  var summary: String

  /// A key with the value `standard` where the file does not name it.
  init(_ name: String, _ value: Value, standard: String, example: String? = nil, _ summary: String) {
    (self.name, self.value, self.standard, self.example, self.summary) = (name, value, standard, example, summary)
  }

  /// A key without which `otherwise` holds; nil: it must be there.
  init(_ name: String, _ value: Value, otherwise: String?, isSecret: Bool = false, example: String, _ summary: String) {
    (self.name, self.value, self.otherwise, self.isSecret, self.example, self.summary) = (
      name, value, otherwise, isSecret, example, summary
    )
    isRequired = otherwise == nil
  }
}

/// A table of `parlor.toml`, described once.
struct ConfigurationTable: Sendable {
  /// The table's name, `[]` behind the names of lists: `network.wifi[]`.
  var path: String
  /// What it is for.
  var summary: String
  /// Of a list: the keys by which its entries are told apart, first the one that is there most often.
  var identity: [String] = []
  /// Whether it is written in one line (`{ … }`).
  var isInline = false
  /// Its keys, tables left out.
  var keys: [ConfigurationKey]

  /// A table with these keys. Each secret text has a twin: the path of a file that holds it.
  init(_ path: String, _ summary: String, identity: [String] = [], isInline: Bool = false, _ keys: [ConfigurationKey]) {
    (self.path, self.summary, self.identity, self.isInline) = (path, summary, identity, isInline)
    self.keys = keys.flatMap { key -> [ConfigurationKey] in
      guard key.isSecret, case .text = key.value else { return [key] }
      let twin = ConfigurationKey(
        "\(key.name)_file", .file(form: "a file whose first line is the \(key.name)"), otherwise: "it stands here, or is not set",
        isSecret: true,
        example: "\"\(key.name)\"", "the \(key.name) in a file of its own, in place of `\(key.name)`")
      return [key, twin]
    }
  }

  /// Whether the file may have several of it.
  var isList: Bool { path.hasSuffix("[]") }
  /// Its own name.
  var name: String { String((isList ? path.dropLast(2) : path[...]).split(separator: ".").last ?? "") }
  /// The path of the table that it stands in; empty for the file itself.
  var parent: String { path.split(separator: ".").dropLast().joined(separator: ".") }
}

extension ConfigurationKey.Value {
  /// What is accepted, for messages.
  var accepted: [String] {
    switch self {
    case .boolean: ["true", "false"]
    case .integer(let range): ["\(range.lowerBound) to \(range.upperBound)"]
    case .number(let range): ["\(range.lowerBound) to \(range.upperBound)"]
    case .words(let words): words.map { "\"\($0)\"" }
    case .integers(let numbers): numbers.map { "\($0)" }
    case .text(let form, _), .file(let form): [form]
    case .list(let item), .oneOrList(let item): item.accepted
    case .either(let kinds): kinds.flatMap(\.accepted)
    }
  }

  /// Where a whole number must lie; nil: that is not described.
  var integerRange: ClosedRange<Int>? {
    switch self {
    case .integer(let range): range
    case .either(let kinds): kinds.lazy.compactMap(\.integerRange).first
    default: nil
    }
  }
}
