import Base
import Camera
import DTLS
import Frames
import Net
import Sound
import Stage
import WebRTC

/// `parlor demo --direct`: a call with the built-in peer, on this machine alone, and what was measured of it.
public struct Demo: Sendable {
  /// What to do.
  public struct Options: Sendable {
    /// How long the call lasts once it is connected, in seconds; at least 1.
    public var seconds = 6.0
    /// The screen's size in pixels.
    public var (width, height) = (1_280, 720)
    /// The defaults.
    public init() {}
  }

  private let options: Options
  private let progress: @Sendable (String) -> Void

  /// A demo; `progress` is told of each step as it is taken.
  public init(options: Options, progress: @escaping @Sendable (String) -> Void) { (self.options, self.progress) = (options, progress) }

  /// What was seen on the screen, gathered on the stage's thread.
  private final class Screen: Sendable {
    struct Findings {
      var firstFrame: Instant?
      var shown = 0
      var latencies: [Double] = []
    }

    let findings = Guarded(Findings())

    func flipped(_ flip: Flip) {
      guard let remote = flip.remote else { return }
      let code = TimeCode.read(from: remote.frame.buffer)
      findings.with { findings in
        findings.shown += 1
        if findings.firstFrame == nil { findings.firstFrame = flip.time }
        // The code holds whole milliseconds, so half of one is lost on average.
        if let code { findings.latencies.append(flip.time.seconds * 1_000 - Double(code.milliseconds) - 0.5) }
      }
    }
  }

  /// Places the call, measures it, hangs up. Throws when it does not connect or shows nothing.
  public func run() async throws -> Measurement {
    progress("Making a certificate and starting the built-in peer")
    let certificate = try Certificate.generate()
    let token = "demo"
    let peer = try await BuiltInPeer(token: token, certificate: try Certificate.generate())
    progress("The peer answers at \(peer.url(.publish)) and \(peer.url(.play))")

    let network = await NetworkThread()
    let stage = Stage(width: options.width, height: options.height)
    let screen = Screen()
    let stageThread = StageThread(stage: stage) { screen.flipped($0) }
    stageThread.start()
    let camera = CameraThread(source: SyntheticCamera())
    camera.add(stage.selfView) { stage.frameArrived() }
    let microphone = MicrophoneThread(source: SyntheticMicrophone())
    let sounds = SoundProbe()
    let playout = PlayoutThread { sounds.listen(to: $0, time: $1) }

    var session = PeerSession.Configuration(certificate: certificate)
    session.includesLoopback = true
    var configuration = DirectCall.Configuration(session: session)
    configuration.whip = try SignallingEndpoint(url: peer.url(.publish), token: token)
    configuration.whep = try SignallingEndpoint(url: peer.url(.play), token: token)
    let states = AsyncStream<(Leg.Kind, Leg.State, Instant)>.makeStream()
    let call = DirectCall(
      configuration: configuration,
      media: DirectCall.Media(camera: camera, microphone: microphone, playout: playout, show: { stage.show(remote: $0) }), network: network
    ) { states.continuation.yield(($0, $1, MonotonicClock.now())) }

    let start = MonotonicClock.now()
    let before = ProcessFigures.current()
    call.start()
    let outcome = await connect(states.stream, start: start)
    if case .success = outcome {
      progress("Connected; measuring for \(Int(options.seconds)) s")
      try? await Task.sleep(for: .seconds(options.seconds))
    }
    let end = MonotonicClock.now()
    let after = ProcessFigures.current()
    let seen = screen.findings.with { $0 }
    let sent = await sentFigures(call, network)
    let source = peer.microphoneStart
    let png = try? stage.screenshot()

    progress("Hanging up")
    await call.hangUp()
    await peer.stop()
    camera.remove(stage.selfView)
    camera.stop()
    microphone.stop()
    playout.stop()
    stageThread.stop()
    network.stop()

    let connected = try outcome.get()
    guard let firstFrame = seen.firstFrame, let figures = LatencyRecorder.figures(seen.latencies) else {
      throw Failure(description: "the call connected but no picture of the peer was shown")
    }
    var result = Result()
    result.connectMilliseconds = connected.milliseconds
    result.firstFrameMilliseconds = (firstFrame - start).milliseconds
    (result.framesSent, result.framesShown) = (sent.frames, seen.shown)
    result.framesPerSecond = Double(seen.shown) / (end - firstFrame).seconds
    result.captureToDisplay = Result.Percentiles(p50: figures.p50, p95: figures.p95, p99: figures.p99)
    result.audioDelayMilliseconds = LatencyRecorder.figures(sounds.findings.delays(since: source))?.p50
    result.bitrateKilobits = Double(sent.bytes) * 8 / 1_000 / (end - start - connected).seconds
    result.processorCores = (after.processorSeconds - before.processorSeconds) / (end - start).seconds
    result.memoryMebibytes = after.memoryMebibytes
    result.codec = sent.codec
    guard let png else { throw Failure(description: "the screen could not be turned into a PNG") }
    return Measurement(result: result, png: png)
  }

  /// Waits until both legs are connected; returns how long that took.
  private func connect(
    _ states: AsyncStream<(Leg.Kind, Leg.State, Instant)>, start: Instant
  ) async -> Swift.Result<Interval, Failure> {
    let deadline = Task { [progress] in
      try await Task.sleep(for: .seconds(20))
      progress("No connection after 20 s")
    }
    defer { deadline.cancel() }
    var connected: Set<Leg.Kind> = []
    for await (kind, state, time) in states {
      switch state {
      case .connecting: progress("Connecting \(kind == .whip ? "what this side sends (WHIP)" : "what this side shows (WHEP)")")
      case .connected:
        progress("\(kind.rawValue.uppercased()) is up after \(Int((time - start).milliseconds)) ms")
        connected.insert(kind)
        if connected.count == 2 { return .success(time - start) }
      case .waiting(let code, let reason, _): return .failure(Failure(description: "\(reason) (\(code))"))
      case .ended: return .failure(Failure(description: "the call ended before it was connected"))
      }
    }
    return .failure(Failure(description: "the call ended before it was connected"))
  }

  private func sentFigures(_ call: DirectCall, _ network: NetworkThread) async -> (frames: Int, bytes: Int, codec: String) {
    let sessions = call.sessions
    return await network.loop.perform {
      var result = (frames: 0, bytes: 0, codec: "")
      for session in sessions {
        for statistic in session.statistics().values where statistic["type"] == "outbound-rtp" {
          result.bytes += statistic["bytesSent"]?.intValue ?? 0
          if statistic["kind"] == "video" { result.frames += statistic["framesSent"]?.intValue ?? 0 }
        }
        for sender in session.senders.values where sender.implementation != nil { result.codec = sender.codecName }
      }
      return result
    }
  }
}

extension Instant {
  /// Seconds since the clock's origin.
  var seconds: Double { Double(nanoseconds) / 1e9 }
}
