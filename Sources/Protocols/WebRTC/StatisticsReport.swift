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

/// One dictionary of a report, its members under their W3C names. They stay in the order in which they were added: who reads many
/// reports finds each kind of dictionary in the same shape.
public struct StatisticsDictionary: Sendable, Equatable {
  private var members: [(name: String, value: StatisticValue)] = []

  /// An empty dictionary, with room for `capacity` members.
  public init(capacity: Int = 0) { members.reserveCapacity(capacity) }

  /// The value of a member; nil when there is none.
  public subscript(name: String) -> StatisticValue? {
    get { members.first { $0.name == name }?.value }
    set {
      let index = members.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Adds a member that is not there yet.
  mutating func append(_ name: String, _ value: StatisticValue) { members.append((name, value)) }

  public static func == (left: Self, right: Self) -> Bool { left.members.elementsEqual(right.members) { $0 == $1 } }
}

extension StatisticsDictionary: Sequence {
  public func makeIterator() -> IndexingIterator<[(name: String, value: StatisticValue)]> { members.makeIterator() }
}

extension StatisticsDictionary: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, StatisticValue)...) {
    for (name, value) in elements { self[name] = value }
  }
}

extension StatisticsDictionary: Encodable {
  private struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
  }
}

/// W3C `RTCStatsReport`: dictionaries by id, their members under the W3C names ("Identifiers for WebRTC's Statistics API").
public typealias StatisticsReport = [String: StatisticsDictionary]
