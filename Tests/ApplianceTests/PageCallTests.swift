import Base
import BridgeMessages
import Call
import DTLS
import Foundation
import Net
import PageSession
import Stage
import Synchronization
import Testing

@testable import Appliance

/// A page call whose page host is played by the test, over the real socket.
@Suite(.serialized) struct PageCallTests {
  static let url = "https://calls.example.org/room"

  /// The page host's end of the bridge: says what it is told to, and keeps what it hears.
  private final class Host: Sendable {
    private let socket: UnixSocket
    private let reader = Mutex(BridgeFrameReader())

    init(_ folder: String) throws {
      socket = try UnixSocket.connect(path: "\(folder)/bridge.sock")
      socket.setTimeout(seconds: 60)
      say(HostHello(version: "1", process: 4_321))
    }

    func say(_ message: some ControlMessage) {
      var bytes: [UInt8] = []
      guard let data = try? JSONEncoder().encode(Typed(message)) else { return }
      BridgeFrame(control: String(decoding: data, as: UTF8.self)).append(to: &bytes)
      #expect(socket.write(bytes))
    }

    /// The next message; nil once the connection is over.
    func hear() throws -> JSON? {
      while true {
        if let frame = try reader.withLock({ try $0.next() }) { return JSON(text: frame.payload) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        reader.withLock { $0.receive(buffer.span.bytes.extracting(first: count)) }
      }
    }

    func leave() { socket.shutDown() }
  }

  /// A page call on a stage that nobody drives.
  private final class World {
    let folder = TemporaryFolder()
    let stage = Stage(width: 640, height: 360)
    let network: NetworkThread
    let call: PageCall
    let news = Record()

    final class Record: Sendable {
      let all = Mutex<[PageCall.News]>([])
    }

    init() async throws {
      network = await NetworkThread()
      var page = PageSettings(url: PageCallTests.url)
      page.dialogTimeout = 12
      let service = PageService.Configuration(
        runtimeFolder: folder.path, page: page, session: PeerSession.Configuration(certificate: try .generate()), grants: { _ in .init() })
      let news = news
      call = PageCall(
        PageCall.Configuration(service: service, supervisor: PageSupervisor.Configuration(url: PageCallTests.url), process: nil),
        network: network, stage: stage, onChange: { _ in }, onNews: { new in news.all.withLock { $0.append(new) } })
      try await call.start(media: PageService.Media())
    }

    func wait(_ what: String, until isTrue: () -> Bool) async throws {
      for _ in 0..<6_000 where !isTrue() { try await Task.sleep(for: .milliseconds(10)) }
      #expect(isTrue(), "\(what)")
    }

    func end() async {
      await call.stop()
      network.stop()
    }
  }

  @Test func pageIsLoadedShownAndLoadedAgainWhenItFails() async throws {
    let world = try await World()
    let host = try Host(world.folder.path)
    let settings = try #require(try host.hear())
    #expect(settings["type"] == "page.settings" && settings["url"] == .string(PageCallTests.url) && settings["dialogTimeout"] == 12)
    host.say(PageCommitted(url: PageCallTests.url))
    host.say(PageTitle(title: "Lobby"))
    host.say(PageDrawn(url: PageCallTests.url))
    try await world.wait("ready") { world.call.state.state == .ready }
    #expect(world.call.state.title == "Lobby" && world.call.host == 4_321)

    host.say(PageFailed(code: "page.crashed", reason: "the process ended", url: PageCallTests.url))
    try await world.wait("the failure") { world.call.state.code == .pageCrashed }
    #expect(world.call.state.reason == "The process ended" && world.call.state.restarts == 1)
    let load = try #require(try host.hear())
    #expect(load["type"] == "page.load" && load["url"] == .string(PageCallTests.url))
    host.say(PageDrawn(url: PageCallTests.url))
    try await world.wait("ready again") { world.call.state.state == .ready && world.call.state.code == nil }

    world.call.tell(.reloadRequested)
    #expect(try host.hear()?["type"] == "page.reload")
    host.leave()
    try await world.wait("the host's loss") { world.call.state.code == .pageHost }
    await world.end()
  }

  @Test func refusalsBecomeNews() async throws {
    let world = try await World()
    let host = try Host(world.folder.path)
    host.say(PageRefused(url: "tel:5551234", reason: "leads out of the page"))
    try await world.wait("the refusal") { !world.news.all.withLock { $0.isEmpty } }
    #expect(world.news.all.withLock { $0 } == [.refused(url: "tel:5551234", reason: "leads out of the page")])
    await world.end()
  }

  @Test func questionsAreAnsweredOnTheScreenOrByTime() async throws {
    let world = try await World()
    let host = try Host(world.folder.path)
    _ = try host.hear()
    var now = Instant(nanoseconds: 1_000_000_000)
    host.say(DialogOpen(dialog: 7, kind: .prompt, origin: "https://calls.example.org", text: "Your name?", value: "Ann"))
    try await world.wait("the panel") { world.stage.input(.pointerMotion(x: 1, y: 1)) }
    // What nobody has seen yet cannot be answered.
    world.stage.present(now: now)
    #expect(world.stage.input(.text("B")))
    #expect(world.stage.input(.key(code: 28, isPressed: true)))
    _ = world.stage.input(.key(code: 28, isPressed: false))
    let answer = try #require(try host.hear())
    #expect(answer["type"] == "dialog.answer" && answer["dialog"] == 7 && answer["accepted"] == true)
    #expect(answer["value"] == "AnnB", "\(answer)")

    host.say(DialogOpen(dialog: 9, kind: .confirm, origin: "https://calls.example.org", text: "Sure?"))
    try await world.wait("the second panel") { world.stage.input(.pointerMotion(x: 1, y: 1)) }
    world.stage.present(now: now)
    now += .seconds(13)
    world.stage.present(now: now)
    let late = try #require(try host.hear())
    #expect(late["type"] == "dialog.answer" && late["dialog"] == 9 && late["accepted"] == false, "\(late)")
    await world.end()
  }

  @Test func buttonsAreLabelledInTheLanguageOfThePeople() {
    let labels = Language.allCases.map { language in
      let panel = PageCall.panel(.confirm, origin: "https://calls.example.org", text: "Sure?", value: nil, language: language)
      return "\(panel.acceptLabel) \(panel.cancelLabel) \(panel.title)"
    }
    #expect(labels == ["OK Cancel calls.example.org", "OK Abbrechen calls.example.org"])
  }

  @Test func endOfTheCallIsToldToTheHost() async throws {
    let world = try await World()
    let host = try Host(world.folder.path)
    _ = try host.hear()
    try await world.wait("the host") { world.call.host != nil }
    await world.end()
    var last: JSON?
    while let message = try host.hear() { last = message }
    #expect(last?["type"] == "host.exit")
  }
}
