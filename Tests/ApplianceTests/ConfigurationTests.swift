import Base
import Camera
import Foundation
import Stage
import Testing

@testable import Appliance

@Suite struct ConfigurationTests {
  private func load(_ text: String, file: String = "/etc/parlor/parlor.toml") throws(ConfigurationError) -> Configuration {
    try Configuration(Array(text.utf8), file: file)
  }

  private func problems(_ text: String) -> [ConfigurationProblem] {
    do throws(ConfigurationError) { return try load(text).warnings } catch { return error.problems }
  }

  /// The folder of the example files.
  private var folder: String {
    var path = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    path.removeLast(3)
    return path.joined(separator: "/") + "/Config"
  }

  /// The lines that a person reads, the file's name left out.
  private func messages(_ text: String) -> [String] {
    problems(text).map { $0.description.replacing("/etc/parlor/parlor.toml:", with: "") }
  }

  @Test func emptyFileIsABoxWithoutACall() throws {
    let configuration = try load("")
    #expect(configuration == Configuration())
    #expect(configuration.call == nil)
  }

  @Test func everythingIsRead() throws {
    let configuration = try load(
      """
      [call]
      whip = "https://sfu.example.org/whip/${serial}"
      whep = "http://localhost:8080/whep?name=${name}"
      token_file = "secrets/token"
      relay_only = true
      codec = "H264"
      start = "manual"
      connect_timeout = 7.5
      ice_servers = [
        { urls = "stun:stun.example.org" },
        { urls = ["turn:192.0.2.1:3478?transport=udp", "turns:[2001:db8::1]"], username = "u", credential = "p" },
      ]
      [[grants]]
      origin = "HTTPS://Calls.Example.org:443"
      camera = true
      microphone = true
      [[grants]]
      origin = "https://other.example.org:8443"
      microphone = true
      [identity]
      name = "Lobby desk"
      serial = "A/7"
      [display]
      card = "/dev/dri/card1"
      outputs = "one"
      mode = "1280x720@50"
      rotate = 270
      gamma = 1.2
      fit = "cover"
      self_view = "top-left"
      mirror_self_view = false
      [power]
      blank = [{ from = "20:00", to = "07:00", days = ["mon", "fri"] }, { from = "12:00", to = "13:00" }]
      gamma = [{ from = "20:00", to = "07:00", days = ["sat"], value = 0.7 }, { from = "12:00", to = "13:00", value = 2 }]
      blank_after = 600
      wake_seconds = 60
      blank_in_calls = true
      [[camera]]
      device = "file:clip.y4m"
      width = 640
      height = 360
      rate = 25
      [[camera]]
      device = "synthetic"
      [sound]
      capture = "file:/srv/speech.wav"
      playback = "file:heard.wav"
      [network]
      interfaces = ["eth0", "wlan0"]
      [tls]
      ca_files = ["site.pem", "/etc/ssl/other.pem"]
      [access]
      remote_input = false
      [notices]
      foreground = "#00ff7F"
      background = "#000000"
      [logs]
      level = "debug"
      """)
    let call = try #require(configuration.call)
    #expect(call.target == .direct(whip: "https://sfu.example.org/whip/A%2F7", whep: "http://localhost:8080/whep?name=Lobby%20desk"))
    #expect(call.token == .file("/etc/parlor/secrets/token"))
    #expect(call.isRelayOnly && call.codec == .h264 && call.start == .manual && call.connectTimeout == 7.5)
    #expect(call.iceServers.map(\.urls) == [["stun:stun.example.org"], ["turn:192.0.2.1:3478?transport=udp", "turns:[2001:db8::1]"]])
    #expect(call.iceServers[1].username == "u" && call.iceServers[1].credential == .text("p"))
    #expect(configuration.grants.all.map(\.origin.description) == ["https://calls.example.org", "https://other.example.org:8443"])
    #expect(configuration.identity == Configuration.Identity(name: "Lobby desk", serial: "A/7"))
    #expect(configuration.display.mode == Configuration.Display.Mode(width: 1280, height: 720, rate: 50))
    #expect(configuration.display.rotation == .threeQuarters && configuration.display.fit == .cover)
    #expect(configuration.display.card == "/dev/dri/card1" && configuration.display.outputs == .one && configuration.display.gamma == 1.2)
    let periods = configuration.power.schedule.periods
    #expect(periods.map { "\($0.from)-\($0.to)" } == ["20:00-07:00", "12:00-13:00"] && periods.map(\.days.count) == [2, 7])
    let gammas = configuration.power.gamma.periods
    #expect(gammas.map { "\($0.time.from)-\($0.time.to) \($0.value)" } == ["20:00-07:00 0.7", "12:00-13:00 2.0"])
    #expect(gammas.map(\.time.days.count) == [1, 7])
    #expect(configuration.power.blankAfter == 600 && configuration.power.wakeSeconds == 60 && configuration.power.blanksCalls)
    #expect(configuration.display.corner == .topLeft && !configuration.display.mirrorsSelfView)
    #expect(configuration.cameras.map(\.device) == [.file("/etc/parlor/clip.y4m"), .synthetic])
    #expect(configuration.cameras[0].width == 640 && configuration.cameras[0].height == 360 && configuration.cameras[0].rate == 25)
    #expect(configuration.sound.capture == .file("/srv/speech.wav") && configuration.sound.playback == .file("/etc/parlor/heard.wav"))
    #expect(configuration.network.callInterfaces == ["eth0", "wlan0"])
    #expect(configuration.tls.certificateFiles == ["/etc/parlor/site.pem", "/etc/ssl/other.pem"])
    #expect(configuration.notices.theme == Notice.Theme(foreground: Color(red: 0, green: 255, blue: 127), background: .black))
    #expect(configuration.logs.level == .debug)
    #expect(configuration.warnings.map(\.key) == ["grants[0].origin", "grants[1].origin"])
  }

