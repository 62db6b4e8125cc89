import Base
import Frames
import Glibc
import Synchronization

@testable import Stage

/// A Wayland server on a thread of its own with a plain painter behind it, and programs that run on it.
final class TestScreen: Sendable {
  static let width = 640
  static let height = 480

  private struct State {
    var pixels = [UInt8](repeating: 0, count: TestScreen.width * TestScreen.height * 4)
    var inputs: [StageInput] = []
    var events: [ToplevelEvent] = []
    var targets: [Rectangle] = []
    var flips = 0
    var isStopping = false
  }

  private final class Shared: Sendable {
    let state = Mutex(State())
    let changed = WakeSignal()
  }

  private let shared = Shared()
  private let thread: Mutex<pthread_t?>
  /// The folder that programs are given as theirs for run time.
  let folder: String
  let path: String

  init() throws {
    folder = "/run/parlor-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    mkdir(folder, 0o700)
    path = folder + "/wayland-0"
    let shared = shared
    let server = try WaylandServer(
      path: path, width: TestScreen.width, height: TestScreen.height, isAdmitted: { _ in true },
      onToplevel: { event in
        shared.state.withLock { $0.events.append(event) }
        shared.changed.signal()
      })
    thread = Mutex(nil)
    let job = Job { TestScreen.run(server, shared) }
    thread.withLock { thread in
      var started = pthread_t()
      pthread_create(
        &started, nil,
        { @Sendable argument in
          Unmanaged<Job>.fromOpaque(argument!).takeRetainedValue().body()
          return nil
        }, Unmanaged.passRetained(job).toOpaque())
      thread = started
    }
  }

  private final class Job: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  deinit {
    shared.state.withLock { $0.isStopping = true }
    if let running = thread.withLock({ $0 }) { pthread_join(running, nil) }
    rmdir(folder)
  }

  private static func run(_ server: WaylandServer, _ shared: Shared) {
    var sequence = 0
    while !shared.state.withLock({ $0.isStopping }) {
      let isBusy = server.process()
      for input in shared.state.withLock({ state in
        defer { state.inputs.removeAll() }
        return state.inputs
      }) { server.send(input) }
      let update = server.takeLayers()
      if let update {
        shared.state.withLock { state in
          paint(update.layers, on: &state.pixels)
          state.targets = update.layers.map(\.target)
          state.flips += 1
        }
        shared.changed.signal()
      }
      if server.isRefreshWanted || update != nil {
        sequence += 1
        server.presented(at: StageThread.now(), refresh: .milliseconds(16), sequence: sequence)
      }
      if !isBusy {
        var polled = pollfd(fd: server.descriptors[0], events: Int16(POLLIN), revents: 0)
        poll(&polled, 1, 5)
      }
    }
  }

  /// All layers in full, their videos left out, scaled by the nearest pixel.
  private static func paint(_ layers: [SurfaceLayer], on pixels: inout [UInt8]) {
    for index in pixels.indices { pixels[index] = index % 4 == 3 ? 255 : 64 }
    for layer in layers {
      let (bitmap, target) = (layer.bitmap, layer.target)
      let source = layer.source ?? Rectangle(x: 0, y: 0, width: bitmap.width, height: bitmap.height)
      for y in max(0, target.y)..<max(0, min(height, target.y + target.height)) {
        for x in max(0, target.x)..<max(0, min(width, target.x + target.width)) {
          let sourceX = source.x + (x - target.x) * source.width / target.width
          let sourceY = source.y + (y - target.y) * source.height / target.height
          let pixel = bitmap.pixels + sourceY * bitmap.stride + sourceX * 4
          let rest = bitmap.isOpaque ? 0 : 255 - Int(pixel[3])
          for channel in 0..<3 {
            let index = (y * width + x) * 4 + channel
            pixels[index] = UInt8(min(255, Int(pixel[channel]) + Int(pixels[index]) * rest / 255))
          }
        }
      }
    }
  }

  /// What the screen shows.
  var picture: Picture {
    Picture(width: TestScreen.width, height: TestScreen.height, pixels: shared.state.withLock { $0.pixels })
  }

  /// Where the surfaces lie, from the bottom up.
  var targets: [Rectangle] { shared.state.withLock { $0.targets } }
  var flips: Int { shared.state.withLock { $0.flips } }
  var events: [ToplevelEvent] { shared.state.withLock { $0.events } }

  /// Does as a person would.
  func send(_ inputs: StageInput...) { shared.state.withLock { $0.inputs += inputs } }

  /// Waits until `condition` holds for what the screen shows; false when it does not within a minute.
  func wait(until condition: (Picture) -> Bool) -> Bool {
    let end = StageThread.now() + .milliseconds(60_000)
    while StageThread.now() < end {
      if condition(picture) { return true }
      shared.changed.wait(until: min(end, StageThread.now() + .milliseconds(100)))
    }
    return condition(picture)
  }

  /// Waits until nothing has changed for `interval`, or ten seconds have passed.
  func settle(_ interval: Interval = .milliseconds(700)) {
    let end = StageThread.now() + .milliseconds(10_000)
    var (last, since) = (flips, StageThread.now())
    while StageThread.now() < end, StageThread.now() - since < interval {
      shared.changed.wait(until: StageThread.now() + .milliseconds(50))
      if flips != last { (last, since) = (flips, StageThread.now()) }
    }
  }
}

/// A program that runs on a test screen, ended with its owner.
final class TestProgram {
  private let process: pid_t
  private(set) var status: Int32?

  init(_ arguments: [String], on screen: TestScreen, environment extra: [String: String] = [:]) throws {
    var environment: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      environment[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
      entry += 1
    }
    environment["WAYLAND_DISPLAY"] = "wayland-0"
    environment["XDG_RUNTIME_DIR"] = screen.folder
    environment["GDK_BACKEND"] = "wayland"
    environment["GSK_RENDERER"] = "cairo"
    environment["GTK_A11Y"] = "none"
    environment["GSETTINGS_BACKEND"] = "memory"
    for (name, value) in extra { environment[name] = value }
    var process = pid_t()
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in words + variables { free(pointer) } }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)
    defer { posix_spawnattr_destroy(&attributes) }
    let code = posix_spawnp(&process, arguments[0], nil, &attributes, &words, &variables)
    guard code == 0 else { throw WaylandServerError(operation: "spawn \(arguments[0])", code: code) }
    self.process = process
  }

  /// Whether it still runs.
  var isRunning: Bool {
    guard status == nil else { return false }
    var code: Int32 = 0
    guard waitpid(process, &code, WNOHANG) == process else { return true }
    status = code
    return false
  }

  deinit {
    guard isRunning else { return }
    kill(-process, SIGKILL)
    var code: Int32 = 0
    waitpid(process, &code, 0)
  }
}
