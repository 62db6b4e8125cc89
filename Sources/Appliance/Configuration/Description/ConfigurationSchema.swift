/// The description of `parlor.toml` as a JSON Schema (draft 2020-12), for editors.
enum ConfigurationSchema {
  /// The schema's text.
  static var text: String {
    get throws {
      var schema = object(of: "")
      schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
      schema["title"] = "parlor.toml"
      schema["description"] = "Everything that a site decides about its Parlor box."
      return String(decoding: try JSON.text(JSON.object(schema), isPretty: true), as: UTF8.self) + "\n"
    }
  }

  /// What must hold between a table's keys, beside what each of them says.
  private static let constraints: [String: [String: JSON]] = [
    // A page, or a direct call.
    "call": [
      "if": ["required": ["url"]], "then": ["not": ["anyOf": [["required": ["whip"]], ["required": ["whep"]]]]],
      "else": ["anyOf": [["required": ["whip"]], ["required": ["whep"]]]],
    ],
    "network": ["if": ["required": ["wifi"]], "then": ["required": ["country"]]],
    "network.wifi[]": ["oneOf": [["required": ["ssid"]], ["required": ["ssid_hex"]]]],
  ]

  /// The keywords of a table, of the file itself when `path` is empty.
  private static func object(of path: String) -> [String: JSON] {
    let table = ConfigurationDescription.table(path)
    var properties: [String: JSON] = [:]
    for key in table?.keys ?? [] { properties[key.name] = schema(of: key) }
    for child in ConfigurationDescription.tables where child.parent == path {
      var schema = object(of: child.path)
      if child.isList { schema = ["type": "array", "items": .object(schema), "description": .string(child.summary)] }
      properties[child.name] = .object(schema)
    }
    var object: [String: JSON] = ["type": "object", "properties": .object(properties), "additionalProperties": false]
    if let table { object["description"] = .string(table.summary) }
    let required = (table?.keys ?? []).filter(\.isRequired).map { JSON.string($0.name) }
    if !required.isEmpty { object["required"] = .array(required) }
    let twins = (table?.keys ?? []).filter { properties["\($0.name)_file"] != nil }
    if !twins.isEmpty { object["allOf"] = .array(twins.map { ["not": ["required": [.string($0.name), .string("\($0.name)_file")]]] }) }
    return object.merging(constraints[path] ?? [:]) { own, _ in own }
  }

  private static func schema(of key: ConfigurationKey) -> JSON {
    var schema = schema(of: key.value)
    var text = key.summary.prefix(1).uppercased() + key.summary.dropFirst() + "."
    if let form = key.value.form { text += " Accepted: \(form)." }
    if let otherwise = key.otherwise { text += " Without it: \(otherwise)." }
    schema["description"] = .string(text)
    schema["default"] = key.standard.flatMap(json)
    schema["examples"] = key.example.flatMap(json).map { [$0] }
    return .object(schema)
  }

  private static func schema(of value: ConfigurationKey.Value) -> [String: JSON] {
    switch value {
    case .boolean: return ["type": "boolean"]
    case .integer(let range):
      return ["type": "integer", "minimum": .integer(Int64(range.lowerBound)), "maximum": .integer(Int64(range.upperBound))]
    case .number(let range): return ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
    case .words(let words): return ["type": "string", "enum": .array(words.map(JSON.string))]
    case .integers(let numbers): return ["type": "integer", "enum": .array(numbers.map { .integer(Int64($0)) })]
    case .text(_, let pattern?): return ["type": "string", "pattern": .string(pattern)]
    case .text(_, nil), .file: return ["type": "string", "minLength": 1]
    case .list(let item): return ["type": "array", "items": .object(schema(of: item))]
    case .oneOrList(let item): return ["anyOf": [.object(schema(of: item)), .object(schema(of: .list(item)))]]
    case .either(let kinds): return ["anyOf": .array(kinds.map { .object(schema(of: $0)) })]
    }
  }

  /// A value of TOML as JSON.
  private static func json(_ toml: String) -> JSON? {
    guard case .table(let members)? = try? TOMLDocument(Array("x = \(toml)".utf8)).root.content else { return nil }
    return members["x"].flatMap(json)
  }

  private static func json(_ node: TOMLDocument.Node) -> JSON? {
    switch node.content {
    case .string(let text): .string(text)
    case .integer(let number): .integer(number)
    case .float(let number): .number(number)
    case .boolean(let value): .boolean(value)
    case .array(let items): .array(items.compactMap(json))
    case .table(let members): .object(members.compactMapValues(json))
    case .time: nil
    }
  }
}
