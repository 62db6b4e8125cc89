import Base
import Call
import DTLS
import Foundation
import Frames
import Net
import Sound
import Stage
import Testing

@testable import Appliance

/// What the self-test says of what it found.
@Suite struct DeviceCheckTests {
  private func camera(
    _ state: DeviceState = .running(name: "HD Webcam"), count: Int = 31, every milliseconds: Int64 = 33, luma: (Int) -> UInt8
  ) -> CheckItem {
    var check = CameraCheck()
    let buffer = VideoBuffer(width: 64, height: 36)
    for row in 0..<36 { for column in 0..<64 { buffer.luma[row * buffer.lumaStride + column] = luma(column) } }
    for index in 0..<count {
      check.take(VideoFrame(buffer: buffer), at: Instant.zero + .milliseconds(milliseconds) * Int64(index))
    }
    return check.item("camera[0]", device: "HD Webcam", state: state, format: "MJPG", framesPerSecond: 30)
  }

  @Test func aCameraThatWorks() {
    let item = camera { UInt8(40 + $0 * 2) }
    #expect(item.verdict == .ok && item.text == "30.3 pictures a second, 64x36 MJPG, brightness 38 %")
    #expect(item.figures["rate_hz"] == 30.3 && item.figures["width"] == 64)
    #expect(item.line == "ok       camera[0]   HD Webcam: 30.3 pictures a second, 64x36 MJPG, brightness 38 %")
  }

  @Test func aCoveredLensIsToldFromADeadCamera() {
    let covered = camera { UInt8(16 + $0 % 4) }
    #expect(covered.verdict == .failed && covered.text.hasPrefix("no picture: is the lens covered"))
    let grey = camera { _ in 128 }
    #expect(grey.verdict == .failed && grey.text.hasPrefix("a picture of one colour"))
    let dead = camera(count: 0) { _ in 0 }
    #expect(dead.verdict == .failed && dead.text.contains("gives no pictures") && dead.figures.isEmpty)
    let slow = camera(count: 10, every: 100) { UInt8(40 + $0 * 2) }
    #expect(slow.verdict == .failed && slow.text.hasPrefix("too few pictures: 30.0 a second were promised"))
  }

  @Test func aCameraThatIsNotThereSaysWhy() {
    let item = camera(.busy(reason: "another program has /dev/video0"), count: 0) { _ in 0 }
    #expect(item.verdict == .failed && item.text == "busy: another program has /dev/video0")
    #expect(camera(.starting, count: 0) { _ in 0 }.text == "it did not start in time")
  }

  private func sound(_ change: (inout SoundCheck, inout SoundLoopTest.Result) -> Void = { _, _ in }) -> [CheckItem] {
    var check = SoundCheck(
      microphone: .init(name: "Desk", state: .running(name: "Desk")), speaker: .init(name: "Loud", state: .running(name: "Loud")),
      volume: Volume())
    var result = SoundLoopTest.Result(noise: -62)
    (result.delay, result.level, result.echo, result.reduction) = (.nanoseconds(43_200_000), -31.2, -60.4, 29.2)
    change(&check, &result)
    if check.isPossible { check.result = result }
    return check.items
  }

  @Test func soundThatWorks() {
    let items = sound()
    #expect(items.map(\.verdict) == [.ok, .ok, .ok])
    #expect(items[0].text == "it gives sound; the room is -62 dB loud")
    #expect(items[1].text == "a chirp was heard after 43 ms, -31 dB loud" && items[1].figures == ["delay_ms": 43.2, "level_db": -31.2])
    #expect(items[2].text == "-60 dB are left after cancellation, 29 dB less than came")
  }

