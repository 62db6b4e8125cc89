/// One value in a statistics report.
public enum StatisticValue: Sendable, Equatable {
  case number(Double)
  case integer(Int)
  case text(String)
  case flag(Bool)
  /// Numbers by name, such as `qualityLimitationDurations`.
  case numbers([String: Double])
  /// What is known and not told.
  case null
}

extension StatisticValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral {
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(stringLiteral value: String) { self = .text(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .flag(value) }

  /// The value as a whole number; nil for text and flags.
  public var intValue: Int? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int(exactly: value.rounded(.towardZero))
    default: nil
    }
  }
}

extension StatisticValue: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .flag(let value): try container.encode(value)
    case .numbers(let values): try container.encode(values)
    case .null: try container.encodeNil()
    }
  }
}

/// W3C `RTCStatsReport`: dictionaries by id, their members under the W3C names ("Identifiers for WebRTC's Statistics API").
public typealias StatisticsReport = [String: [String: StatisticValue]]
