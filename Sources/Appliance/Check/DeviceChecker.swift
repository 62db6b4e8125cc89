import Base
import CLinux
import Call
import DTLS
import FoundationEssentials
import Frames
import Net
import Sound

/// The self-test: looks at pictures, plays and hears a chirp, asks servers. Takes some ten seconds.
struct DeviceChecker: Sendable {
  let configuration: Configuration
  let media: BoxMedia
  let network: NetworkThread
  let certificate: Certificate
  let volume: Volume
  /// How the screen stands.
  let screen: CheckItem

  /// How long devices may take to start.
  private static let startPatience = Interval.seconds(5)
  /// How long pictures are looked at.
  private static let lookDuration = Duration.milliseconds(2_500)

  /// Tests everything, and tells what was found in a fixed order.
  func run() async -> [CheckItem] {
    await settle()
    async let cameras = cameraItems()
    async let servers = serverItems()
    let sound = await soundItems()
    return await cameras + sound + [screen, DeviceChecker.networkItem(NetworkInterfaces.all())] + servers + [DeviceChecker.clockItem()]
  }

  /// Waits for devices that are being opened. One that fails at first is opened again within a moment.
  private func settle() async {
    let end = MonotonicClock.now() + DeviceChecker.startPatience
    func isPending(_ state: DeviceState) -> Bool { if case .failed = state { true } else { state == .starting } }
    while media.watches.contains(where: { isPending($0.watch.state) }), MonotonicClock.now() < end {
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  // MARK: Cameras

  private func cameraItems() async -> [CheckItem] {
    if media.cameras.isEmpty { return [CheckItem("camera", .skipped, "the configuration has none")] }
    let checks = media.cameras.map { _ in Guarded(CameraCheck()) }
    let sinks = zip(media.cameras, checks).map { camera, check in
      // An onlooker: what is looked at here does not leave the box.
      camera.thread.pictures.add(isOnlooker: true) { frame in check.with { $0.take(frame, at: MonotonicClock.now()) } }
    }
    // The newest picture, which comes first of all, is of some moment before.
    for check in checks { check.with { $0 = CameraCheck() } }
    try? await Task.sleep(for: DeviceChecker.lookDuration)
    return media.cameras.indices.map { index in
      let camera = media.cameras[index]
      camera.thread.pictures.remove(sinks[index])
      let status = media.status(ofCamera: index)
      return checks[index].with {
        $0.item(
          "camera[\(index)]", device: status.name, state: camera.thread.watch.state, format: status.format,
          framesPerSecond: camera.thread.framesPerSecond)
      }
    }
  }

  // MARK: Sound

  private func soundItems() async -> [CheckItem] {
    var check = SoundCheck(volume: volume)
    let sound = media.soundStatus
    check.microphone = media.microphone.map { .init(name: sound.microphone?.name ?? sound.capture, state: $0.watch.state) }
    if media.isHeard { check.speaker = .init(name: sound.speaker?.name ?? sound.playback, state: media.playout.watch.state) }
    if check.isPossible, let microphone = media.microphone {
      check.result = await DeviceChecker.listen(microphone, media.playout)
    }
    return check.items
  }

  /// What the microphone heard, and what was left of that after processing.
  private struct Heard: Sendable {
    var raw: [AudioBlock] = []
    var cancelled: [AudioBlock] = []
  }

  /// Plays chirps and listens to them; nil when nothing was played in time.
  static func listen(_ microphone: MicrophoneThread, _ playout: PlayoutThread) async -> SoundLoopTest.Result? {
    let heard = Guarded(Heard())
    let (raw, cancelled) = (microphone.sound(.none), microphone.sound(VoiceProcessing()))
    let isCancelled = microphone.offersProcessing
    let rawSink = raw.add { block in heard.with { $0.raw.append(block) } }
    let cancelledSink = isCancelled ? cancelled.add { block in heard.with { $0.cancelled.append(block) } } : nil
    let chirps = ChirpSource()
    let playing = playout.add(chirps, as: PlayedSound())
    let length = Interval.milliseconds(10) * Int64(SoundLoopTest.blockCount)
    var end = MonotonicClock.now() + DeviceChecker.startPatience
    while MonotonicClock.now() < end {
      // What was heard last takes a moment until it arrives here.
      if let start = chirps.start { end = start + length + .milliseconds(300) }
      try? await Task.sleep(for: .milliseconds(50))
    }
    playout.remove(playing)
    raw.remove(rawSink)
    if let cancelledSink { cancelled.remove(cancelledSink) }
    guard let start = chirps.start else { return nil }
    var test = SoundLoopTest(start: start, cancelsEcho: isCancelled)
    let blocks = heard.with { $0 }
    for block in blocks.raw { if let time = block.captureTime { test.hear(block, at: time) } }
    for block in blocks.cancelled { if let time = block.captureTime { test.hearCancelled(block, at: time) } }
    return test.result()
  }

  // MARK: Network, servers, clock

  static func networkItem(_ interfaces: [NetworkInterface], troubles: [ConnectionTrouble] = ConnectionTrouble.load()) -> CheckItem {
    let ready = interfaces.filter { $0.state == .ready }
    let reasons = troubles.map(\.reason)
    guard ready.isEmpty else {
      let addresses = ready.map { "\($0.name) \($0.addresses.map { "\($0)" }.joined(separator: " "))" }
      return CheckItem("network", .ok, (addresses + reasons).joined(separator: "; "))
    }
    let states = interfaces.map { interface in
      switch interface.state {
      case .off: "\(interface.name) is switched off"
      case .withoutLink: "\(interface.name) has \(interface.isWireless ? "no radio network" : "no cable")"
      case .withoutAddress: "\(interface.name) has no address: does a DHCP server answer?"
      case .ready: interface.name
      }
    }
    return CheckItem("network", .failed, ((states.isEmpty ? ["there is no network interface"] : states) + reasons).joined(separator: "; "))
  }

  private func serverItems() async -> [CheckItem] {
    let servers = (configuration.call.map(Box.iceServers) ?? []).map { ServerCheck(server: $0) }
    if servers.isEmpty { return [CheckItem("server", .skipped, "the configuration names no STUN or TURN server")] }
    return await withTaskGroup(of: (Int, CheckItem).self) { group in
      for (index, server) in servers.enumerated() {
        group.addTask { (index, await server.item(on: network, certificate: certificate, trust: media.trust)) }
      }
      var items: [(Int, CheckItem)] = []
      for await item in group { items.append(item) }
      return items.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  static func clockItem(isSet: Bool = linux_clock_is_synchronised()) -> CheckItem {
    let time = Date().formatted(.iso8601)
    return isSet
      ? CheckItem("clock", .ok, "it is set: \(time)")
      : CheckItem("clock", .failed, "nothing has set it: \(time); does a time server answer?")
  }
}
