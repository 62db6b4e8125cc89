/// A time of day on the wall's clock, as `03:30`.
public struct DailyTime: Sendable, Hashable, CustomStringConvertible {
  /// How a time of day is written, for messages.
  static let form = "HH:MM, from 00:00 to 23:59"

  /// Minutes since midnight, 0 to 1,439.
  public let minutes: Int

  /// Reads `HH:MM`; nil when it is no such time.
  public init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 5, digits[2] == UInt8(ascii: ":"), let hour = Int(text.prefix(2)), let minute = Int(text.suffix(2)),
      [0, 1, 3, 4].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digits[$0]) }), hour < 24, minute < 60
    else { return nil }
    minutes = hour * 60 + minute
  }

  /// Seconds since midnight.
  var seconds: Int { minutes * 60 }

  public var description: String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minutes / 60)):\(two(minutes % 60))"
  }
}
