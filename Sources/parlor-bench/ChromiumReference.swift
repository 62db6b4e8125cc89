import Foundation

/// Chromium calling itself on this machine, as `Tests/Interop/reference_chromium.py` measures it.
struct ChromiumReference: Decodable, Sendable {
  /// One call.
  struct Call: Decodable, Sendable {
    var connectMilliseconds: Double
    var firstFrameMilliseconds: Double

    private enum CodingKeys: String, CodingKey {
      case connectMilliseconds = "connect_ms"
      case firstFrameMilliseconds = "first_frame_ms"
    }
  }

  /// One browser's calls, the first one first, and what its data channel carried.
  struct Run: Decodable, Sendable {
    var calls: [Call]
    var dataMegabits: Double?

    private enum CodingKeys: String, CodingKey {
      case calls
      case dataMegabits = "data_mbit_per_s"
    }
  }

  var runs: [Run]

  /// What both sides of a comparison are called.
  static let name = "Chromium calling itself"

  /// Starts one browser; nil where Chromium or the script's Python is not installed (`make setup`).
  static func run(calls: Int, seconds: Double) throws -> Run? {
    let root = FileManager.default.currentDirectoryPath
    let python = "\(root)/.build/venv/bin/python"
    let script = "\(root)/Tests/Interop/reference_chromium.py"
    guard [python, script, "/usr/bin/chromium"].allSatisfy(FileManager.default.fileExists(atPath:)) else {
      FileHandle.standardError.write(Data("parlor-bench: Chromium is not here to compare with; make setup installs it\n".utf8))
      return nil
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [script, "--browsers", "1", "--calls", "\(calls)", "--seconds", "\(seconds)", "--codec", "vp8"]
    let output = Pipe()
    process.standardOutput = output
    // Chromium complains at length of what a machine without a desktop lacks.
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0, let run = try JSONDecoder().decode(ChromiumReference.self, from: data).runs.first else {
      throw Benchmark.Failure(description: "reference_chromium.py ended with status \(process.terminationStatus)")
    }
    return run
  }
}
