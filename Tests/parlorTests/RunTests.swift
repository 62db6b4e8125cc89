import Appliance
import Foundation
import Stage
import Testing

/// The program itself, as a service manager runs it.
@Suite struct RunTests {
  /// A running box with a folder of its own.
  private final class Box {
    private let folder: String
    private var process = Process()
    private let environment: [String: String]
    let client: ControlClient

    /// `tools` are scripts that stand before all others on its `PATH`, by name.
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

    deinit {
      if process.isRunning { process.terminate() }
      try? FileManager.default.removeItem(atPath: folder)
    }

    func start() async throws {
      process = Process()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
        path: "parlor")
      process.arguments = [
        "run", "--config", folder + "/parlor.toml", "--stage", "headless:640x360", "--state", folder + "/state", "--runtime",
        folder + "/run",
      ]
      process.standardError = FileHandle.nullDevice
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

    /// What a tool wrote into a file beside itself.
    func text(of name: String) throws -> String { try String(contentsOfFile: folder + "/" + name, encoding: .utf8) }

    func picture() throws -> Picture {
      let answer = try client.perform(ControlRequest(verb: "screenshot"))
      let png = try #require(answer["png"]?.string.flatMap { Data(base64Encoded: $0) })
      return try Picture(png: Array(png))
    }
  }

  private let configuration = """
    [call]
    whip = "http://127.0.0.1:9/whip"
    start = "manual"
    [display]
    self_view = "off"
    [[camera]]
    device = "synthetic"
    [sound]
    capture = "synthetic"
    playback = "none"
    """

  @Test func boxEndsByItselfWhenItIsToldTo() async throws {
    let box = try await Box(configuration)
    #expect(box.stop() == 0)
  }