  @Test func exampleFilesLoad() throws {
    let example = try Configuration.load(path: "\(folder)/parlor.toml")
    #expect(example.warnings.isEmpty)
    #expect(example.call?.target == .direct(whip: "https://sfu.example.org/whip/0001", whep: "https://sfu.example.org/whep/desk"))
    #expect(example.call?.token == .file("\(folder)/token"))
    #expect(try Configuration.load(path: "\(folder)/direct.toml").call?.start == .boot)
    let page = try Configuration.load(path: "\(folder)/page.toml")
    #expect(page.warnings.isEmpty)
    #expect(page.call?.target == .page(url: "https://calls.example.org/room/lobby?box=0001"))
    #expect(page.grants.all.count == 1 && page.call?.loadDeadline == 15 && page.page.dialogTimeout == 30)
  }

  @Test func examplesInTheREADMEAreValid() throws {
    let text = String(decoding: TemporaryFolder.bytes(of: "\(folder)/../README.md"), as: UTF8.self)
    let examples = text.components(separatedBy: "```toml\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    #expect(examples.count == 2)
    for example in examples { #expect(try load(example).warnings.isEmpty) }
  }

  @Test func byteOrderMarkAndWindowsLinesAreFine() throws {
    let text = "\u{FEFF}[call]\r\n  whip = \"https://sfu.example.org/\"\r\ncodec = \"AV1\"\r\n"
    #expect(messages(text) == ["3:9: call.codec: \"AV1\" is not accepted; accepted: \"VP8\", \"H264\""])
    #expect(try load(text.replacing("AV1", with: "VP8")).call?.codec == .vp8)
  }

  private func call(_ keys: String) -> String { "[call]\nwhip = \"https://sfu.example.org/\"\n\(keys)\n" }

  @Test func callKeyIsANameOrANumber() throws {
    #expect(try load(call("key = \"KEY_F1\"")).call?.key == 59)
    #expect(try load(call("key = \"BTN_0\"")).call?.key == 0x100)
    #expect(try load(call("key = 167\nstart = \"key\"")).call?.key == 167)
    #expect(try load(call("")).call?.key == nil)
    let accepted = "accepted: a name of linux/input-event-codes.h, as \"KEY_F1\" or \"BTN_0\", 1 to 767"
    #expect(messages(call("key = \"KEY_FI\"")) == ["3:7: call.key: \"KEY_FI\" is no key; did you mean KEY_F1?; \(accepted)"])
    #expect(messages(call("key = 0")) == ["3:7: call.key: 0 is out of range; accepted: 1 to 767"])
    #expect(messages(call("key = true")) == ["3:7: call.key: expected a text in quotes, found true or false"])
  }

  @Test func callButtonIsALineOfAChip() throws {
    let line = "gpio = { chip = \"/dev/gpiochip0\", line = 17, active_low = true, bias = \"pull-up\" }\nstart = \"touch\""
    let button = try load(call(line)).call?.button
    #expect(button == GPIOLine(chip: "/dev/gpiochip0", line: 17, isActiveLow: true, bias: .pullUp))
    #expect(try load(call("gpio = { chip = \"/dev/gpiochip1\", line = 0 }")).call?.button == GPIOLine(chip: "/dev/gpiochip1", line: 0))
    #expect(messages(call("gpio = { chip = \"gpiochip0\", line = 1 }")).count == 1)
    #expect(messages(call("gpio = { line = -1, bias = \"up\" }")).count == 3)
  }

  @Test func startByKeyNeedsAKey() {
    #expect(
      messages(call("start = \"key\"")) == [
        "3:9: call.start: needs call.key or call.gpio, which name the key or button; accepted: \"boot\", \"touch\", \"manual\""
      ])
  }

  @Test func allErrorsAreReportedTogetherInTheFilesOrder() {
    let text = """
      [call]
      whip = "sfu.example.org/whip"
      codecs = "VP8"
      start = "now"
      connect_timeout = 0
      [display]
      rotate = 45
      mode = "4k"
      [[camera]]
      rate = "fast"
      [[camera]]
      device = "USB Camera"
      [sound]
      capture = "file:speech.mp3"
      [colour]
      """
    #expect(
      messages(text) == [
        "2:8: call.whip: \"sfu.example.org/whip\" is no URL; accepted: https://HOST[:PORT]/PATH or http://HOST[:PORT]/PATH",
        "3:1: call.codecs: unknown key; did you mean codec?",
        "4:9: call.start: \"now\" is not accepted; accepted: \"boot\", \"touch\", \"key\", \"manual\"",
        "5:19: call.connect_timeout: 0.0 is out of range; accepted: 1.0 to 300.0",
        "7:10: display.rotate: 45 is not accepted; accepted: 0, 90, 180, 270",
        "8:8: display.mode: \"4k\" is not accepted; accepted: WIDTHxHEIGHT[@RATE], as 1920x1080@60",
        "10:8: camera[0].rate: expected a number, found a text",
        "14:11: sound.capture: \"file:speech.mp3\" is not accepted; accepted: \"any\", \"default\", \"none\", \"synthetic\", \"file:PATH.wav\", a card's identifier (/proc/asound/cards), or an ALSA name as \"hw:CARD,0\"",
        "15:1: colour: unknown key; accepted: access, call, camera, display, grants, identity, limits, logs, network, notices, page, power, sound, time, tls, update",
      ])
  }

