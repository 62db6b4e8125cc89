import Base
import FoundationEssentials
import Glibc

/// What a process uses of the machine.
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
    return ProcessFigures(
      processorSeconds: seconds, memoryMebibytes: ProcessFigures.memory("/proc/self"), descriptors: ProcessFigures.descriptors("/proc/self")
    )
  }

  /// The figures of another process, now; nil when it is gone.
  public static func of(_ process: Int32) -> ProcessFigures? { ProcessTable.Entry(process)?.figures }

  /// The figures of `root` and of everything that it started, summed by the programs' names. `rootName` is what the root is called.
  public static func tree(of root: Int32, named rootName: String) -> [String: ProcessFigures] {
    ProcessTable.tree(of: root).reduce(into: [:]) { result, entry in
      let name = entry.process == root ? rootName : entry.name
      result[name] = result[name].map { $0 + entry.figures } ?? entry.figures
    }
  }

  /// Both together.
  public static func + (a: ProcessFigures, b: ProcessFigures) -> ProcessFigures {
    let memory = [a.memoryMebibytes, b.memoryMebibytes].compactMap { $0 }
    return ProcessFigures(
      processorSeconds: a.processorSeconds + b.processorSeconds, memoryMebibytes: memory.isEmpty ? nil : memory.reduce(0, +),
      descriptors: a.descriptors + b.descriptors)
  }

  static func memory(_ folder: String) -> Double? {
    let rollup = try? String(contentsOfFile: "\(folder)/smaps_rollup", encoding: .utf8)
    let pss = rollup?.split(separator: "\n").first { $0.hasPrefix("Pss:") }?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
    return pss.map { $0 / 1024 }
  }

  static func descriptors(_ folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").count) ?? 0
  }
}

/// The machine's processes, as `/proc` lists them.
private enum ProcessTable {
  struct Entry {
    let process: Int32
    let parent: Int32
    let name: String
    private let processorSeconds: Double

    /// Reads `/proc/PID/stat` (proc(5)); nil when the process is gone.
    init?(_ process: Int32) {
      guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8), let open = text.firstIndex(of: "("),
        let close = text.lastIndex(of: ")"), open < close
      else { return nil }
      let fields = text[text.index(after: close)...].split(separator: " ")
      guard fields.count > 12, let parent = Int32(fields[1]), let user = Double(fields[11]), let system = Double(fields[12]) else {
        return nil
      }
      (self.process, self.parent) = (process, parent)
      processorSeconds = (user + system) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
      // The kernel cuts names off after 15 bytes; the command line has them whole.
      let short = text[text.index(after: open)..<close]
      let command = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8))?.split(separator: "\0").first
      let whole = command.flatMap { $0.split(separator: "/").last }
      name = String(whole.flatMap { $0.hasPrefix(short) ? $0 : nil } ?? short)
    }

    var figures: ProcessFigures {
      ProcessFigures(
        processorSeconds: processorSeconds, memoryMebibytes: ProcessFigures.memory("/proc/\(process)"),
        descriptors: ProcessFigures.descriptors("/proc/\(process)"))
    }
  }

  static func tree(of root: Int32) -> [Entry] {
    let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
    let entries = numbers.compactMap { Entry($0) }
    let children = Dictionary(grouping: entries, by: \.parent)
    var (found, next) = ([Entry](), entries.filter { $0.process == root })
    while let entry = next.popLast() {
      found.append(entry)
      next += children[entry.process] ?? []
    }
    return found
  }
}
