import Base
import Glibc

/// The clock that drives every protocol core: it never jumps, whatever time synchronisation does to the wall clock.
public enum MonotonicClock {
  /// The time on `CLOCK_MONOTONIC`.
  public static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }

  /// Nanoseconds since 1970 on the wall clock, which may jump: for what is told to others.
  public static func wallClock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
