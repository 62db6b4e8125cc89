import Base
import Foundation
import Glibc

/// What the process uses of the machine.
public struct ProcessFigures: Sendable, Codable, Equatable {
  /// Processor time used so far, in seconds.
  public var processorSeconds: Double
  /// Proportional set size in MiB; nil where the kernel does not tell.
  public var memoryMebibytes: Double?
  /// Open descriptors.
  public var descriptors: Int

  private enum CodingKeys: String, CodingKey {
    case processorSeconds = "cpu_seconds"
    case memoryMebibytes = "pss_mb"
    case descriptors
  }

  /// The figures of this process, now.
  public static func current() -> ProcessFigures {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let seconds =
      Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    let rollup = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
    let pss = rollup?.split(separator: "\n").first { $0.hasPrefix("Pss:") }?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return ProcessFigures(processorSeconds: seconds, memoryMebibytes: pss.map { $0 / 1024 }, descriptors: descriptors)
  }
}
