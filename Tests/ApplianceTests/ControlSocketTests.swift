import Base
import FoundationEssentials
import Glibc
import Stage
import Synchronization
import Testing

@testable import Appliance

@Suite struct ControlSocketTests {
  private let folder = TemporaryFolder()

  private func status(_ state: Status.State = .ready) -> Status {
    var status = Status(
      version: "1", name: "Lobby", serial: "7", stage: Status.Screen(output: "headless", mode: "320x180@60"),
      sound: Status.Sound(capture: "synthetic", playback: "none"), network: Status.Network(state: "up"),
      clock: Status.Clock(synchronised: true),
      since: Date(timeIntervalSince1970: 1_700_000_000))
    status.state = state
    return status
  }

  private func services(calls: Calls = Calls()) -> Services {
    let status = status()
    let count = Atomic64()
    return Services(
      status: { status }, stats: { ["count": .integer(count.next())] as JSON },
      screenshot: { () throws(VerbFailure) in
        let stage = Stage(width: 320, height: 180)
        do { return try stage.screenshot() } catch { throw VerbFailure(.internalError, "\(error)") }
      },
      startCall: { () throws(VerbFailure) in try calls.start() }, hangUp: { () throws(VerbFailure) in try calls.hangUp() },
      open: { url throws(VerbFailure) in calls.note("open \(url)") }, reload: { () throws(VerbFailure) in calls.note("reload") },
      restart: { part throws(VerbFailure) in calls.note("restart \(part.rawValue)") },
      gesture: { gesture throws(VerbFailure) in
        if case .key(let name) = gesture { calls.note("\(try KeyStroke(name).steps.count) steps") } else { calls.note("\(gesture)") }
      },
      blank: { wish throws(VerbFailure) in calls.note("blank \(wish.rawValue)") },
      gamma: { wish throws(VerbFailure) in calls.note("gamma \(wish.map { "\($0)" } ?? "auto")") })
  }

  private final class Atomic64: Sendable {
    private let value = Atomic<Int64>(0)
    func next() -> Int64 { value.add(1, ordering: .relaxed).newValue }
  }

  private final class Calls: Sendable {
    private let isRunning = Mutex(false)
    let notes = Mutex<[String]>([])
    func note(_ text: String) { notes.withLock { $0.append(text) } }
    func start() throws(VerbFailure) {
      let wasRunning = isRunning.withLock { running in
        defer { running = true }
        return running
      }
      if wasRunning { throw VerbFailure(.unavailable, "a call is under way") }
    }
    func hangUp() throws(VerbFailure) {
      let wasRunning = isRunning.withLock { running in
        defer { running = false }
        return running
      }
      if !wasRunning { throw VerbFailure(.unavailable, "there is no call") }
    }
  }

  /// What a verb wrote.
  private final class Sink: Sendable {
    let bytes = Mutex<[UInt8]>([])
    let limit: Int
    init(limit: Int = .max) { self.limit = limit }
    func take(_ more: [UInt8]) -> Bool {
      bytes.withLock { bytes in
        bytes += more
        return bytes.count { $0 == 10 } < limit
      }
    }
    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
  }

  private func open() throws -> ControlSocket {
    let socket = try ControlSocket(folder: folder.path)
    socket.register(services())
    socket.start()
    return socket
  }

  @Test func verbsAreAnswered() throws {
    let socket = try open()
    defer { socket.stop() }
    let sink = Sink()
    let verbs = Verbs(runtime: folder.path, isJSON: true, output: sink.take)
    try verbs.status()
    let answer = try #require(JSON(text: Array(sink.text.utf8)))
    #expect(answer["state"] == "ready" && answer["name"] == "Lobby" && answer["code"] == .null)

    let plain = Sink()
    try Verbs(runtime: folder.path, output: plain.take).status()
    #expect(plain.text.hasPrefix("Lobby: ready since 2023-11-14T22:13:20Z\n"))
  }

