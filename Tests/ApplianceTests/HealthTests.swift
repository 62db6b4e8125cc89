import FoundationEssentials
import Frames
import Sound
import Stage
import Testing

@testable import Appliance

@Suite struct HealthTests {
  private func time(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

  @Test func aClockThatNothingSetIsToldFromABadCertificate() {
    var health = Health(now: time(0))
    health.start(isProvisioned: true, now: time(0))
    // Before there was a network.
    health.raiseCall(.callUnreachable, "nobody answers", isClockSet: false, now: time(0))
    let early = "the server's certificate is not valid yet; the clock may be wrong"
    health.raiseCall(.callTLS, early, isClockSet: false, now: time(1))
    #expect(health.state == .error && health.codes == [.callTLS, .clockUnset])
    #expect(health.code == .callTLS && health.reason == "The clock is not set, and so the server's certificate seems not valid yet")
    health.raiseCall(.callTLS, early, isClockSet: true, now: time(2))
    #expect(health.codes == [.callTLS] && health.reason == early)
    health.raiseCall(.callTLS, "the server's certificate is not trusted: self-signed", isClockSet: false, now: time(3))
    #expect(health.codes == [.callTLS])
  }

  @Test func boxStartsConnectsAndCalls() {
    var health = Health(now: time(0))
    #expect(health.state == .starting && health.code == nil && health.notice(name: "Lobby", language: .english)?.kind == .starting)
    health.start(isProvisioned: true, now: time(1))
    #expect(health.state == .ready)
    health.setCall(.connecting, now: time(2))
    #expect(health.state == .loading && health.notice(name: "Lobby", language: .english)?.kind == .connecting)
    health.setCall(.connected, now: time(3))
    #expect(health.state == .inCall && health.since == time(3) && health.notice(name: "Lobby", language: .english) == nil)
    health.setCall(.connected, now: time(4))
    #expect(health.since == time(3))
    health.setCall(.idle, now: time(5))
    #expect(health.state == .ready && health.since == time(5))
  }

  @Test func boxWithoutACallSaysSo() {
    var health = Health(now: time(0))
    health.start(isProvisioned: false, now: time(1))
    #expect(health.state == .unprovisioned && health.notice(name: "", language: .english)?.title == "Not set up")
  }

  @Test func aDisplayInTroubleIsToldAndCallsGoOn() {
    var health = Health(now: time(0))
    health.start(isProvisioned: true, now: time(0))
    health.set((HealthCode(.nothingConnected), "no monitor is connected"), area: "display", now: time(1))
    #expect(health.state == .ready && health.code == .displayAbsent)
    // What nobody can plug in is an error.
    let mistake = DisplayStatus.Problem.connectorAbsent("connector HDMI-A-2 is not there; connected: HDMI-A-1")
    health.set((HealthCode(mistake), mistake.reason), area: "display", now: time(2))
    #expect(
      health.state == .error && health.codes == [.displayConnector]
        && health.notice(name: "", language: .english)?.title == Wording.noConnector.text(in: .english))
    health.setCall(.connected, now: time(3))
    #expect(health.state == .inCall && health.code == .displayConnector)
    health.set(nil, area: "display", now: time(4))
    #expect(health.code == nil)
    let problems: [DisplayStatus.Problem] = [.nothingConnected, mistake, .unusable("u"), .busy, .denied("d"), .noCard("n")]
    #expect(Set(problems.map(HealthCode.init)).count == problems.count)
    for problem in problems {
      #expect(HealthCode(problem).area == "display" && !problem.reason.isEmpty && HealthCode(problem).wording != .somethingWrong)
    }
  }

  @Test func refusedCallIsAnErrorUntilOneConnects() throws {
    var health = Health(now: time(0))
    health.start(isProvisioned: true, now: time(0))
    health.raise(.callUnauthorized, "sfu.example.org does not accept the token.", now: time(1))
    health.setCall(.connecting, now: time(2))
    #expect(health.state == .error && health.code == .callUnauthorized && health.since == time(1))
    let notice = try #require(health.notice(name: "Lobby", language: .english, retry: 8))
    #expect(notice.kind == .error(code: "call.unauthorized") && notice.countdown == 8)
    #expect(notice.title == "Not allowed to call" && notice.text.hasPrefix("sfu.example.org does not accept"))
    health.setCall(.connected, now: time(3))
    #expect(health.state == .inCall && health.code == nil && health.reason == nil)
  }

