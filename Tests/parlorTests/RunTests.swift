import Appliance
import Foundation
import Stage
import Testing

/// The program itself, as a service manager runs it.
@Suite struct RunTests {
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

  /// The first picture that is as it should be: the stage shows a change with its next refresh, after the verb that caused or told it.
  @discardableResult private func picture(of box: RunningBox, where isFine: (Picture) -> Bool) async throws -> Picture {
    var picture = try box.picture()
    for _ in 0..<200 where !isFine(picture) {
      try await Task.sleep(for: .milliseconds(50))
      picture = try box.picture()
    }
    #expect(isFine(picture), "the screen did not change as it should")
    return picture
  }

  @Test func boxEndsByItselfWhenItIsToldTo() async throws {
    let box = try await RunningBox(configuration)
    #expect(box.stop() == 0)
  }

  @Test func devicesThatAreMissingAreToldAndTheBoxIsReadyAllTheSame() async throws {
    let missing = configuration.replacingOccurrences(of: "device = \"synthetic\"", with: "device = \"no such camera anywhere\"")
      .replacingOccurrences(of: "capture = \"synthetic\"", with: "capture = \"no-such-card\"")
    let plain = try await RunningBox(configuration)
    let picture = try plain.picture()
    #expect(try plain.client.perform(ControlRequest(verb: "status"))["code"] == .null)
    #expect(plain.stop() == 0)

    let box = try await RunningBox(missing)
    var status = JSON.null
    var states: [JSON?] {
      guard case .array(let cameras) = status["cameras"] else { return [] }
      return cameras.map { $0["state"] } + [status["sound"]?["microphone"]?["state"]]
    }
    for _ in 0..<200 where states != ["absent", "absent"] {
      status = try box.client.perform(ControlRequest(verb: "status"))
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(states == ["absent", "absent"] && status["state"] == "ready" && status["sound"]?["speaker"] == .null)
    // Which one was missed first.
    #expect(status["code"] == "camera.absent" || status["code"] == "microphone.absent")
    // What is missing stands on the screen.
    try await self.picture(of: box) { $0 != picture }
    guard case .array(let items) = try box.client.perform(ControlRequest(verb: "check")) else {
      Issue.record("no list")
      return
    }
    #expect(items.prefix(3).map { $0["verdict"] } == ["failed", "failed", "skipped"])
    #expect(box.stop() == 0)
  }

  @Test func volumeOutlivesTheBox() async throws {
    let box = try await RunningBox(configuration)
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
    let box = try await RunningBox(configuration + "\n[access]\nscreenshots = false\n")
    let reason = "screenshots are switched off: access.screenshots = false in the configuration"
    #expect(throws: VerbFailure(.notPermitted, reason)) { try box.client.perform(ControlRequest(verb: "screenshot")) }
    #expect(box.stop() == 0)
  }

  @Test func boxRestartsByItsServiceManager() async throws {
    func request(_ part: String) -> ControlRequest { ControlRequest(verb: "restart", arguments: ["part": .string(part)]) }
    let box = try await RunningBox(configuration, tools: ["systemctl": "echo \"$@\" >\"${0%/*}/asked\""])
    _ = try box.client.perform(request("box"))
    #expect(try box.text(of: "asked") == "--no-ask-password reboot\n")
    // Nobody would start this one again.
    #expect(throws: VerbFailure.self) { try box.client.perform(request("app")) }
    #expect(box.stop() == 0)

    let refused = try await RunningBox(configuration, tools: ["systemctl": "echo Access denied >&2; exit 1"])
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
    let box = try await RunningBox(configuration)
    let before = try box.picture()
    _ = try box.client.perform(ControlRequest(verb: "identify"))
    try await picture(of: box) { $0 != before }
    _ = try box.client.perform(ControlRequest(verb: "identify", arguments: ["seconds": 0]))
    try await picture(of: box) { $0 == before }
    #expect(box.stop() == 0)
  }

  @Test func identificationIsSeenOnADarkScreen() async throws {
    let box = try await RunningBox(configuration)
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
    let box = try await RunningBox(configuration)
    for arguments in [["value": 0.7], [:]] as [[String: JSON]] {
      _ = try box.client.perform(ControlRequest(verb: "gamma", arguments: arguments))
      #expect(try box.client.perform(ControlRequest(verb: "status"))["stage"]?["gamma"] == .null)
    }
    #expect(box.stop() == 0)
  }

  @Test func anIdleScreenInvitesToTouchItUntilTheCallStarts() async throws {
    let plain = try await RunningBox(configuration)
    let box = try await RunningBox(configuration.replacingOccurrences(of: "manual", with: "touch"))
    let idle = try plain.picture()
    #expect(plain.stop() == 0)
    let invited = try await picture(of: box) { $0 != idle }
    _ = try box.client.perform(ControlRequest(verb: "call", arguments: ["action": "start"]))
    try await picture(of: box) { $0 != invited && $0 != idle }
    _ = try box.client.perform(ControlRequest(verb: "call", arguments: ["action": "hangup"]))
    try await picture(of: box) { $0 == invited }
    #expect(box.stop() == 0)
  }
}