  @Test(arguments: [
    ("[call]\n", "call", "names nobody"),
    ("[call]\nurl = \"https://a\"\nwhip = \"https://a\"\n", "call.url", "exclude"),
    ("[call]\nwhip = \"https://a\"\ntoken = \"t\"\ntoken_file = \"f\"\n", "call.token_file", "given already"),
    ("[call]\nwhip = \"https://a/${serial}\"\n", "call.whip", "identity.serial is not given"),
    ("[call]\nwhip = \"https://a/${room}\"\n", "call.whip", "unknown name"),
    ("[call]\nwhip = \"\"\n", "call.whip", "is empty"),
    ("[call]\nwhip = \"https://a\\nb\"\n", "call.whip", "control character"),
    ("[call]\nwhip = 7\n", "call.whip", "expected a text in quotes, found a number"),
    ("[call]\nwhip = \"https://a\"\nice_servers = [ { urls = [] } ]\n", "call.ice_servers[0].urls", "names no server"),
    ("[call]\nwhip = \"https://a\"\nice_servers = [ { urls = \"turn:a\" } ]\n", "call.ice_servers[0].urls", "username and credential"),
    ("[call]\nwhip = \"https://a\"\nice_servers = [ { urls = \"https://a\" } ]\n", "call.ice_servers[0].urls", "not accepted"),
    ("[call]\nwhip = \"https://a\"\nice_servers = \"stun:a\"\n", "call.ice_servers", "expected a list of tables"),
    ("call = 1\n", "call", "expected a table, found a number"),
    ("[grants]\norigin = \"https://a\"\n", "grants", "expected a list of tables"),
    ("[[grants]]\ncamera = true\n", "grants[0].origin", "is missing"),
    ("[[grants]]\norigin = \"https://a/b\"\n", "grants[0].origin", "not accepted"),
    ("[[grants]]\norigin = \"http://a\"\n", "grants[0].origin", "cannot be impersonated"),
    ("[[grants]]\norigin = \"https://a\"\n[[grants]]\norigin = \"https://A\"\n", "grants[1].origin", "has a grant already"),
    ("[[grants]]\norigin = \"https://a\"\ncamera = \"yes\"\n", "grants[0].camera", "expected true or false"),
    ("[display]\nrotate = 1.5\n", "display.rotate", "expected a whole number"),
    ("[display]\nrotate = 99999999999999999999999\n", "display.rotate", "not accepted"),
    ("[display]\noutputs = \"both\"\n", "display.outputs", "accepted: \"all\", \"one\""),
    ("[display]\ncard = \"card0\"\n", "display.card", "as /dev/dri/card0"),
    ("[display]\nterminal = \"/dev/tty0\"\n", "display.terminal", "/dev/tty1 to /dev/tty63"),
    ("[display]\nconnector = \"HDMI 1\"\n", "display.connector", "as HDMI-A-1"),
    ("[display]\ngamma = 3\n", "display.gamma", "0.5 to 2.0"),
    ("[display]\nconector = \"HDMI-A-1\"\n", "display.conector", "did you mean connector?"),
    ("[power]\nblank = [{ from = \"20:00\" }]\n", "power.blank[0].to", "is missing"),
    ("[power]\nblank = [{ from = \"20:00\", to = \"24:00\" }]\n", "power.blank[0].to", "HH:MM"),
    ("[power]\nblank = [{ from = \"20:00\", to = \"7:00\", days = [\"mon\"] }]\n", "power.blank[0].to", "HH:MM"),
    ("[power]\nblank = [{ from = \"20:00\", to = \"07:00\", days = [\"monday\"] }]\n", "power.blank[0].days[0]", "\"mon\", \"tue\""),
    ("[power]\nblank = [{ from = \"20:00\", to = \"07:00\", days = [] }]\n", "power.blank[0].days", "names no day"),
    ("[power]\ngamma = [{ from = \"20:00\", to = \"07:00\" }]\n", "power.gamma[0].value", "is missing; accepted: 0.5 to 2.0"),
    (
      "[power]\ngamma = [{ from = \"20:00\", to = \"07:00\", value = 0.4 }]\n", "power.gamma[0].value", "out of range; accepted: 0.5 to 2.0"
    ),
    ("[power]\ngamma = [{ from = \"20:00\", value = 1 }]\n", "power.gamma[0].to", "is missing"),
    ("[power]\ngamma = [{ from = \"20:00\", to = \"07:00\", valu = 1, value = 1 }]\n", "power.gamma[0].valu", "did you mean value?"),
    ("[power]\nblank = \"20:00\"\n", "power.blank", "expected a list of tables"),
    ("[power]\nwake_seconds = 0\n", "power.wake_seconds", "out of range"),
    ("[power]\nblank_afer = 5\n", "power.blank_afer", "did you mean blank_after?"),
    ("[[camera]]\nwidth = 1\n", "camera[0].width", "out of range"),
    ("[[camera]]\ndevice = \"/srv/clip.y4m\"\n", "camera[0].device", "accepted: \"any\", \"none\", \"synthetic\", \"file:PATH.y4m\""),
    ("[[camera]]\ndevice = \"file:clip.mkv\"\n", "camera[0].device", "/dev/videoN"),
    ("[[camera]]\nbrightness = 101\n", "camera[0].brightness", "0.0 to 100.0"),
    (
      "[[camera]]\npower_line_frequency = 55\n", "camera[0].power_line_frequency", "55 is not accepted; accepted: 50, 60, \"auto\", \"off\""
    ),
    ("[[camera]]\npower_line_frequency = \"on\"\n", "camera[0].power_line_frequency", "accepted: 50, 60, \"auto\", \"off\""),
    ("[[camera]]\nmirror = 1\n", "camera[0].mirror", "expected true or false"),
    ("[sound]\nplayback = \"synthetic\"\n", "sound.playback", "not accepted"),
    ("[sound]\ncapture = \"USB Audio\"\n", "sound.capture", "a card's identifier"),
    ("[sound]\nvolume = -1\n", "sound.volume", "0 to 100"),
    ("[sound]\nautomatic_gain = \"yes\"\n", "sound.automatic_gain", "expected true or false"),
    ("[tls]\nca_files = \"a\"\n", "tls.ca_files", "expected a list of texts"),
    ("[tls]\nca_files = [1]\n", "tls.ca_files[0]", "expected a text, found a number"),
    ("[notices]\nforeground = \"red\"\n", "notices.foreground", "#rrggbb"),
    ("[logs]\nlevel = 2020-01-01\n", "logs.level", "found a date or time"),
  ])
  func wrongValueIsNamed(text: String, key: String, message: String) throws {
    let errors = problems(text).filter { $0.severity == .error }
    let problem = try #require(errors.first)
    #expect(errors.count == 1)
    #expect(problem.key == key)
    #expect(problem.description.contains(message), "\(problem)")
  }

