import Base
import Frames
import Glibc
import Synchronization

@testable import Stage

/// A headless stage with a Wayland server, and programs that run on it.
final class TestScreen: Sendable {
  static let width = 640
  static let height = 480

  private final class Observations: Sendable {
    let events = Mutex<[ToplevelEvent]>([])
    let changed = WakeSignal()
  }

  private let observations = Observations()
  let stage: Stage
  private let thread: StageThread
  /// The folder that programs are given as theirs for run time. Not in /tmp: the web engine's sandbox has its own.
  let folder: String

  init(width: Int = TestScreen.width, height: Int = TestScreen.height) throws {
    folder = "/run/parlor-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    mkdir(folder, 0o700)
    let observations = observations
    let server = try WaylandServer(
      path: folder + "/wayland-0", width: width, height: height, isAdmitted: { $0.user == getuid() },
      onToplevel: { event in
        observations.events.withLock { $0.append(event) }
        observations.changed.signal()
      })
    stage = Stage(width: width, height: height)
    thread = StageThread(stage: stage, server: server) { _ in observations.changed.signal() }
    thread.start()
  }

  deinit {
    thread.stop()
    rmdir(folder)
  }

  /// What the screen shows.
  var picture: Picture { stage.picture() }
  var flips: Int { stage.statistics.flips }
  var events: [ToplevelEvent] { observations.events.withLock { $0 } }

  /// Does as a person would.
  func send(_ inputs: StageInput...) { for input in inputs { thread.send(input) } }

  /// Presses and lets go of the pointer's first button.
  func click(x: Double, y: Double) {
    send(.pointerMotion(x: x, y: y), .pointerButton(code: 0x110, isPressed: true), .pointerButton(code: 0x110, isPressed: false))
  }

  /// Touches a key of the on-screen keyboard; false when there is none such.
  func tap(_ key: KeyboardLayout.Key) -> Bool {
    guard let cell = stage.keyboardPlan?.keys.first(where: { $0.key == key })?.cell else { return false }
    let (x, y) = (Double(cell.x + cell.width / 2), Double(cell.y + cell.height / 2))
    let isTaken = stage.input(.touchDown(id: 9, x: x, y: y))
    return stage.input(.touchUp(id: 9)) && isTaken
  }

  func close(toplevel identifier: UInt64) { thread.close(toplevel: identifier) }

  /// Waits until `condition` holds for what the screen shows; false when it does not within a minute.
  func wait(until condition: (Picture) -> Bool) -> Bool {
    let end = StageThread.now() + .milliseconds(60_000)
    while StageThread.now() < end {
      if condition(picture) { return true }
      observations.changed.wait(until: min(end, StageThread.now() + .milliseconds(100)))
    }
    return condition(picture)
  }

  /// Waits until an area shows something that stays the same while a program that is never at rest draws twenty pictures: it has arranged
  /// itself, and what it animates in the area has ended. False when that takes more than a minute.
  func waitUntilStill(_ area: Rectangle) -> Bool {
    var (last, lastFlips) = (picture, flips)
    return wait { picture in
      if picture.isBlack(in: area) || picture.changes(since: last, in: area) > 0 { (last, lastFlips) = (picture, flips) }
      return flips - lastFlips > 20
    }
  }

  /// Writes the picture where PARLOR_TEST_PICTURES says, for people to look at.
  func keep(_ name: String) throws {
    guard let folder = getenv("PARLOR_TEST_PICTURES"), let file = fopen("\(String(cString: folder))/\(name).png", "w") else { return }
    let png = try picture.png()
    fwrite(png, 1, png.count, file)
    fclose(file)
  }
}

extension Picture {
  /// How many pixels of an area are not what they were.
  func changes(since before: Picture, in area: Rectangle) -> Int {
    var count = 0
    for y in area.y..<(area.y + area.height) {
      for x in area.x..<(area.x + area.width) where self[x, y] != before[x, y] { count += 1 }
    }
    return count
  }

  /// Whether nothing is to be seen in an area.
  func isBlack(in area: Rectangle) -> Bool {
    (area.y..<(area.y + area.height)).allSatisfy { y in (area.x..<(area.x + area.width)).allSatisfy { x in self[x, y] == .black } }
  }
}

/// A program that runs on a test screen, ended with its owner.
final class TestProgram {
  private let process: pid_t
  private var status: Int32?
  var identifier: Int32 { process }

  init(_ arguments: [String], on screen: TestScreen, environment extra: [String: String] = [:]) throws {
    var environment: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      environment[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
      entry += 1
    }
    let own = [
      "WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": screen.folder, "GDK_BACKEND": "wayland", "GSK_RENDERER": "cairo",
      "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory",
    ]
    environment.merge(own) { $1 }
    // A session of whoever runs the tests has settings, and other instances of the same program.
    for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GTK_IM_MODULE", "GTK_THEME"] { environment[name] = nil }
    environment.merge(extra) { $1 }
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
