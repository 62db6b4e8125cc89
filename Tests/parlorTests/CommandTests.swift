import Appliance
import Call
import Testing

@testable import parlor

@Suite struct CommandTests {
  private func command(_ text: String, environment: [String: String] = [:]) throws(VerbFailure) -> Command {
    try Command(text.split(separator: " ").map(String.init), environment: environment)
  }

  @Test func runTakesItsOptionsInEitherForm() throws {
    var options = RunOptions()
    #expect(try command("run") == .run(options))
    options.configuration = "a.toml"
    options.output = .headless(Configuration.Display.Mode(width: 1280, height: 720, rate: 60))
    options.state = "s"
    options.runtime = "r"
    #expect(try command("run --config a.toml --stage headless:1280x720@60 --state s --runtime r") == .run(options))
    #expect(try command("run --config=a.toml --stage=headless:1280x720@60 --state=s --runtime=r") == .run(options))
    options = RunOptions()
    options.output = .headless(nil)
    #expect(try command("run --stage headless") == .run(options))
    options.output = .headless(Configuration.Display.Mode(width: 640, height: 360))
    #expect(try command("run --stage headless:640x360") == .run(options))
    options.output = .kms
    #expect(try command("run --stage kms") == .run(options))
  }

  @Test func runtimeFolderComesFromOptionThenEnvironmentThenDefault() throws {
    let environment = ["PARLOR_RUNTIME": "/tmp/r"]
    #expect(try command("status") == .status(runtime: "/run/parlor", isJSON: false))
    #expect(try command("status --json", environment: environment) == .status(runtime: "/tmp/r", isJSON: true))
    #expect(try command("status --runtime /x", environment: environment) == .status(runtime: "/x", isJSON: false))
    #expect(try command("status", environment: ["PARLOR_RUNTIME": ""]) == .status(runtime: "/run/parlor", isJSON: false))
  }

  @Test func demoAndPeerAreUnderstood() throws {
    var demo = DemoOptions()
    #expect(try command("demo") == .demo(demo))
    (demo.seconds, demo.isJSON, demo.screenshot) = (3, true, "x.png")
    #expect(try command("demo --seconds 3 --json --screenshot x.png") == .demo(demo))
    demo.isDirect = true
    #expect(try command("demo --direct --seconds 3 --json --screenshot x.png") == .demo(demo))
    var peer = PeerOptions()
    #expect(try command("peer --offer") == .peer(peer))
    (peer.role, peer.videoCodec) = (.answer, .h264)
    #expect(try command("peer --answer --codec h264") == .peer(peer))
  }

