import Base
import BridgeMessages
import Call
import Camera
import DTLS
import FoundationEssentials
import Frames
import Glibc
import Net
import PageSession
import Sound
import Stage
import Synchronization
import WebRTC

/// `parlor demo`: the built-in page calls the built-in peer, on this machine alone, and what was measured of it.
struct PageDemo: Sendable {
  private let options: Demo.Options
  private let progress: @Sendable (String) -> Void

  /// A demo; `progress` is told of each step as it is taken.
  init(options: Demo.Options, progress: @escaping @Sendable (String) -> Void) { (self.options, self.progress) = (options, progress) }

  /// How long the page may take to be connected and seen.
  private static let patience = Interval.seconds(60)

  /// What was seen on the screen, gathered on the stage's thread.
  private final class Screen: Sendable {
    struct Findings {
      var firstFrame: Instant?
      var shown = 0
      var latencies: [Double] = []
    }

    let findings = Mutex(Findings())
    let page = Mutex<PageCall?>(nil)

    func flipped(_ flip: Flip) {
      page.withLock { $0 }?.flipped(flip)
      // The self-view never was received.
      for video in flip.videos where video.ledger[.receive] != nil {
        let code = TimeCode.read(from: video.frame.buffer)
        findings.withLock { findings in
          findings.shown += 1
          if findings.firstFrame == nil { findings.firstFrame = flip.time }
          // The code holds whole milliseconds, so half of one is lost on average.
          if let code { findings.latencies.append(flip.time.milliseconds - Double(code.milliseconds) - 0.5) }
        }
      }
    }
  }

