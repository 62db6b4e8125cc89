import Base
import Foundation
import Glibc

/// What the process uses of the machine.
public struct ProcessFigures: Sendable, Codable, Equatable {
  /// Processor time used so far, in seconds.
  public var cpu_seconds: Double
  /// Proportional set size in MiB; nil where the kernel does not tell.
  public var pss_mb: Double?
  /// Open descriptors.
  public var descriptors: Int

  /// The figures of this process, now.
  public static func current() -> ProcessFigures {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let seconds =
      Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    let rollup = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
    let pss = rollup?.split(separator: "\n").first { $0.hasPrefix("Pss:") }?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return ProcessFigures(cpu_seconds: seconds, pss_mb: pss.map { $0 / 1024 }, descriptors: descriptors)
  }
}
