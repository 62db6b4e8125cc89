import Call
import Foundation
import Net
import Synchronization

/// A page of ours (`Tests/Page/Measured`) in a program that shows pages, and what the program's processes used meanwhile.
///
/// The page says where it is, and goes on once its processes were looked at. So both programs are measured at the same steps of the same work.
struct MeasuredPage {
  /// What shows the page.
  enum Program: CaseIterable {
    /// `parlor run`, with everything that it starts.
    case parlor
    /// Debian's Chromium.
    case chromium
  }

  /// One step that the page told of.
  struct Step: Sendable {
    var time: ContinuousClock.Instant
    /// The whole process tree's figures, summed.
    var processes: ProcessFigures
    /// What each program in it holds, in MiB, for people to look at.
    var memory: [String: Double]
    /// What the page measured itself.
    var figures: [String: Double]
  }

  private struct Told: Decodable {
    struct Figures: Decodable {
      var values: [String: Double] = [:]
      var reason: String?

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for key in container.allKeys {
          if key.stringValue == "reason" {
            reason = try container.decode(String.self, forKey: key)
          } else {
            values[key.stringValue] = try container.decode(Double.self, forKey: key)
          }
        }
      }
    }

    struct Key: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    var step: String
    var figures: Figures
  }

  /// Runs the page's `job` until it tells `last`; returns the steps by name. Each measurement takes `seconds`. Nil where the program is not installed.
  static func run(_ program: Program, job: String, seconds: Double, until last: String) async throws -> [String: Step]? {
    let folder = "\(FileManager.default.currentDirectoryPath)/Tests/Page/Measured"
    let (told, continuation) = AsyncStream<Result<(String, Step), Benchmark.Failure>>.makeStream()
    let process = Mutex<Int32?>(nil)
    let server = try HTTPServer { request in
      if request.method == "POST" {
        guard let root = process.withLock({ $0 }) else { return HTTPResponse(503) }
        continuation.yield(take(request.body, root: root))
        return HTTPResponse(204)
      }
      let name = request.url.path == "/" ? "/index.html" : request.url.path
      guard ["/index.html", "/measured.js"].contains(name), let data = FileManager.default.contents(atPath: folder + name) else {
        return HTTPResponse(404)
      }
      return HTTPResponse(200, headers: ["Content-Type": name.hasSuffix("js") ? "text/javascript" : "text/html"], body: Array(data))
    }
    defer { server.stop() }
    let scratch = FileManager.default.temporaryDirectory.appending(path: "parlor-bench-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let url = "\(server.origin)/?job=\(job)&seconds=\(seconds)"
    guard let command = try command(program, url: url, origin: server.origin, folder: scratch) else { return nil }

    let running = Process()
    running.executableURL = URL(fileURLWithPath: command[0])
    running.arguments = Array(command.dropFirst())
    running.standardOutput = FileHandle.nullDevice
    running.standardError = FileHandle.nullDevice
    try running.run()
    process.withLock { $0 = running.processIdentifier }
    defer {
      running.terminate()
      running.waitUntilExit()
    }
    // To end a hang, not to judge.
    let deadline = Task {
      try await Task.sleep(for: .seconds(120 + 6 * seconds))
      continuation.yield(.failure(Benchmark.Failure(description: "the page did not come to its end")))
    }
    defer { deadline.cancel() }
    var steps: [String: Step] = [:]
    for await result in told {
      let (name, step) = try result.get()
      steps[name] = step
      if name == last { break }
    }
    return steps
  }

  private static func take(_ body: [UInt8], root: Int32) -> Result<(String, Step), Benchmark.Failure> {
    guard let told = try? JSONDecoder().decode(Told.self, from: Data(body)) else {
      return .failure(Benchmark.Failure(description: "the page tells what cannot be read"))
    }
    if let reason = told.figures.reason { return .failure(Benchmark.Failure(description: "in the page: \(reason)")) }
    let tree = ProcessFigures.tree(of: root, named: "the program")
    guard let sum = tree.values.reduce(nil, { sum, next in sum.map { $0 + next } ?? next }) else {
      return .failure(Benchmark.Failure(description: "the program is gone"))
    }
    return .success(
      (told.step, Step(time: .now, processes: sum, memory: tree.compactMapValues(\.memoryMebibytes), figures: told.figures.values)))
  }

  /// What is run, its program first.
  private static func command(_ program: Program, url: String, origin: String, folder: String) throws -> [String]? {
    switch program {
    case .parlor:
      let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      let path = own.appending(path: "parlor").path
      guard FileManager.default.isExecutableFile(atPath: path) else {
        throw Benchmark.Failure(description: "there is no \(path); make build makes it")
      }
      let configuration = """
        [call]
        url = "\(url)"

        [[grants]]
        origin = "\(origin)"
        camera = true
        microphone = true

        [display]
        mode = "1280x720@60"

        [[camera]]
        device = "synthetic"
        width = 640
        height = 360
        rate = 30

        [sound]
        capture = "synthetic"
        playback = "none"
        """
      try configuration.write(toFile: "\(folder)/parlor.toml", atomically: true, encoding: .utf8)
      for name in ["run", "state"] {
        try FileManager.default.createDirectory(
          atPath: "\(folder)/\(name)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
      return [
        path, "run", "--config", "\(folder)/parlor.toml", "--stage", "headless:1280x720", "--state", "\(folder)/state", "--runtime",
        "\(folder)/run",
      ]
    case .chromium:
      let path = "/usr/bin/chromium"
      guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
      return [
        path, "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--metrics-recording-only",
        "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
        "--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream=fps=30", "--use-fake-ui-for-media-stream",
        "--allow-loopback-in-peer-connection", "--disable-features=WebRtcHideLocalIpsWithMdns", "--window-size=1280,720",
        "--user-data-dir=\(folder)/profile", url,
      ]
    }
  }
}