  @Test func operatorsVerbsAreUnderstood() throws {
    #expect(try command("stats --watch") == .stats(runtime: "/run/parlor", isWatching: true, isJSON: false))
    #expect(try command("screenshot -") == .screenshot(runtime: "/run/parlor", file: "-"))
    #expect(try command("screenshot -- --odd.png") == .screenshot(runtime: "/run/parlor", file: "--odd.png"))
    #expect(try command("call hangup") == .call(runtime: "/run/parlor", action: "hangup"))
    #expect(
      try command("open https://a/ --runtime r") == .order(runtime: "r", ControlRequest(verb: "open", arguments: ["url": "https://a/"])))
    #expect(try command("reload") == .order(runtime: "/run/parlor", ControlRequest(verb: "reload")))
    #expect(try command("restart page") == .order(runtime: "/run/parlor", ControlRequest(verb: "restart", arguments: ["part": "page"])))
    #expect(try command("tap 3 4.5") == .order(runtime: "/run/parlor", ControlRequest(verb: "tap", arguments: ["x": 3.0, "y": 4.5])))
    #expect(try command("type -- --x") == .order(runtime: "/run/parlor", ControlRequest(verb: "type", arguments: ["text": "--x"])))
    #expect(try command("key Enter") == .order(runtime: "/run/parlor", ControlRequest(verb: "key", arguments: ["name": "Enter"])))
    #expect(try command("gamma 0.7") == .order(runtime: "/run/parlor", ControlRequest(verb: "gamma", arguments: ["value": 0.7])))
    #expect(try command("gamma auto") == .order(runtime: "/run/parlor", ControlRequest(verb: "gamma")))
    #expect(try command("blank auto") == .order(runtime: "/run/parlor", ControlRequest(verb: "blank", arguments: ["wish": "auto"])))
    #expect(try command("check --describe schema") == .describe(.schema))
    #expect(try command("check --config x --devices") == .check(file: "x", includesDevices: true, runtime: "/run/parlor", isJSON: false))
    #expect(try command("identify") == .order(runtime: "/run/parlor", ControlRequest(verb: "identify")))
    #expect(try command("identify 5") == .order(runtime: "/run/parlor", ControlRequest(verb: "identify", arguments: ["seconds": 5])))
    #expect(try command("identify off") == .order(runtime: "/run/parlor", ControlRequest(verb: "identify", arguments: ["seconds": 0])))
    #expect(try command("overlay off") == .order(runtime: "/run/parlor", ControlRequest(verb: "overlay", arguments: ["on": false])))
    #expect(try command("volume") == .volume(runtime: "/run/parlor", change: nil, isJSON: false))
    #expect(try command("volume -10 --json") == .volume(runtime: "/run/parlor", change: "-10", isJSON: true))
    #expect(try command("volume mute") == .volume(runtime: "/run/parlor", change: "mute", isJSON: false))
    #expect(try command("--version") == .version(isJSON: false))
  }

  @Test func helpIsEverywhere() throws {
    for text in ["--help", "-h", "help"] { #expect(try command(text) == .help(verb: nil)) }
    for verb in VerbSyntax.all where !verb.options.isEmpty {
      for text in ["\(verb.name) --help", "\(verb.name) -h", "help \(verb.name)"] { #expect(try command(text) == .help(verb: verb.name)) }
      #expect(verb.options.allSatisfy { verb.text.contains($0.name) && verb.text.contains($0.help) })
      #expect(VerbSyntax.overview.contains(verb.summary))
    }
  }

  @Test(arguments: [
    ("", "name a verb"), ("staus", "did you mean status?"), ("frobnicate", "accepted: run, provision"),
    ("--verson", "did you mean --version?"),
    ("status --jsn", "did you mean --json?"), ("status --json --json", "given twice"), ("status --json=1", "takes no value"),
    ("status now", "one argument too many"),
    ("run --config", "needs a value: FILE"), ("run --config=", "needs a value: FILE"), ("run --stage window", "accepted: kms, headless"),
    ("run --stage headless:", "accepted: kms, headless"), ("run --stage headless:0x0", "accepted: kms, headless"),
    ("demo --seconds 0", "1 to 86400"),
    ("demo --seconds x", "1 to 86400"), ("demo --json --screenshot -", "standard output"), ("peer --offer --answer", "exclude"),
    ("peer --codec vp9", "VP8, H264"), ("screenshot", "FILE is missing"), ("call", "start|hangup is missing"),
    ("call strat", "did you mean start?"), ("restart pag", "did you mean page?"), ("blank dark", "accepted: on, off, auto"),
    ("gamma 2.1", "accepted: 0.5 to 2.0, auto"), ("gamma nan", "accepted: 0.5 to 2.0, auto"),
    ("identify 0", "1 to 3600, off"),
    ("identify -5", "1 to 3600, off"), ("overlay", "on|off is missing"), ("overlay of", "did you mean off?"),
    ("volume 101", "N from 0 to 100"), ("volume loud", "mute"), ("tap 1", "Y is missing"), ("tap x 1", "X: "),
    ("tap 1 99999", "Y: "),
    ("help staus", "did you mean status?"),
  ])
  func wrongLineIsAUsageErrorThatHelps(text: String, message: String) {
    do throws(VerbFailure) {
      _ = try command(text)
      Issue.record("accepted: \(text)")
    } catch {
      #expect(error.exitCode == .usage && error.description.contains(message), "\(error)")
    }
  }
}
