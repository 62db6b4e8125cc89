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

  /// Sleeps until `time`; not at all when it has passed.
  public static func sleep(until time: Instant) {
    var limit = timespec(tv_sec: Int(time.nanoseconds / 1_000_000_000), tv_nsec: Int(time.nanoseconds % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &limit, nil) == EINTR {}
  }

  /// Nanoseconds since 1970 on the wall clock, which may jump: for what is told to others.
  public static func wallClock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
