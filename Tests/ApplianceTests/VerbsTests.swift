import Synchronization
import Testing

@testable import Appliance

@Suite struct VerbsTests {
  private let folder = TemporaryFolder()

  private func check(_ text: String, includesDevices: Bool = false, isJSON: Bool = false) async throws -> (code: ExitCode, text: String) {
    let file = folder.write(text, to: "parlor.toml")
    let output = Mutex("")
    let code = try await Verbs.check(file: file, includesDevices: includesDevices, runtime: folder.path, isJSON: isJSON) { bytes in
      output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      return true
    }
    return (code, output.withLock { $0 }.replacing(folder.path + "/", with: ""))
  }

  @Test func validConfigurationIsSaidToBe() async throws {
    let (code, text) = try await check("[call]\nwhip = \"https://a/\"\n")
    #expect(code == .ok && text == "parlor.toml: valid\n")
  }

  @Test func wrongConfigurationIsExplained() async throws {
    let (code, text) = try await check("[cal]\n[display]\nrotate = 3\n")
    #expect(code == .badConfiguration)
    #expect(
      text == """
        parlor.toml:1:1: cal: unknown key; did you mean call?
        parlor.toml:3:10: display.rotate: 3 is not accepted; accepted: 0, 90, 180, 270
        parlor.toml: 2 errors

        """)
  }

  @Test func problemsComeAsJSONToo() async throws {
    let (code, text) = try await check("[call]\nwhip = \"http://a\"\ncodec = \"VP9\"\n", isJSON: true)
    let json = try #require(JSON(text: Array(text.utf8)))
    #expect(code == .badConfiguration && json["valid"] == false && json["file"] == "parlor.toml")
    guard case .array(let problems)? = json["problems"] else {
      Issue.record("no problems")
      return
    }
    #expect(problems.map { $0["severity"] } == ["warning", "error"])
    #expect(problems[1]["line"] == 3 && problems[1]["column"] == 9 && problems[1]["key"] == "call.codec")
    #expect(problems[1]["accepted"] == ["\"VP8\"", "\"H264\""])
  }

  @Test func missingFilesAreFound() async throws {
    _ = folder.write("x", to: "there.y4m")
    let text = """
      [call]
      whip = "https://a"
      token_file = "token"
      [[camera]]
      device = "file:there.y4m"
      [[camera]]
      device = "file:gone.y4m"
      [sound]
      capture = "synthetic"
      playback = "file:heard.wav"
      [tls]
      ca_files = ["gone.pem"]
      """
    let (code, report) = try await check(text, includesDevices: true)
    #expect(code == .unavailable)
    #expect(
      report == """
        camera[0].device: there.y4m is there
        camera[1].device: gone.y4m is absent
        sound.playback: heard.wav is there
        call.token_file: token is absent
        tls.ca_files[0]: gone.pem is absent
        parlor.toml: valid

        """)
  }

  @Test func devicesAreTestedWithoutABox() async throws {
    let text = """
      [[camera]]
      device = "synthetic"
      width = 320
      height = 180
      [[camera]]
      device = "no such camera anywhere"
      [sound]
      capture = "none"
      playback = "no-such-card"
      """
    let (code, json) = try await check(text, includesDevices: true, isJSON: true)
    #expect(code == .unavailable)
    guard case .array(let items)? = JSON(text: Array(json.utf8))?["devices"] else {
      Issue.record("no devices in \(json)")
      return
    }
    let verdicts = items.map { "\($0["name"]?.string ?? "") \($0["verdict"]?.string ?? "")" }
    #expect(
      verdicts.prefix(5) == ["camera[0] ok", "camera[1] failed", "microphone skipped", "speaker failed", "echo skipped"], "\(verdicts)")
    #expect(verdicts.dropFirst(5).map { $0.prefix { $0 != " " } } == ["screen", "network", "server", "clock"])
    #expect(items[0]["figures"]?["width"] == 320 && (items[0]["figures"]?["brightness_percent"]?.number ?? 0) > 5)
    #expect(items[3]["text"]?.string?.hasPrefix("absent: ") == true)
  }

  @Test func statisticsReadWellWithoutJSON() {
    let stats: JSON = [
      "latency": ["remote": ["decode": ["p50_ms": 1.23456, "count": 300], "present": [:]]], "discards": ["rtp.malformed": 2],
      "list": [true, .null, "x"],
      "big": 1e300,
    ]
    #expect(
      Verbs.flat(stats)
        == """
        big 1e+300
        discards rtp.malformed 2
        latency.remote.decode count 300  p50_ms 1.235
        list[0] true
        list[1] -
        list[2] x
        """)
  }
}
