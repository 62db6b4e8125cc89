/// One link of a `Link` header field (RFC 8288).
public struct LinkHeader: Sendable, Equatable, CustomStringConvertible {
  /// A parameter: its name in lower case, its value without quotation.
  public struct Parameter: Sendable, Equatable {
    public let name: String
    public let value: String
    /// A parameter.
    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// What the link leads to, as written.
  public var target: String
  /// The parameters in their order.
  public var parameters: [Parameter]

  /// A link.
  public init(target: String, parameters: [Parameter]) { (self.target, self.parameters) = (target, parameters) }

  /// The value of the first parameter called `name`, given in lower case.
  public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// The relation types in lower case.
  public var relations: [String] { self["rel"]?.split(separator: " ").map { $0.lowercased() } ?? [] }

  /// Reads all links of a field's value. Reading ends at the first place that is not as RFC 8288 section 3 has it; the links before it count.
  public static func parse(_ value: String) -> [LinkHeader] {
    var reader = Reader(bytes: Array(value.utf8))
    var links: [LinkHeader] = []
    while let link = reader.link() { links.append(link) }
    return links
  }

  /// The link as a field's value.
  public var description: String {
    parameters.reduce("<\(target)>") { text, parameter in
      // By scalars: a quotation mark with a combining one after it is one `Character`, but still ends the text.
      let quoted = parameter.value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
      return text + "; \(parameter.name)=\"\(quoted)\""
    }
  }

  private struct Reader {
    let bytes: [UInt8]
    var index = 0

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() { while next == 32 || next == 9 { index += 1 } }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard next == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    private mutating func text(while isPart: (UInt8) -> Bool) -> String {
      let start = index
      while let byte = next, isPart(byte) { index += 1 }
      return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    mutating func link() -> LinkHeader? {
      // Empty list elements are permitted between links.
      while next == 32 || next == 9 || next == UInt8(ascii: ",") { index += 1 }
      guard take("<") else { return nil }
      let target = text { $0 != UInt8(ascii: ">") }
      guard take(">") else { return nil }
      var link = LinkHeader(target: target, parameters: [])
      skipBlanks()
      while take(";") {
        skipBlanks()
        let name = text { ![9, 32, UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) }.lowercased()
        skipBlanks()
        var value = ""
        if take("=") {
          skipBlanks()
          guard let read = self.value() else { return nil }
          value = read
        }
        if !name.isEmpty { link.parameters.append(.init(name: name, value: value)) }
        skipBlanks()
      }
      return next == nil || next == UInt8(ascii: ",") ? link : nil
    }

    /// A token or a quoted text; nil when the quotation does not end.
    private mutating func value() -> String? {
      guard take("\"") else { return text { ![9, 32, UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) } }
      var value: [UInt8] = []
      while let byte = next {
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
        case UInt8(ascii: "\\"):
          guard let escaped = next else { return nil }
          index += 1
          value.append(escaped)
        default: value.append(byte)
        }
      }
      return nil
    }
  }
}
