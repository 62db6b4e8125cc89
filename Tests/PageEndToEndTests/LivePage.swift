import Base
import BridgeMessages
import Call
import DTLS
import Foundation
import Frames
import Net
import PageSession
import Synchronization

@testable import Camera
@testable import Stage

/// A page of a test in the real page host, on a headless screen of 640 by 480, with a camera that sees nothing but greys.
final class LivePage: Sendable {
  static let width = 640
  static let height = 480

  /// Why a test cannot go on.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  let stage: Stage
  let service: PageService
  private let network: NetworkThread
  private let camera: CameraThread
  private let stageThread: StageThread
  private let site: HTTPServer
  private let host: Mutex<Process>
  private let folder: String
  private let news: News
  private let wantedSize: WantedSize

  private final class News: Sendable {
    let title = Mutex("")
    let failure = Mutex<String?>(nil)

    func take(_ event: PageEvent) {
      switch event {
      case .title(let text): title.withLock { $0 = text }
      case .failed(let code, let reason, _): failure.withLock { $0 = "\(reason) (\(code))" }
      default: break
      }
    }
  }

  /// The size that the screen is to have from the next flip on.
  private final class WantedSize: Sendable {
    let size = Mutex<(width: Int, height: Int)?>(nil)
  }

  /// Shows a page. `onFlip` is called after every change of the screen with all that it shows and the page's title, and nothing else is shown until
  /// it returns.
  init(_ html: String, onFlip: @escaping @Sendable (Picture, _ title: String) -> Void) async throws {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
      path: "parlor-page")
    let site = try HTTPServer { request in
      request.url.path == "/"
        ? HTTPResponse(200, headers: ["Content-Type": "text/html; charset=utf-8"], body: Array(html.utf8)) : HTTPResponse(404)
    }
    self.site = site
    folder = NSTemporaryDirectory() + "page-end-to-end-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let stage = Stage(width: LivePage.width, height: LivePage.height)
    let news = News()
    (self.stage, self.news) = (stage, news)
    network = await NetworkThread()
    camera = CameraThread(source: GreyCamera())
    var session = PeerSession.Configuration(certificate: try Certificate.generate())
    session.includesLoopback = true
    let service = try await PageService(
      configuration: PageService.Configuration(
        runtimeFolder: folder, page: PageSettings(url: site.origin + "/"), session: session,
        grants: { _ in PageService.Grant(camera: true, microphone: true) }),
      network: network, stage: stage,
      media: PageService.Media(cameras: [.init(identifier: "grey", label: "Grey camera", camera: camera)])
    ) { news.take($0) }
    self.service = service
    let server = try WaylandServer(
      path: folder + "/wayland-0", width: stage.width, height: stage.height, isAdmitted: { $0.user == getuid() })
    let wantedSize = WantedSize()
    self.wantedSize = wantedSize
    stageThread = StageThread(stage: stage, server: server) { flip in
      service.flipped(flip)
      let size = wantedSize.size.withLock { size in
        defer { size = nil }
        return size
      }
      if let size {
        stage.resize(monitorWidth: size.width, monitorHeight: size.height, refreshRate: stage.refreshRate, rotation: .none)
        server.setOutput(width: size.width, height: size.height, refreshRate: stage.refreshRate)
      }
      onFlip(stage.picture(), news.title.withLock { $0 })
    }
    stageThread.start()
    let process = Process()
    process.executableURL = program
    process.arguments = ["--runtime", folder]
    try process.run()
    host = Mutex(process)
  }

  /// Waits until the page's title is `title`; throws when the page says that it failed, or does not get there in two minutes.
  func wait(forTitle title: String) async throws {
    try await wait(for: "the page's title \"\(title)\"") { news.title.withLock { $0 } == title }
  }

  /// Waits until `condition` holds; a page that says it failed ends the wait.
  func wait(for what: String, until condition: () -> Bool) async throws {
    for _ in 0..<2_400 {
      if condition() { return }
      let title = news.title.withLock { $0 }
      if title.hasPrefix("failed") { throw Failure(description: "the page says: \(title)") }
      if let failure = news.failure.withLock({ $0 }) { throw Failure(description: failure) }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw Failure(description: "waited in vain for \(what); the page's title is \"\(news.title.withLock { $0 })\"")
  }

  /// Gives the screen another size, as another monitor would, with the next flip.
  func resize(width: Int, height: Int) { wantedSize.size.withLock { $0 = (width, height) } }

  /// Touches the screen for a moment.
  func touch(x: Double, y: Double) {
    for event in [StageInput.touchDown(id: 1, x: x, y: y), .touchUp(id: 1)] where !stage.input(event) { stageThread.send(event) }
  }

  /// Touches a key of the on-screen keyboard; false when there is none such.
  func tap(_ key: KeyboardLayout.Key) -> Bool {
    guard let cell = stage.keyboardPlan?.keys.first(where: { $0.key == key })?.cell else { return false }
    touch(x: Double(cell.x + cell.width / 2), y: Double(cell.y + cell.height / 2))
    return true
  }

  /// Ends the page and all that belongs to it.
  func stop() async {
    await service.stop()
    host.withLock { host in
      host.terminate()
      host.waitUntilExit()
    }
    stageThread.stop()
    camera.stop()
    network.stop()
    site.stop()
    try? FileManager.default.removeItem(atPath: folder)
  }
}

/// A camera whose pictures have no colour at all: what is grey on the screen is video, and nothing else is.
private final class GreyCamera: VideoSource {
  let (width, height) = (320, 240)
  let framesPerSecond = 30.0
  private let pool = VideoBufferPool()

  func frame(at index: Int, captureTime: Instant) -> VideoFrame {
    let buffer = pool.buffer(width: width, height: height)
    for row in 0..<height {
      // From 70 to 180: far from black and from white.
      let shade = (row + index * 3) % 220
      buffer.fillLuma(x: 0..<width, y: row..<row + 1, with: UInt8(70 + (shade < 110 ? shade : 219 - shade)))
    }
    buffer.fillChroma(x: 0..<width / 2, y: 0..<height / 2, u: 128, v: 128)
    var ledger = Ledger()
    ledger[.capture] = captureTime
    return VideoFrame(buffer: buffer, ledger: ledger)
  }
}
