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
    let client: ControlClient

    init(_ configuration: String) async throws {
      folder = NSTemporaryDirectory() + "parlor-run-\(UUID().uuidString.prefix(8))"
      for name in ["", "/run", "/state"] {
        try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
      }
      try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/parlor.toml"))
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
