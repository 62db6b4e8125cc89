/// The description of `parlor.toml` for people, in Markdown.
enum ConfigurationReference {
  /// A page about all tables and keys.
  static var page: String {
    var lines = [
      "# parlor.toml: every key", "",
      "Made from the program's own description by `parlor check --describe reference`; changes belong there (`Sources/Appliance/Configuration/Description`). `parlor.schema.json` beside it tells",
      "editors the same. Relative paths start from the file's folder. An unknown key is an error.", "",
    ]
    for table in ConfigurationDescription.tables {
      lines += ["## `\(heading(of: table))`", "", table.summary, ""]
      lines += ["| Key | Accepted | Without it | Means |", "| --- | --- | --- | --- |"]
      lines += table.keys.map { key in
        let secret = key.isSecret ? " Secret." : ""
        return row(["`\(key.name)`", key.value.text, standard(of: key), sentence(key.summary) + secret])
      }
      lines.append("")
    }
    return lines.joined(separator: "\n")
  }

  /// All keys in one table, for the README.
  static var table: String {
    var lines = ["| Key | Without it | Means |", "| --- | --- | --- |"]
    for table in ConfigurationDescription.tables {
      // The twins are told about once.
      for key in table.keys where !(key.isSecret && key.name.hasSuffix("_file")) {
        lines.append(row(["`\(table.path).\(key.name)`", standard(of: key), key.summary]))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func heading(of table: ConfigurationTable) -> String {
    if table.isInline { return "[\(table.parent)] \(table.name) = " + (table.isList ? "[{ … }]" : "{ … }") }
    return table.isList ? "[[\(table.path.dropLast(2))]]" : "[\(table.path)]"
  }

  private static func standard(of key: ConfigurationKey) -> String {
    key.standard.map { "`\($0)`" } ?? key.otherwise ?? "must be there"
  }

  private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

  private static func row(_ cells: [String]) -> String {
    "| " + cells.map { $0.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|") }.joined(separator: " | ") + " |"
  }
}

extension ConfigurationKey.Value {
  /// Which texts are accepted, where words say it; nil: the kind says all.
  var form: String? {
    switch self {
    case .text(let form, _), .file(let form): form == "a text" ? nil : form
    case .list(let item), .oneOrList(let item): item.form
    case .either(let kinds): kinds.lazy.compactMap(\.form).first
    default: nil
    }
  }

  /// What is accepted, in one cell of a table.
  var text: String {
    switch self {
    case .boolean: "true, false"
    case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .number(let range): "\(ConfigurationKey.Value.short(range.lowerBound)) to \(ConfigurationKey.Value.short(range.upperBound))"
    case .words, .integers: accepted.map { "`\($0)`" }.joined(separator: ", ")
    case .text(let form, _): form
    case .file(let form): "the path of \(form)"
    case .list(let item): "a list: \(item.text)"
    case .oneOrList(let item): "one or a list: \(item.text)"
    case .either(let kinds): kinds.map(\.text).joined(separator: ", or ")
    }
  }

  private static func short(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }
}
