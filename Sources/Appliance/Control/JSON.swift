import FoundationEssentials

/// A JSON value (RFC 8259), for what has no Swift type of its own: arguments, statistics, answers to be printed.
public enum JSON: Sendable, Hashable, Codable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Decodes whatever stands there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  /// Encodes the value. A number that JSON cannot hold becomes null.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): if value.isFinite { try container.encode(value) } else { try container.encodeNil() }
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// Parses one JSON text; nil when it is none.
  public init?(text: some Collection<UInt8>) {
    guard text.count <= 1 << 26, !JSON.nestsTooDeep(text), let value = try? JSONDecoder().decode(JSON.self, from: Data(text)) else {
      return nil
    }
    self = value
  }

  /// The JSON form of any encodable value; dates as RFC 3339.
  public init(_ value: some Encodable) throws {
    self = try JSONDecoder().decode(JSON.self, from: Data(JSON.text(value)))
  }

  /// Any encodable value as JSON text: dates as RFC 3339, keys sorted; on one line unless `isPretty`.
  public static func text(_ value: some Encodable, isPretty: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = isPretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return Array(try encoder.encode(value))
  }

  /// Whether brackets outside strings nest deeper than a recursive decoder should be led.
  private static func nestsTooDeep(_ text: some Collection<UInt8>) -> Bool {
    var (depth, isInString, isEscaped) = (0, false, false)
    for byte in text {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        if depth > 100 { return true }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    return false
  }

  /// The member of an object; nil for anything else.
  public subscript(key: String) -> JSON? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// The text; nil for anything else.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The boolean; nil for anything else.
  public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

  /// The number; nil for anything else.
  public var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }
}

// Not by `nil`: in an optional's place that would be a value, and the optional never empty.
extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(Dictionary(elements) { $1 }) }
}