  @Test func whatIsNotHeardIsExplained() {
    let deaf = sound { ($1.delay, $1.level, $1.echo, $1.reduction) = (nil, nil, nil, nil) }
    #expect(
      deaf.map(\.verdict) == [.ok, .failed, .skipped] && deaf[1].text.hasPrefix("the chirp was not heard: is the loudspeaker switched on"))
    let zeros = sound { ($1.noise, $1.delay, $1.level, $1.echo, $1.reduction) = (-120, nil, nil, nil, nil) }
    #expect(zeros[0].verdict == .failed && zeros[0].text.contains("nothing but zeros"))
    let mute = sound { check, _ in check.volume = Volume(percent: 60, isMuted: true) }
    #expect(mute.map(\.verdict) == [.ok, .failed, .skipped] && mute[1].text.contains("60 %, muted"))
    let echoing = sound { ($1.echo, $1.reduction) = (-34, 3) }
    #expect(echoing[2].verdict == .failed && echoing[2].text.hasPrefix("others hear themselves"))
    let quiet = sound { ($1.level, $1.echo, $1.reduction) = (-63, -62, 1) }
    #expect(quiet[2].verdict == .ok, "an echo below the noise is none")
    #expect(sound { $1.level = -1 }[1].text.hasPrefix("too loud"))
  }

  /// A microphone at the end of a cable from the loudspeaker, a tenth as loud and 50 ms late.
  private final class Cable: AudioSource, @unchecked Sendable {
    let channelCount = 1
    private let blocks = Guarded(Array(repeating: AudioBlock.silence(), count: 5))
    func put(_ block: AudioBlock) { blocks.with { $0.append(block.scaled(from: 0.1, to: 0.1)) } }
    func block(at index: Int, captureTime: Instant?) -> AudioBlock {
      blocks.with { $0.isEmpty ? .silence() : $0.removeFirst() }
    }
  }

  @Test func aChirpIsPlayedAndHeard() async throws {
    let cable = Cable()
    let playout = PlayoutThread { block, _ in cable.put(block) }
    let microphone = MicrophoneThread(source: cable)
    let result = try #require(await DeviceChecker.listen(microphone, playout))
    microphone.stop()
    playout.stop()
    #expect(abs(try #require(result.level) - (Chirp().level - 20)) < 3, "\(result)")
    #expect(try #require(result.delay) > .milliseconds(20) && result.echo == nil)
  }

  @Test func theNetworkSaysWhatItLacks() throws {
    let address = try #require(IPAddress("192.0.2.7"))
    let good = DeviceChecker.networkItem([
      NetworkInterface(name: "eth0", state: .ready, addresses: [address]), NetworkInterface(name: "eth1", state: .withoutLink),
    ])
    #expect(good.verdict == .ok && good.text == "eth0 192.0.2.7")
    let bad = DeviceChecker.networkItem([
      NetworkInterface(name: "eth0", state: .withoutLink), NetworkInterface(name: "wlan0", isWireless: true, state: .withoutLink),
      NetworkInterface(name: "eth1", state: .withoutAddress), NetworkInterface(name: "eth2", state: .off),
    ])
    #expect(bad.verdict == .failed)
    #expect(
      bad.text
        == "eth0 has no cable; wlan0 has no radio network; eth1 has no address: does a DHCP server answer?; eth2 is switched off")
    #expect(DeviceChecker.networkItem([]).text == "there is no network interface")
    let lacking = ConnectionTrouble(.firmware, "the Wi-Fi device 1-4 does not work")
    #expect(DeviceChecker.networkItem([], troubles: [lacking]).text == "there is no network interface; the Wi-Fi device 1-4 does not work")
    let cable = [NetworkInterface(name: "eth0", state: .ready, addresses: [address])]
    #expect(DeviceChecker.networkItem(cable, troubles: [lacking]).text == "eth0 192.0.2.7; the Wi-Fi device 1-4 does not work")
    #expect(DeviceChecker.clockItem(isSet: true).verdict == .ok && DeviceChecker.clockItem(isSet: false).verdict == .failed)
  }

  @Test func theScreenIsTheDisplaysOrTheKernels() throws {
    #expect(CheckItem(screen: Status.Screen(output: "headless", mode: "640x360@60")).verdict == .skipped)
    #expect(CheckItem(screen: Status.Screen(output: "HDMI-A-1", mode: "1920x1080@60")).text == "HDMI-A-1 1920x1080@60")
    var missing = Status.Screen(output: "", mode: "")
    missing.problem = "no monitor is connected; the picture waits for one"
    #expect(CheckItem(screen: missing) == CheckItem("screen", .failed, "no monitor is connected; the picture waits for one"))
    let folder = TemporaryFolder()
    #expect(CheckItem(connectorsIn: folder.path).text == "there is no graphics card")
    for (name, state) in [("card0-HDMI-A-1", "disconnected"), ("card0-DP-2", "disconnected")] {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
      _ = folder.write(state + "\n", to: "\(name)/status")
    }
    #expect(CheckItem(connectorsIn: folder.path).text == "no monitor is connected")
    _ = folder.write("connected\n", to: "card0-DP-2/status")
    #expect(CheckItem(connectorsIn: folder.path) == CheckItem("screen", .ok, "connected: DP-2"))
  }

  @Test func aServerThatRefusesSaysSo() async throws {
    let network = await NetworkThread()
    let server = ICEServer(url: "turn:127.0.0.1:9?transport=tcp", username: "u", credential: "p")
    let item = await ServerCheck(server: server).item(on: network, certificate: try Certificate.generate(), trust: .system)
    #expect(item.verdict == .failed && item.text.contains("refused"), "\(item)")
    network.stop()
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/turnserver"), "coturn is not installed"))
  func aServerThatRelaysDoes() async throws {
    let folder = TemporaryFolder()
    let port = Int.random(in: 20_000...29_999)
    let server = Process()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/turnserver")
    server.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    server.arguments = [
      "-n", "--no-cli", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--listening-port=\(port)", "--allow-loopback-peers",
      "--lt-cred-mech", "--user=user:secret", "--realm=example.org", "--no-tls", "--no-dtls", "--log-file=stdout", "--simple-log",
      "--pidfile=\(folder.path)/pid", "--userdb=\(folder.path)/db",
    ]
    (server.standardOutput, server.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try server.run()
    defer {
      kill(server.processIdentifier, SIGKILL)
      server.waitUntilExit()
    }
    let network = await NetworkThread()
    let certificate = try Certificate.generate()
    func item(_ url: String, _ password: String? = nil) async -> CheckItem {
      let server = ICEServer(url: url, username: password.map { _ in "user" }, credential: password)
      return await ServerCheck(server: server).item(on: network, certificate: certificate, trust: .system)
    }
    // Retransmissions bridge the time until the server is up.
    let relay = await item("turn:127.0.0.1:\(port)?transport=udp", "secret")
    #expect(relay == CheckItem("server", device: relay.device, .ok, "it relays as 127.0.0.1"))
    let wrong = await item("turn:127.0.0.1:\(port)?transport=udp", "wrong")
    #expect(wrong.verdict == .failed && wrong.text.hasPrefix("it does not know this user name or password"), "\(wrong)")
    let plain = await item("stun:127.0.0.1:\(port)")
    #expect(plain.verdict == .ok && plain.text == "it sees this box under its own address", "\(plain)")
    network.stop()
  }

  @Test func missingDevicesAreToldWithoutATest() {
    let items = sound { check, _ in
      check.microphone?.state = .absent(reason: "there is no microphone")
      check.speaker = nil
    }
    #expect(items.map(\.verdict) == [.failed, .skipped, .skipped] && items[0].text == "absent: there is no microphone")
  }
}