  @Test func statisticsAreWatchedUntilTheReaderGoes() throws {
    let socket = try ControlSocket(folder: folder.path)
    socket.register(services())
    socket.start()
    defer { socket.stop() }
    var seen: [JSON] = []
    let request = ControlRequest(verb: "stats", arguments: ["watch": true, "interval": 0.01])
    try ControlClient(folder: folder.path).perform(request) { value in
      seen.append(value["count"] ?? .null)
      return seen.count < 5
    }
    #expect(seen == [1, 2, 3, 4, 5])
    // The reader went away; others are answered all the same.
    #expect(try ControlClient(folder: folder.path).perform(ControlRequest(verb: "status"))["name"] == "Lobby")
  }

  @Test func streamEndsByItself() throws {
    let socket = try ControlSocket(folder: folder.path)
    let counter = Atomic64()
    socket.register("stats") { _ throws(VerbFailure) in
      .stream(interval: 0) {
        let next = counter.next()
        return next <= 3 ? JSON.integer(next) : nil
      }
    }
    socket.start()
    defer { socket.stop() }
    let sink = Sink()
    try Verbs(runtime: folder.path, isJSON: true, output: sink.take).stats(isWatching: true)
    #expect(sink.text == "1\n2\n3\n")
  }

  @Test func screenshotArrivesAsAFile() throws {
    let socket = try open()
    defer { socket.stop() }
    let verbs = Verbs(runtime: folder.path, output: { _ in true })
    try verbs.screenshot(file: "\(folder.path)/screen.png")
    let picture = try Picture(png: folder.read("screen.png"))
    #expect(picture.width == 320 && picture.height == 180)
    let sink = Sink()
    try Verbs(runtime: folder.path, output: sink.take).screenshot(file: "-")
    #expect(sink.bytes.withLock { $0 } == folder.read("screen.png"))
    #expect(throws: VerbFailure.self) { try verbs.screenshot(file: "\(folder.path)/nowhere/screen.png") }
  }

  @Test func callsAreStartedAndEnded() throws {
    let socket = try open()
    defer { socket.stop() }
    let verbs = Verbs(runtime: folder.path, output: { _ in true })
    try verbs.call(action: "start")
    #expect(throws: VerbFailure(.unavailable, "a call is under way")) { try verbs.call(action: "start") }
    try verbs.call(action: "hangup")
    #expect(throws: VerbFailure(.unavailable, "there is no call")) { try verbs.call(action: "hangup") }
    #expect(throws: VerbFailure(.usage, "\"action\" must be \"start\" or \"hangup\"")) { try verbs.call(action: "dance") }
  }

