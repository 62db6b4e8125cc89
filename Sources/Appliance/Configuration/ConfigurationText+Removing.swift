extension ConfigurationText {
  /// The text without the key of this full name, such as `display.rotate`; without the table or the entry of a list, as `network.wifi[0]`. Everything else stays as it is,
  /// comments too. Nil when it is not there.
  func removing(_ key: String) throws(EditFailure) -> [UInt8]? {
    let steps = try ConfigurationText.steps(of: key)
    guard let document = try? TOMLDocument(bytes), let node = try find(steps, of: key, in: document.root) else { return nil }
    let result = isInline(node) || !isTable(node) ? removing(valueAt: offset(of: node.position)) : removing(tableOf: steps)
    // Looked at as values: a text can say the same in more ways than are known here.
    let wanted = values.removing(steps)
    guard let result, let changed = try? ConfigurationText(result, file: file), changed.values.withoutEmptiness == wanted.withoutEmptiness
    else {
      throw EditFailure(description: "\(key) cannot be taken out of the file by itself; config apply can set the box up with another file")
    }
    return result
  }

  private func isTable(_ node: TOMLDocument.Node) -> Bool {
    switch node.content {
    case .table: return true
    case .array(let items): if case .table? = items.first?.content { return true } else { return false }
    default: return false
    }
  }

  /// The line of a key and its value goes, what is written behind it too; in a table between braces the key alone.
  private func removing(valueAt start: Int) -> [UInt8]? {
    let (newline, end) = (UInt8(ascii: "\n"), ConfigurationText.endOfValue(in: bytes, at: start))
    let before = bytes[..<start]
    let line = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
    // Between braces a comma or a brace stands nearer than the line's beginning, for a name has neither.
    if let separator = before[line...].lastIndex(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "{") }) {
      if bytes[separator] == UInt8(ascii: ",") { return Array(bytes[..<separator] + bytes[end...]) }
      let comma = bytes[end...].firstIndex { $0 != UInt8(ascii: " ") }
      let rest = comma.map { bytes[$0] == UInt8(ascii: ",") ? $0 + 1 : end } ?? end
      return Array(bytes[...separator] + bytes[rest...])
    }
    let next = bytes[end...].firstIndex(of: newline).map { $0 + 1 } ?? bytes.count
    return Array(bytes[..<line] + bytes[next...])
  }

  /// A table goes from its header to the next that is not of a table in it; what is written above that one stays.
  private func removing(tableOf steps: [Step]) -> [UInt8]? {
    guard let start = header(of: steps) else { return nil }
    let path = steps.compactMap { if case .name(let name) = $0 { name } else { nil } }.joined(separator: ".")
    var (next, end) = (lineEnd(start), bytes.count)
    var keep = next
    while next < bytes.count {
      let text = bytes[next..<lineEnd(next)].filter { !" \t\r\n".utf8.contains($0) }
      let name = String(decoding: text.drop { $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self)
      if text.first == UInt8(ascii: "["), !name.hasPrefix(path + ".") {
        end = keep
        break
      }
      next = lineEnd(next)
      if !text.isEmpty, text.first != UInt8(ascii: "#") { keep = next }
    }
    return Array(bytes[..<start] + bytes[end...])
  }

  private func lineEnd(_ start: Int) -> Int { bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count }
}

extension JSON {
  /// The value without what the steps lead to.
  fileprivate func removing(_ steps: some Collection<ConfigurationText.Step>) -> JSON {
    guard let step = steps.first else { return .null }
    let rest = steps.dropFirst()
    switch (step, self) {
    case (.name(let name), .object(var members)):
      members[name] = rest.isEmpty ? nil : members[name]?.removing(rest)
      return .object(members)
    case (.index(let index), .array(var items)) where index < items.count:
      if rest.isEmpty { items.remove(at: index) } else { items[index] = items[index].removing(rest) }
      return .array(items)
    default: return self
    }
  }

  /// The value without objects that hold nothing, and lists that have become empty.
  fileprivate var withoutEmptiness: JSON {
    switch self {
    case .object(let members): .object(members.mapValues(\.withoutEmptiness).filter { $0.value != [:] && $0.value != [] })
    case .array(let items): .array(items.map(\.withoutEmptiness))
    default: self
    }
  }
}
