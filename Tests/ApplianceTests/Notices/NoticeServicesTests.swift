import Synchronization
import Testing

@testable import Appliance

@Suite struct NoticeServicesTests {
  private let folder = TemporaryFolder()

  private final class Notes: Sendable {
    let list = Mutex<[String]>([])
    let output = Mutex("")
    func note(_ text: String) { list.withLock { $0.append(text) } }
  }

  private func open(_ notes: Notes) throws -> ControlSocket {
    let socket = try ControlSocket(folder: folder.path)
    let volume = Mutex(Volume(percent: 70))
    let shared = Shared(volume)
    socket.register(
      NoticeServices(
        identify: { seconds throws(VerbFailure) in notes.note("identify \(seconds.map(String.init) ?? "off")") },
        showOverlay: { isOn throws(VerbFailure) in notes.note("overlay \(isOn)") },
        volume: { change throws(VerbFailure) in shared.apply(change) }))
    socket.start()
    return socket
  }

  private final class Shared: Sendable {
    let volume: Mutex<Volume>
    init(_ volume: consuming Mutex<Volume>) { self.volume = volume }
    func apply(_ change: Volume.Change?) -> Volume {
      volume.withLock { volume in
        if let change { volume.apply(change) }
        return volume
      }
    }
  }

  @Test func verbsReachTheBox() throws {
    let notes = Notes()
    let socket = try open(notes)
    defer { socket.stop() }
    let client = ControlClient(folder: folder.path)
    _ = try client.perform(ControlRequest(verb: "identify"))
    _ = try client.perform(ControlRequest(verb: "identify", arguments: ["seconds": 5]))
    _ = try client.perform(ControlRequest(verb: "identify", arguments: ["seconds": 0]))
    _ = try client.perform(ControlRequest(verb: "overlay", arguments: ["on": true]))
    #expect(notes.list.withLock { $0 } == ["identify 60", "identify 5", "identify off", "overlay true"])
    for (verb, arguments) in [
      ("identify", ["seconds": -1] as [String: JSON]), ("identify", ["seconds": 3_601]), ("identify", ["seconds": "x"]), ("overlay", [:]),
      ("volume", ["change": "louder"]), ("volume", ["change": 5]),
    ] {
      let failure = #expect(throws: VerbFailure.self) { try client.perform(ControlRequest(verb: verb, arguments: arguments)) }
      #expect(failure?.exitCode == .usage)
    }
  }

  @Test func volumeIsChangedAndWritten() throws {
    let notes = Notes()
    let socket = try open(notes)
    defer { socket.stop() }
    let output: Verbs.Output = { bytes in
      notes.output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      return true
    }
    let verbs = Verbs(runtime: folder.path, output: output)
    try verbs.volume(change: nil)
    try verbs.volume(change: "+15")
    try verbs.volume(change: "mute")
    #expect(notes.output.withLock { $0 } == "70 %\n85 %\n85 %, muted\n")
    notes.output.withLock { $0 = "" }
    try Verbs(runtime: folder.path, isJSON: true, output: output).volume(change: "40")
    let json = JSON(text: Array(notes.output.withLock { $0 }.utf8))
    #expect(json == ["percent": 40, "muted": false])
  }
}