  @Test func networkMattersMoreThanWhatFollowsFromIt() {
    var health = Health(now: time(0))
    health.start(isProvisioned: true, now: time(0))
    health.raise(.callUnreachable, "no answer", now: time(1))
    health.raise(.networkDown, "no address", now: time(2))
    #expect(health.state == .offline && health.code == .networkDown && health.reason == "no address")
    health.clear(.networkDown, now: time(3))
    #expect(health.state == .error && health.code == .callUnreachable)
    health.clear(area: "call", now: time(4))
    #expect(health.state == .ready && health.codes.isEmpty)
  }

  @Test func missingCameraIsToldButStopsNoCall() {
    var health = Health(now: time(0))
    health.start(isProvisioned: true, now: time(0))
    health.raise(.cameraAbsent, "/dev/video0 is not there", now: time(1))
    #expect(health.state == .ready && health.code == .cameraAbsent)
    health.setCall(.connected, now: time(2))
    #expect(health.state == .inCall && health.code == .cameraAbsent && health.notice(name: "", language: .english) == nil)
  }

  @Test func wrongConfigurationIsAnErrorFromTheStart() {
    var health = Health(now: time(0))
    health.raise(.configurationInvalid, "parlor.toml:1:1: unknown key", now: time(0))
    #expect(health.state == .error && health.code == .configurationInvalid)
  }
}