  @Test func unknownVerbIsRefusedWithTheNearest() throws {
    let socket = try open()
    defer { socket.stop() }
    #expect(throws: VerbFailure(.usage, "unknown verb \"statu\"; did you mean \"status\"?")) {
      try ControlClient(folder: folder.path).perform(ControlRequest(verb: "statu"))
    }
  }

  @Test func malformedLinesAreAnsweredAndDoNoHarm() throws {
    let socket = try open()
    defer { socket.stop() }
    let raw = try UnixSocket.connect(path: socket.path)
    raw.setTimeout(seconds: 60)
    var lines = UnixSocket.LineReader(raw, maximumLength: 1 << 20)
    #expect(raw.write(Array("no json\n\n{\"verb\":\"status\"}\n".utf8)))
    var answers: [ControlResponse] = []
    while answers.count < 3, let line = lines.next() { answers.append(try ControlResponse(line: line)) }
    let refusal = ControlResponse.failure(VerbFailure(.badData, "the request is not JSON"))
    #expect(answers.count == 3 && answers.prefix(2).allSatisfy { $0 == refusal })
    guard case .value? = answers.last else {
      Issue.record("the good request after the bad ones has no answer")
      return
    }
    // A line without an end is cut off, and the connection with it.
    _ = raw.write(Array(repeating: 65, count: 200_000))
    if let line = lines.next() {
      guard case .failure(let failure) = try ControlResponse(line: line) else {
        Issue.record("an endless line was accepted")
        return
      }
      #expect(failure.exitCode == .badData)
    }
    let rest = lines.next()
    #expect(rest == nil)
  }

  @Test func nobodyThereIsUnavailable() {
    let client = ControlClient(folder: folder.path)
    do throws(VerbFailure) {
      _ = try client.perform(ControlRequest(verb: "status"))
      Issue.record("somebody answered")
    } catch {
      #expect(error.exitCode == .unavailable && error.description.contains(client.path))
    }
  }

  @Test func staleSocketIsReplacedAndALiveOneRefused() throws {
    // A socket that nobody listens on any more, as after a power cut.
    let stale = UnixSocket(descriptor: UnixSocket.open())
    #expect(unsafe UnixSocket.withAddress("\(folder.path)/control.sock") { unsafe bind(stale.descriptor, $0, $1) } == 0)

    let socket = try open()
    let path = socket.path
    #expect(throws: ControlSocket.Failure.inUse(path: path)) { try ControlSocket(folder: folder.path) }
    #expect(try ControlClient(folder: folder.path).perform(ControlRequest(verb: "status"))["name"] == "Lobby")
    socket.stop()
    #expect(access(path, F_OK) != 0)
  }

  @Test func socketIsClosedToOthers() throws {
    let socket = try open()
    defer { socket.stop() }
    var information = Glibc.stat()
    #expect(unsafe stat(socket.path, &information) == 0)
    #expect(information.st_mode & 0o777 == 0o660)
  }

  @Test func folderThatIsNotThereIsNamed() {
    #expect(throws: ControlSocket.Failure.system(path: "/nonexistent/control.sock", reason: "No such file or directory")) {
      try ControlSocket(folder: "/nonexistent")
    }
    let long = folder.path + "/" + String(repeating: "x", count: 200)
    #expect(throws: ControlSocket.Failure.self) { try ControlSocket(folder: long) }
  }

  @Test func tooManyConnectionsAreTurnedAway() throws {
    let socket = try open()
    defer { socket.stop() }
    // Each connection is known to be served once it was answered.
    var held: [UnixSocket] = []
    for _ in 0..<ControlSocket.maximumConnections {
      let raw = try UnixSocket.connect(path: socket.path)
      raw.setTimeout(seconds: 60)
      var lines = UnixSocket.LineReader(raw, maximumLength: 1 << 20)
      #expect(raw.write(ControlRequest(verb: "status").line))
      let line = lines.next()
      #expect(line != nil)
      held.append(raw)
    }
    #expect(throws: VerbFailure(.unavailable, "too many requests at once")) {
      try ControlClient(folder: folder.path).perform(ControlRequest(verb: "status"))
    }
    #expect(held.count == ControlSocket.maximumConnections)
  }

  @Test func operatorsOrdersArriveWithTheirArguments() throws {
    let calls = Calls()
    let socket = try ControlSocket(folder: folder.path)
    socket.register(services(calls: calls))
    socket.start()
    let verbs = Verbs(runtime: folder.path) { _ in true }
    for request in [
      ControlRequest(verb: "open", arguments: ["url": "https://a/"]), ControlRequest(verb: "reload"),
      ControlRequest(verb: "restart", arguments: ["part": "page"]), ControlRequest(verb: "tap", arguments: ["x": 3, "y": 4.5]),
      ControlRequest(verb: "type", arguments: ["text": "hé"]), ControlRequest(verb: "key", arguments: ["name": "Control+Shift+a"]),
      ControlRequest(verb: "blank", arguments: ["wish": "auto"]), ControlRequest(verb: "gamma", arguments: ["value": 0.7]),
      ControlRequest(verb: "gamma"),
    ] { try verbs.order(request) }
    #expect(
      calls.notes.withLock { $0 } == [
        "open https://a/", "reload", "restart page", "tap(x: 3.0, y: 4.5)", "type(\"hé\")", "6 steps", "blank auto",
        "gamma 0.7", "gamma auto",
      ])
    for request in [
      ControlRequest(verb: "open"), ControlRequest(verb: "restart", arguments: ["part": "roof"]),
      ControlRequest(verb: "tap", arguments: ["x": 3]), ControlRequest(verb: "type", arguments: ["text": ""]),
      ControlRequest(verb: "key", arguments: ["name": "Entr"]),
      ControlRequest(verb: "blank", arguments: ["wish": "dark"]), ControlRequest(verb: "gamma", arguments: ["value": 2.5]),
      ControlRequest(verb: "gamma", arguments: ["value": "dark"]),
    ] {
      do throws(VerbFailure) {
        try verbs.order(request)
        Issue.record("accepted: \(request)")
      } catch { #expect(error.exitCode == .usage) }
    }
    socket.stop()
  }
}