  @Test func devicesThatAreMissingAreToldAndTheBoxIsReadyAllTheSame() async throws {
    let missing = configuration.replacingOccurrences(of: "device = \"synthetic\"", with: "device = \"no such camera anywhere\"")
      .replacingOccurrences(of: "capture = \"synthetic\"", with: "capture = \"no-such-card\"")
    let plain = try await Box(configuration)
    let picture = try plain.picture()
    #expect(try plain.client.perform(ControlRequest(verb: "status"))["code"] == .null)
    #expect(plain.stop() == 0)

    let box = try await Box(missing)
    var status = JSON.null
    for _ in 0..<200 {
      status = try box.client.perform(ControlRequest(verb: "status"))
      if status["sound"]?["microphone"]?["state"] == "absent", status["code"] == "camera.absent" { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(status["state"] == "ready" && status["code"] == "camera.absent")
    #expect(status["sound"]?["microphone"]?["state"] == "absent" && status["sound"]?["speaker"] == .null)
    // What is missing stands on the screen.
    #expect(try box.picture() != picture)
    guard case .array(let items) = try box.client.perform(ControlRequest(verb: "check")) else {
      Issue.record("no list")
      return
    }
    #expect(items.prefix(3).map { $0["verdict"] } == ["failed", "failed", "skipped"])
    #expect(box.stop() == 0)
  }

  @Test func volumeOutlivesTheBox() async throws {
    let box = try await Box(configuration)
    #expect(try box.client.perform(ControlRequest(verb: "volume")) == ["percent": 100, "muted": false])
    #expect(
      try box.client.perform(ControlRequest(verb: "volume", arguments: ["change": "-60"])) == ["percent": 40, "muted": false])
    #expect(box.stop() == 0)
    try await box.start()
    #expect(try box.client.perform(ControlRequest(verb: "volume")) == ["percent": 40, "muted": false])
    #expect(try box.client.perform(ControlRequest(verb: "status"))["sound"]?["volume"] == ["percent": 40, "muted": false])
    #expect(box.stop() == 0)
  }

  @Test func screenshotsCanBeForbidden() async throws {
    let box = try await Box(configuration + "\n[access]\nscreenshots = false\n")
    let reason = "screenshots are switched off: access.screenshots = false in the configuration"
    #expect(throws: VerbFailure(.notPermitted, reason)) { try box.client.perform(ControlRequest(verb: "screenshot")) }
    #expect(box.stop() == 0)
  }

  @Test func boxRestartsByItsServiceManager() async throws {
    func request(_ part: String) -> ControlRequest { ControlRequest(verb: "restart", arguments: ["part": .string(part)]) }
    let box = try await Box(configuration, tools: ["systemctl": "echo \"$@\" >\"${0%/*}/asked\""])
    _ = try box.client.perform(request("box"))
    #expect(try box.text(of: "asked") == "--no-ask-password reboot\n")
    // Nobody would start this one again.
    #expect(throws: VerbFailure.self) { try box.client.perform(request("app")) }
    #expect(box.stop() == 0)

    let refused = try await Box(configuration, tools: ["systemctl": "echo Access denied >&2; exit 1"])
    #expect(throws: VerbFailure(.notPermitted, "systemctl reboot failed: Access denied")) { try refused.client.perform(request("box")) }
    #expect(refused.stop() == 0)
  }

  @Test func checkReadsTheStandardInput() throws {
    for (text, status, report) in [
      ("[call]\nwhip = \"https://a\"\n", 0, "(standard input): valid\n"),
      (
        "[call]\nwhipp = 1\n[colour]\n", 78,
        "(standard input):2:1: call.whipp: unknown key; did you mean whip?"
      ),
    ] as [(String, Int32, String)] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
        path: "parlor")
      process.arguments = ["check", "--config", "-"]
      let (input, output) = (Pipe(), Pipe())
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try input.fileHandleForWriting.close()
      let answer = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == status && answer.contains(report), "\(answer)")
    }
  }

  @Test func identificationComesAndGoes() async throws {
    let box = try await Box(configuration)
    let before = try box.picture()
    _ = try box.client.perform(ControlRequest(verb: "identify"))
    // The stage shows it with its next refresh.
    func wait(until isFine: (Picture) -> Bool) async throws {
      for _ in 0..<200 {
        if isFine(try box.picture()) { return }
        try await Task.sleep(for: .milliseconds(50))
      }
      Issue.record("the screen did not change as it should")
    }
    try await wait { $0 != before }
    _ = try box.client.perform(ControlRequest(verb: "identify", arguments: ["seconds": 0]))
    try await wait { $0 == before }
    #expect(box.stop() == 0)
  }

  @Test func identificationIsSeenOnADarkScreen() async throws {
    let box = try await Box(configuration)
    func isDark() throws -> JSON? { try box.client.perform(ControlRequest(verb: "status"))["stage"]?["blanked"] }
    _ = try box.client.perform(ControlRequest(verb: "blank", arguments: ["wish": "on"]))
    #expect(try isDark() == true)
    _ = try box.client.perform(ControlRequest(verb: "identify", arguments: ["seconds": 3_600]))
    #expect(try isDark() == false)
    _ = try box.client.perform(ControlRequest(verb: "identify", arguments: ["seconds": 0]))
    #expect(try isDark() == true)
    #expect(box.stop() == 0)
  }

  @Test func gammaIsTakenAndNotOfferedInMemory() async throws {
    let box = try await Box(configuration)
    for arguments in [["value": 0.7], [:]] as [[String: JSON]] {
      _ = try box.client.perform(ControlRequest(verb: "gamma", arguments: arguments))
      #expect(try box.client.perform(ControlRequest(verb: "status"))["stage"]?["gamma"] == .null)
    }
    #expect(box.stop() == 0)
  }

  @Test func anIdleScreenInvitesToTouchItUntilTheCallStarts() async throws {
    let plain = try await Box(configuration)
    let box = try await Box(configuration.replacingOccurrences(of: "manual", with: "touch"))
    let idle = try plain.picture()
    #expect(plain.stop() == 0)
    func wait(until isFine: (Picture) -> Bool) async throws -> Picture {
      var picture = try box.picture()
      for _ in 0..<200 where !isFine(picture) {
        try await Task.sleep(for: .milliseconds(50))
        picture = try box.picture()
      }
      return picture
    }
    let invited = try await wait { $0 != idle }
    #expect(invited != idle)
    _ = try box.client.perform(ControlRequest(verb: "call", arguments: ["action": "start"]))
    #expect(try await wait { $0 != invited && $0 != idle } != invited)
    _ = try box.client.perform(ControlRequest(verb: "call", arguments: ["action": "hangup"]))
    #expect(try await wait { $0 == invited } == invited)
    #expect(box.stop() == 0)
  }
}
