import Glibc

/// A day of the week, by its short English name.
public enum Weekday: String, Sendable, CaseIterable {
  case monday = "mon"
  case tuesday = "tue"
  case wednesday = "wed"
  case thursday = "thu"
  case friday = "fri"
  case saturday = "sat"
  case sunday = "sun"

  /// Days since Monday.
  var number: Int { Weekday.allCases.firstIndex(of: self)! }
}

/// What a clock on the wall shows, and on which day of the week.
public struct CivilTime: Sendable, Hashable {
  /// The day.
  public var weekday: Weekday
  /// Seconds since midnight, 0 to 86,399.
  public var second: Int
  /// Seconds by which the wall's clock is ahead of UTC: summer time shows here.
  public var offset: Int

  static let secondsPerDay = 86_400
  static let secondsPerWeek = 7 * secondsPerDay

  /// A time of the week; `offset` in seconds ahead of UTC.
  public init(_ weekday: Weekday, second: Int, offset: Int = 0) { (self.weekday, self.second, self.offset) = (weekday, second, offset) }

  /// The time now, where this machine says that it stands.
  public static var now: CivilTime {
    var now = time(nil)
    var parts = tm()
    unsafe localtime_r(&now, &parts)
    // The C library counts from Sunday, and knows leap seconds.
    return CivilTime(
      Weekday.allCases[(Int(parts.tm_wday) + 6) % 7],
      second: Int(parts.tm_hour) * 3_600 + Int(parts.tm_min) * 60 + min(59, Int(parts.tm_sec)),
      offset: Int(parts.tm_gmtoff))
  }

  /// Seconds since Monday's midnight.
  var secondOfWeek: Int { weekday.number * CivilTime.secondsPerDay + second }

  /// The time on the wall so many seconds on, clock changes left out.
  func advanced(by seconds: Int) -> CivilTime {
    let sum = (secondOfWeek + seconds) % CivilTime.secondsPerWeek
    return CivilTime(Weekday.allCases[sum / CivilTime.secondsPerDay], second: sum % CivilTime.secondsPerDay, offset: offset)
  }
}
