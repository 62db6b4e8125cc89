import WebRTC

/// The answer to `connection.getStats` as text (RFC 8259).
///
/// Pages ask for statistics more often than for anything else, and a report has hundreds of members: it is written here byte by byte,
/// since a general encoder would take most of the time that a report takes.
struct StatisticsText {
  private var bytes: [UInt8] = []

  /// The whole reply to the request `id`.
  static func reply(_ id: UInt32, _ report: [StatisticsDictionary]) -> [UInt8] {
    var text = StatisticsText()
    text.bytes.reserveCapacity(report.count * 512)
    text.add(#"{"type":"reply","id":\#(id),"value":{"report":["#)
    var isFirst = true
    for dictionary in report {
      text.addSeparator(&isFirst)
      text.add(dictionary.lazy.map { ($0.name, $0.value) }) { text, value in text.add(value) }
    }
    text.add("]}}")
    return text.bytes
  }

  private mutating func add(_ ascii: String) { bytes.append(contentsOf: ascii.utf8) }

  private mutating func addSeparator(_ isFirst: inout Bool) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
  }

  private mutating func add<Value>(
    _ members: some Sequence<(String, Value)>, _ write: (inout StatisticsText, Value) -> Void
  ) {
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    for (name, value) in members {
      addSeparator(&isFirst)
      addQuoted(name)
      bytes.append(UInt8(ascii: ":"))
      write(&self, value)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private mutating func add(_ value: StatisticValue) {
    switch value {
    case .number(let value): add(value)
    case .integer(let value): add(value)
    case .text(let value): addQuoted(value)
    case .flag(let value): add(value ? "true" : "false")
    case .numbers(let values): add(values.lazy.map { ($0.key, $0.value) }) { text, value in text.add(value) }
    case .null: add("null")
    }
  }

  private mutating func add(_ value: Int) {
    guard value >= 0 else { return add("\(value)") }
    let start = bytes.count
    var rest = value
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  private mutating func add(_ value: Double) {
    if let whole = Int(exactly: value) { return add(whole) }
    // Numbers that JSON does not have come from nowhere; should one come, the rest of the report still arrives.
    guard value.isFinite else { return add(value.isNaN ? #""NaN""# : value < 0 ? #""-Infinity""# : #""Infinity""#) }
    add("\(value)")
  }

  private mutating func addQuoted(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    bytes.append(contentsOf: value.utf8)
    if bytes[start...].contains(where: StatisticsText.isEscaped) { escape(from: start) }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func isEscaped(_ byte: UInt8) -> Bool { byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }

  private mutating func escape(from start: Int) {
    let digits = Array("0123456789abcdef".utf8)
    let plain = Array(bytes[start...])
    bytes.removeSubrange(start...)
    for byte in plain {
      if byte < 0x20 {
        add(#"\u00"#)
        bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        if StatisticsText.isEscaped(byte) { bytes.append(UInt8(ascii: "\\")) }
        bytes.append(byte)
      }
    }
  }
}
