import Base
import Call
import Camera
import DTLS
import Foundation
import Frames
import Net
import Sound
import Stage
import Synchronization
import WebRTC

/// How soon a call stands.
enum CallBenchmarks {
  static func run(_ settings: Benchmark.Settings) async throws -> [Figure] {
    let runs = settings.runs ?? 3
    let callsPerRun = 3
    // In turn, so that both meet the same weather. What a process does first is measured apart from what it does again.
    var (ours, theirs): ([[Times]], [[Times]]) = ([], [])
    for _ in 0..<runs {
      if let run = try ChromiumReference.run(calls: callsPerRun, seconds: 0) {
        theirs.append(run.calls.map { Times(connect: $0.connectMilliseconds, firstFrame: $0.firstFrameMilliseconds) })
      }
      ours.append(try inNewProcess(calls: callsPerRun))
    }
    func figure(_ metric: String, _ value: KeyPath<Times, Double>, warm: Bool, atMost: Double) -> Figure {
      func samples(_ runs: [[Times]]) -> Samples {
        Samples(values: runs.flatMap { $0.enumerated().filter { ($0.offset > 0) == warm }.map { $0.element[keyPath: value] } })
      }
      let (mine, other) = (samples(ours), samples(theirs))
      let reference = other.values.isEmpty ? nil : Figure.Reference(name: ChromiumReference.name, value: other.median)
      return Figure(
        name: "call-direct", metric: metric, value: mine.median, unit: "ms", reference: reference,
        ratio: reference.map { mine.median / $0.value },
        runs: mine.values.count, spread: mine.spread, bound: .atMost(atMost))
    }
    return [
      figure("offer to connected, first call", \.connect, warm: false, atMost: 1),
      figure("offer to connected, later calls", \.connect, warm: true, atMost: 1),
      figure("offer to first picture, first call", \.firstFrame, warm: false, atMost: 0.5),
      figure("offer to first picture, later calls", \.firstFrame, warm: true, atMost: 0.5),
    ]
  }

  /// The option by which this program asks itself for calls of a fresh process.
  static let callsOption = "--calls-of-this-process"

  /// Places calls and prints the times of each as JSON.
  static func printCalls(_ count: Int) async throws {
    var calls: [Times] = []
    for _ in 0..<count { calls.append(try await call()) }
    print(String(decoding: try JSONEncoder().encode(calls), as: UTF8.self))
  }

  /// The times of the first calls of a process, as the browser that they are compared with is started for its calls too.
  private static func inNewProcess(calls: Int) throws -> [Times] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [callsOption, "\(calls)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Benchmark.Failure(description: "a process for the calls failed") }
    return try JSONDecoder().decode([Times].self, from: data)
  }

  /// In milliseconds from the moment the offer begins to be made.
  private struct Times: Codable {
    var connect: Double
    var firstFrame: Double
  }

  /// What is waited for.
  private final class Milestones: Sendable {
    struct State {
      var connected: [Bool: Instant] = [:]
      var picture: Instant?
      var waiter: CheckedContinuation<Void, any Error>?
      var failure: Benchmark.Failure?
    }

    let state = Mutex(State())

    func update(_ body: (inout State) -> Void) {
      let (waiter, failure) = state.withLock { state -> (CheckedContinuation<Void, any Error>?, Benchmark.Failure?) in
        body(&state)
        guard state.failure != nil || (state.connected.count == 2 && state.picture != nil) else { return (nil, nil) }
        defer { state.waiter = nil }
        return (state.waiter, state.failure)
      }
      if let failure { waiter?.resume(throwing: failure) } else { waiter?.resume() }
    }

    func wait() async throws {
      try await withCheckedThrowingContinuation { continuation in update { $0.waiter = continuation } }
    }
  }

  private static func call() async throws -> Times {
    let milestones = Milestones()
    let stage = Stage(width: 1_280, height: 720)
    let screen = StageThread(stage: stage) { flip in
      if flip.remote != nil { milestones.update { if $0.picture == nil { $0.picture = MonotonicClock.now() } } }
    }
    screen.start()
    let camera = CameraThread(source: SyntheticCamera())
    let microphone = MicrophoneThread(source: SyntheticMicrophone())
    let playout = PlayoutThread { block, time in use((block, time)) }
    defer {
      camera.stop()
      microphone.stop()
      playout.stop()
      screen.stop()
    }
    let call = await LoopbackCall(certificates: (try Certificate.generate(), try Certificate.generate())) { call, event in
      switch event {
      case .connected(let isCaller, let time): milestones.update { $0.connected[isCaller] = time }
      case .failed(let reason): milestones.update { $0.failure = Benchmark.Failure(description: reason) }
      case .track(let identifier, .video): call.callee.show(identifier) { stage.show(remote: $0) }
      case .track(let identifier, .audio): call.callee.play(identifier, on: playout)
      default: break
      }
    }
    // A camera that already sees something, as the page's has when it calls.
    try await Task.sleep(for: .milliseconds(100))
    let deadline = Task {
      try await Task.sleep(for: .seconds(20))
      milestones.update { $0.failure = Benchmark.Failure(description: "no picture after 20 s") }
    }
    defer { deadline.cancel() }
    let start = MonotonicClock.now()
    do {
      call.start { session in
        let audio = try session.withConnection { connection, _ in try connection.addTransceiver(.audio, direction: .sendonly) }
        let video = try session.withConnection { connection, _ in try connection.addTransceiver(.video, direction: .sendonly) }
        session.send(microphone, on: audio)
        session.send(camera, on: video)
      }
      try await milestones.wait()
    } catch {
      await call.end()
      throw error
    }
    await call.end()
    let state = milestones.state.withLock { (connected: $0.connected.values.max() ?? start, picture: $0.picture ?? start) }
    return Times(connect: (state.connected - start).milliseconds, firstFrame: (state.picture - start).milliseconds)
  }
}
