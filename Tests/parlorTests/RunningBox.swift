import Appliance
import Foundation
import Stage
import Testing

/// A running box with a folder of its own.
final class RunningBox {
  let folder: String
  private var process = Process()
  let client: ControlClient

  private let environment: [String: String]

  /// A box with this configuration. `tools` are scripts that stand before all others on its `PATH`, by name.
  init(_ configuration: String, tools: [String: String] = [:]) async throws {
    folder = NSTemporaryDirectory() + "parlor-run-\(UUID().uuidString.prefix(8))"
    for name in ["", "/run", "/state"] {
      try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
    }
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/parlor.toml"))
    for (name, script) in tools {
      try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/" + name)
    }
    environment = ProcessInfo.processInfo.environment.merging(["PATH": folder + ":/usr/bin:/bin"]) { _, new in new }
    client = ControlClient(folder: folder + "/run")
    try await start()
  }

  /// `parlor`, as it was built with this test.
  static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
    path: "parlor"
  ).path

  deinit {
    if process.isRunning { process.terminate() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  func start() async throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: RunningBox.program)
    process.arguments = [
      "run", "--config", folder + "/parlor.toml", "--stage", "headless:640x360", "--state", folder + "/state", "--runtime",
      folder + "/run",
    ]
    _ = FileManager.default.createFile(atPath: folder + "/log", contents: nil)
    process.standardError = FileHandle(forWritingAtPath: folder + "/log")
    process.environment = environment
    try process.run()
    for _ in 0..<600 {
      if (try? client.perform(ControlRequest(verb: "status"))["state"]) == "ready" { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("parlor run did not become ready")
  }

  /// Ends it as a service manager does, and returns its exit code; nil when a signal ended it.
  func stop() -> Int32? {
    process.terminate()
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }

  /// What it has written down so far.
  var log: String { (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "" }

  /// What a tool wrote into a file beside itself.
  func text(of name: String) throws -> String { try String(contentsOfFile: folder + "/" + name, encoding: .utf8) }

  func picture() throws -> Picture {
    let answer = try client.perform(ControlRequest(verb: "screenshot"))
    let png = try #require(answer["png"]?.string.flatMap { Data(base64Encoded: $0) })
    return try Picture(png: Array(png))
  }
}