  /// Has the page place the call, measures it, hangs up. Throws when it does not connect or shows nothing.
  func run() async throws -> Demo.Measurement {
    guard PageProgram.path() != nil else { throw Demo.Failure(description: PageProgram.absence) }
    progress("Starting the page's site and the built-in peer")
    let site = try await DemoSite()
    progress("The page is at \(site.url)")
    let folder = FileManager.default.temporaryDirectory.appending(path: "parlor-demo-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let outcome: Result<Demo.Measurement, any Error>
    do { outcome = .success(try await measure(site, folder)) } catch { outcome = .failure(error) }
    await site.stop()
    try? FileManager.default.removeItem(atPath: folder)
    return try outcome.get()
  }

  private func measure(_ site: DemoSite, _ folder: String) async throws -> Demo.Measurement {
    let certificate = try Certificate.generate()
    let stage = Stage(width: options.width, height: options.height)
    let user = getuid()
    let server = try WaylandServer(
      path: "\(folder)/wayland-0", width: stage.width, height: stage.height, refreshRate: stage.refreshRate, isAdmitted: { $0.user == user }
    )
    let screen = Screen()
    let stageThread = StageThread(stage: stage, server: server) { screen.flipped($0) }
    let network = await NetworkThread()
    let camera = CameraThread(source: SyntheticCamera())
    let microphone = MicrophoneThread(source: SyntheticMicrophone())
    let sounds = SoundProbe()
    let playout = PlayoutThread { sounds.listen(to: $0, time: $1) }
    let page = PageCall(
      configuration(site, folder, certificate), network: network, stage: stage, onChange: { _ in }, onNews: { _ in })
    screen.page.withLock { $0 = page }
    stageThread.start()

    let outcome: Result<Demo.Measurement, any Error>
    do {
      try await page.start(
        media: PageService.Media(
          cameras: [PageService.Media.Camera(identifier: "camera", label: "Camera", camera: camera)],
          microphone: PageService.Media.Microphone(identifier: "microphone", label: "Microphone", sound: { _ in microphone.sound }),
          speaker: PageService.Media.Speaker(playout: playout))
      )
      outcome = .success(try await follow(page, site, screen, sounds, stage))
    } catch {
      outcome = .failure(error)
    }
    screen.page.withLock { $0 = nil }
    await page.stop()
    camera.stop()
    microphone.stop()
    playout.stop()
    stageThread.stop()
    network.stop()
    return try outcome.get()
  }

  private func configuration(_ site: DemoSite, _ folder: String, _ certificate: Certificate) -> PageCall.Configuration {
    var session = PeerSession.Configuration(certificate: certificate)
    session.includesLoopback = true
    let origin = site.origin
    return PageCall.Configuration(
      service: PageService.Configuration(
        runtimeFolder: folder, page: PageSettings(url: site.url), session: session,
        grants: { PageService.Grant(camera: $0 == origin, microphone: $0 == origin) }),
      supervisor: PageSupervisor.Configuration(url: site.url), process: .here(runtime: folder, seed: 1))
  }

  /// Waits for the call, and measures it.
  private func follow(
    _ page: PageCall, _ site: DemoSite, _ screen: Screen, _ sounds: SoundProbe, _ stage: Stage
  ) async throws -> Demo.Measurement {
    progress("Starting the web engine")
    let times = try await connect(page, site, screen)
    progress("Connected \(Int(times.connect.milliseconds)) ms after the page began; measuring for \(Int(options.seconds)) s")
    let start = MonotonicClock.now()
    let (processesBefore, sentBefore) = (PageDemo.processes(page), await PageDemo.sent(page))
    let shownBefore = screen.findings.withLock { $0.shown }
    try? await Task.sleep(for: .seconds(options.seconds))
    let elapsed = (MonotonicClock.now() - start).seconds
    let (processesAfter, sentAfter) = (PageDemo.processes(page), await PageDemo.sent(page))
    let seen = screen.findings.withLock { $0 }
    let png = try stage.screenshot()
    progress("Hanging up")

    guard let figures = LatencyRecorder.figures(seen.latencies) else {
      throw Demo.Failure(description: "the call connected but no picture of the peer was shown")
    }
    var result = Demo.Result()
    result.connectMilliseconds = times.connect.milliseconds
    result.firstFrameMilliseconds = times.firstFrame.milliseconds
    (result.framesSent, result.framesShown) = (sentAfter.frames, seen.shown)
    result.framesPerSecond = Double(seen.shown - shownBefore) / elapsed
    result.captureToDisplay = Demo.Result.Percentiles(p50: figures.p50, p95: figures.p95, p99: figures.p99)
    result.audioDelayMilliseconds = LatencyRecorder.figures(sounds.findings.delays(since: site.peer.microphoneStart))?.p50
    result.bitrateKilobits = Double(sentAfter.bytes - sentBefore.bytes) * 8 / 1_000 / elapsed
    result.processorCores = (processesAfter.processorSeconds - processesBefore.processorSeconds) / elapsed
    result.memoryMebibytes = processesAfter.memoryMebibytes
    result.codec = sentAfter.codec
    return Demo.Measurement(result: result, png: png)
  }

  /// Waits until the page's call is connected and its first picture is seen; returns how long both took from the page's script on.
  private func connect(_ page: PageCall, _ site: DemoSite, _ screen: Screen) async throws -> (connect: Interval, firstFrame: Interval) {
    let deadline = MonotonicClock.now() + PageDemo.patience
    var step = ""
    while MonotonicClock.now() < deadline {
      let (state, times) = (page.state, site.times)
      if let started = times.started, let connected = times.connected, let first = screen.findings.withLock({ $0.firstFrame }) {
        return (connected - started, first - started)
      }
      if let title = state.title, title.contains("failed:") { throw Demo.Failure(description: "the page says: \(title)") }
      let new = state.code.map { "\(state.reason ?? "") (\($0))" } ?? (state.isDrawn ? "The page is on the screen" : "")
      if new != step, !new.isEmpty { progress(new) }
      step = new
      try await Task.sleep(for: .milliseconds(20))
    }
    let times = site.times
    let reached =
      times.started == nil
      ? "the page does not run" : times.connected == nil ? "its call is not connected" : "no picture of the peer is shown"
    throw Demo.Failure(description: "after \(Int(PageDemo.patience.seconds)) s \(reached)" + (step.isEmpty ? "" : ": \(step)"))
  }

  /// What this process, the page program and everything that it started use together.
  private static func processes(_ page: PageCall) -> ProcessFigures {
    let others = page.host.map { ProcessFigures.tree(of: $0, named: PageProgram.name) } ?? [:]
    return others.values.reduce(ProcessFigures.current(), +)
  }

  private static func sent(_ page: PageCall) async -> (frames: Int, bytes: Int, codec: String) {
    var result = (frames: 0, bytes: 0, codec: "")
    for report in await page.statistics()?.peerConnections ?? [] {
      for statistic in report.values where statistic["type"] == "outbound-rtp" {
        result.bytes += statistic["bytesSent"]?.intValue ?? 0
        guard statistic["kind"] == "video" else { continue }
        result.frames += statistic["framesSent"]?.intValue ?? 0
        if case .text(let codec)? = statistic["codecId"], case .text(let type)? = report[codec]?["mimeType"] {
          result.codec = type.split(separator: "/").last.map(String.init) ?? type
        }
      }
    }
    return result
  }
}

extension Instant {
  /// Milliseconds since the clock's origin.
  fileprivate var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