@Suite struct StatusTests {
  @Test func everyMemberIsThereEvenWhenNothingIsKnown() throws {
    let status = Status(
      version: "1", name: "n", serial: "s", stage: Status.Screen(output: "headless", mode: "1920x1080@60"),
      sound: Status.Sound(capture: "none", playback: "none"), network: Status.Network(state: "down"),
      clock: Status.Clock(synchronised: false),
      since: Date(timeIntervalSince1970: 0))
    guard case .object(let members) = try JSON(status) else {
      Issue.record("not an object")
      return
    }
    #expect(
      Set(members.keys) == [
        "state", "code", "reason", "since", "version", "name", "serial", "url", "page", "stage", "cameras", "sound", "codecs", "calls",
        "network", "clock", "slot", "update", "grants",
      ])
    #expect(members["state"] == "starting" && members["page"] == .null && members["since"] == "1970-01-01T00:00:00Z")
    guard case .object(let stage)? = members["stage"] else {
      Issue.record("no stage")
      return
    }
    #expect(
      Set(stage.keys) == [
        "output", "mode", "mode_source", "rotation", "planes", "flips_per_second", "missed_flips", "blanked", "gamma", "problem",
      ])
    #expect(stage["gamma"] == .null)
    let nothing: JSON = [
      "capture": "none", "playback": "none", "xruns": 0, "volume": ["percent": 100, "muted": false], "microphone": .null, "speaker": .null,
    ]
    #expect(members["sound"] == nothing)
  }

  @Test func theScreenIsDescribedAsTheDisplayDoes() {
    var display = Stage(width: 16, height: 16).displayStatus
    (display.outputs, display.mode, display.modeSource, display.rotation) = (["HDMI-A-1", "DP-2"], "1920x1080@60", "preferred", .quarter)
    (display.planes, display.missedFlips, display.isBlanked) = (2, 3, true)
    display.gamma = 0.7
    display.problem = .unusable("the monitor at HDMI-A-1 does not offer 4000x100@60")
    let screen = Status.Screen(display, flipsPerSecond: 29.7)
    let sound = Status.Sound(capture: "none", playback: "none", volume: Volume(percent: 40, isMuted: true))
    let status = Status(
      version: "1", name: "n", serial: "s", stage: screen, sound: sound,
      network: Status.Network(state: "up"), clock: Status.Clock(synchronised: false), since: Date(timeIntervalSince1970: 0))
    #expect(
      status.text.contains(
        "screen    HDMI-A-1, DP-2 1920x1080@60 (preferred), turned by 90°, gamma 0.7, dark, 30 flips/s, 3 missed\n            the monitor at"
      ))
    #expect(screen.planes == 2 && screen.rotation == 90 && screen.gamma == 0.7)
    #expect(status.text.contains("playback none at 40 %, muted, 0 xruns"))
    display.outputs = []
    #expect(Status.Screen(display, flipsPerSecond: 0).summary == "no monitor")
  }

  @Test func devicesTellWhatTheyAreAndWhatIsWrongWithThem() throws {
    var sound = Status.Sound(capture: "any", playback: "Kiosk")
    var figures = StreamFigures()
    (figures.xruns, figures.delay, figures.drift, figures.period, figures.buffer) = (3, 11.26, -42.04, 5, 40)
    sound.microphone = Status.SoundDevice(state: .running(name: "USB Audio"), figures: figures, peak: 0.1)
    #expect(try JSON(sound.microphone)["processed_level_db"] == nil)
    sound.speaker = Status.SoundDevice(state: .absent(reason: "no card Kiosk"), figures: StreamFigures(), peak: 0)
    var status = Status(
      version: "1", name: "n", serial: "s", stage: Status.Screen(output: "headless", mode: "1920x1080@60"), sound: sound,
      network: Status.Network(state: "up"), clock: Status.Clock(synchronised: true), since: Date(timeIntervalSince1970: 0))
    status.cameras = [
      Status.Camera(id: "any", state: .running(name: "HD Webcam"), format: "MJPG", size: "1280x720", rate: 29.97),
      Status.Camera(id: "Top", state: .busy(reason: "another program has /dev/video2"), format: "", size: "1280x720", rate: 30),
    ]
    let json = try JSON(status)
    #expect(
      json["sound"]?["microphone"] == [
        "state": "running", "name": "USB Audio", "reason": .null, "xruns": 3, "delay_ms": 11.3, "period_ms": 5, "buffer_ms": 40,
        "drift_ppm": -42, "level_db": -20,
      ])
    #expect(json["sound"]?["speaker"]?["state"] == "absent" && json["sound"]?["speaker"]?["name"] == .null)
    guard case .array(let cameras)? = json["cameras"] else {
      Issue.record("no cameras")
      return
    }
    #expect(
      cameras[0] == [
        "id": "any", "name": "HD Webcam", "state": "running", "reason": .null, "format": "MJPG", "size": "1280x720", "rate": 29.97,
        "frames": 0, "dropped": 0,
      ])
    #expect(status.text.contains("camera    HD Webcam: running, 1280x720 MJPG at 30\n"))
    #expect(status.text.contains("camera    Top: busy, another program has /dev/video2\n"))
    #expect(status.text.contains("microphone USB Audio, delay 11.3 ms, drift -42.0 ppm, level -20.0 dB\n"))
    #expect(status.text.contains("speaker absent, no card Kiosk\n"))
  }

  @Test func statusSurvivesItsJSON() throws {
    var status = Status(
      version: "1", name: "n", serial: "s", stage: Status.Screen(output: "headless", mode: "1920x1080@60", flipsPerSecond: 29.97),
      sound: Status.Sound(capture: "none", playback: "none"), network: Status.Network(state: "up"),
      clock: Status.Clock(synchronised: false),
      since: Date(timeIntervalSince1970: 0))
    status.calls = [Status.Call(state: "connected", since: Date(timeIntervalSince1970: 60), peer: "sfu.example.org")]
    status.page = Status.Page(state: "loaded", url: "https://a")
    var health = Health(now: Date(timeIntervalSince1970: 5))
    health.raise(.networkDown, "no address", now: Date(timeIntervalSince1970: 5))
    health.start(isProvisioned: true, now: Date(timeIntervalSince1970: 6))
    status.take(health)
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let copy = try decoder.decode(Status.self, from: Data(JSON.text(status)))
    #expect(copy == status && copy.state == .offline && copy.code == "network.down")
    #expect(copy.text.contains("network.down: no address"))
  }
}
