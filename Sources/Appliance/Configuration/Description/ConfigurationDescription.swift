/// All tables and keys of `parlor.toml`.
enum ConfigurationDescription {
  /// The tables, each behind the one that it stands in.
  static let tables = call + devices + system

  private static let tablesByPath = Dictionary(uniqueKeysWithValues: tables.map { ($0.path, $0) })
  private static let keysByPath = Dictionary(
    uniqueKeysWithValues: tables.flatMap { table in table.keys.map { ("\(table.path).\($0.name)", $0) } })

  /// A name such as `network.wifi[1].ssid` as the description has it: `network.wifi[].ssid`.
  static func path(of name: String) -> String {
    var result = ""
    for character in name where !character.isNumber || result.last != "[" { result.append(character) }
    return result
  }

  /// The key of this full name; nil when there is none.
  static func key(_ name: String) -> ConfigurationKey? { keysByPath[path(of: name)] }

  /// The table of this full name; nil when there is none.
  static func table(_ name: String) -> ConfigurationTable? { tablesByPath[path(of: name)] }

  /// The names that can stand in the table of this full name, tables included; in the file itself when it is empty.
  static func names(in name: String) -> [String] {
    let path = path(of: name)
    return (tablesByPath[path]?.keys.map(\.name) ?? []) + tables.filter { $0.parent == path }.map(\.name)
  }
}

extension Configuration {
  /// The full names of the keys whose values nobody else may read, `[]` behind the names of lists: `network.wifi[].password`.
  public static let secretKeys = ConfigurationDescription.tables.flatMap { table in
    table.keys.filter { key in if case .text = key.value { key.isSecret } else { false } }.map { "\(table.path).\($0.name)" }
  }
}
