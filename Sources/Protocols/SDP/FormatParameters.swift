/// A codec's parameters: what stands behind the payload type in `a=fmtp` (RFC 8866 section 6.15).
public struct FormatParameters: Sendable, Hashable, CustomStringConvertible {
  /// One parameter.
  public struct Entry: Sendable, Hashable {
    public var name: String
    /// Nil where there is no equals sign, as in RED's `111/111`.
    public var value: String?
  }

  /// The parameters as written.
  public private(set) var text: String

  /// The parameters written as `text`, such as `minptime=10;useinbandfec=1`.
  public init(_ text: String) { self.text = text }

  /// The parameters in order, spaces around them removed.
  public var entries: [Entry] {
    text[...].parts(";").compactMap { part in
      let entry = part.trimmed
      if entry.isEmpty { return nil }
      guard let (name, value) = entry.cut("=") else { return Entry(name: String(entry), value: nil) }
      return Entry(name: String(name.trimmed), value: String(value.trimmed))
    }
  }

  /// The value of the first parameter with this name, whose case does not matter. Setting keeps the parameter's place or appends it; nil
  /// removes it.
  public subscript(name: String) -> String? {
    get { entries.first { $0.name.lowercased() == name.lowercased() }?.value }
    set {
      var all = entries
      if let index = all.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) {
        if let newValue { all[index].value = newValue } else { all.remove(at: index) }
      } else if let newValue {
        all.append(Entry(name: name, value: newValue))
      }
      text = all.map { entry in entry.value.map { "\(entry.name)=\($0)" } ?? entry.name }.joined(separator: ";")
    }
  }

  /// The parameter as a number; nil when it is missing or is none.
  public func integer(_ name: String) -> Int? { self[name].flatMap { $0[...].number(Int.self) } }

  /// Takes the parameters of a second line for the same payload type.
  mutating func append(_ more: String) { text = text.isEmpty ? more : "\(text);\(more)" }

  public var description: String { text }
}