  @Test func misspeltKeyInAListIsFound() {
    let text = "[call]\nwhip = \"https://a\"\nice_servers = [ { url = \"stun:a\" } ]\n"
    #expect(messages(text).contains("3:19: call.ice_servers[0].url: unknown key; did you mean urls?"))
  }

  @Test(arguments: [
    ("[call\n", 1, 1), ("[call]\nwhip = https://a\n", 2, 8), ("[call]\n\n  whip = \n", 3, 10), ("a = 1\na = 2\n", 2, 5),
    ("x = \"abc", 1, 5),
    ("x = 1 y = 2", 1, 7), ("\u{0}", 1, 1),
  ])
  func brokenTOMLIsPlaced(text: String, line: Int, column: Int) throws {
    let problem = try #require(problems(text).first)
    #expect(problem.line == line && problem.column == column && !problem.message.isEmpty, "\(problem)")
  }

  @Test func bytesThatAreNoTextAreRefused() {
    do throws(ConfigurationError) {
      _ = try Configuration(Array("[call]\nwhip = '".utf8) + [0xC3, 0x27, 10], file: "x")
      Issue.record("accepted")
    } catch {
      #expect(error.description == "x:2:9: not UTF-8")
    }
    #expect(throws: ConfigurationError.self) { try Configuration([0x78, 0x3D, 0x22, 0xFF, 0xFE, 0x22], file: "x") }
    #expect(throws: ConfigurationError.self) { try Configuration(Array(repeating: UInt8(ascii: "["), count: 500_000), file: "x") }
    #expect(throws: ConfigurationError.self) {
      try Configuration(Array(("x = " + String(repeating: "[{a=", count: 5_000)).utf8), file: "x")
    }
  }

  @Test func missingFileIsNamed() {
    #expect(throws: ConfigurationError.self) { try Configuration.load(path: "/nonexistent/parlor.toml") }
    do throws(ConfigurationError) { _ = try Configuration.load(path: "/nonexistent/parlor.toml") } catch {
      #expect(error.description == "/nonexistent/parlor.toml:1:1: No such file or directory")
    }
  }

  @Test func whatHasNoEffectAndOpenHTTPAreWarnedOf() {
    let text =
      "[call]\nwhip = \"http://sfu.example.org/\"\n[[camera]]\ndevice = \"synthetic\"\nzoom = 3\n[sound]\ncapture = \"syntetic\"\n[display]\nconnector = \"HDMI-A-1\"\noutputs = \"all\"\n"
    #expect(problems(text).map(\.key) == ["call.whip", "camera[0].zoom", "sound.capture", "display.outputs"])
    #expect(problems(text).allSatisfy { $0.severity == .warning && $0.description.contains("warning: ") })
  }

  @Test func devicesOfTheMachineAreNamed() throws {
    let text = """
      [[camera]]
      device = "usb-Acme_C1-video-index0"
      brightness = 40
      zoom = 12.5
      power_line_frequency = 50
      mirror = true
      [[camera]]
      device = "/dev/video2"
      power_line_frequency = "auto"
      own_h264 = "never"
      [[camera]]
      device = "none"
      [sound]
      capture = "default"
      playback = "hw:Kiosk,0"
      echo_cancellation = false
      noise_suppression = false
      automatic_gain = false
      volume = 60
      """
    #expect(problems(text).isEmpty)
    let configuration = try Configuration(Array(text.utf8), file: "parlor.toml")
    var wanted = CameraSettings()
    wanted.selection = .named("usb-Acme_C1-video-index0")
    (wanted.brightness, wanted.zoom, wanted.powerLineFrequency, wanted.isMirrored) = (0.4, 0.125, .hertz50, true)
    #expect(configuration.cameras[0].settings == wanted)
    #expect(configuration.cameras[1].settings?.selection == .named("/dev/video2"))
    #expect(configuration.cameras[1].settings?.powerLineFrequency == .automatic)
    #expect(configuration.cameras[0].settings?.ownH264 == .automatic && configuration.cameras[1].settings?.ownH264 == .never)
    #expect(configuration.cameras[2].settings == nil)
    let sound = configuration.sound
    #expect(sound.capture.soundSelection == .standard && sound.playback.soundSelection == .named("hw:Kiosk,0"))
    #expect(!sound.cancelsEcho && !sound.suppressesNoise && !sound.controlsGain && sound.volume == 60)
  }

  @Test func aBoxThatIsToldNothingUsesWhatIsThere() throws {
    let configuration = try Configuration([], file: "parlor.toml")
    #expect(configuration.cameras.isEmpty && Configuration.Camera().settings == CameraSettings())
    let sound = configuration.sound
    #expect(sound.capture.soundSelection == .any && sound.playback.soundSelection == .any)
    #expect(sound.cancelsEcho && sound.suppressesNoise && sound.controlsGain && sound.volume == 100)
  }
}
