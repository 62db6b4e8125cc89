import Base
import BridgeMessages
import Call
import Camera
import DTLS
import Foundation
import Net
import PageSession
import Sound
import Stage

/// Runs a page with synthetic devices on a headless screen, all as in the box, and writes what the screen shows: for those who work on the
/// page's script. What the page and its host say goes to the error stream.
@main
struct Trial {
  private static let usage = """
    usage: page-trial URL [--seconds N] [--picture FILE] [--size WIDTHxHEIGHT] [--serve FOLDER] [--allow ORIGIN] [--no-grants]
    --serve: the folder's files are at http://127.0.0.1:8990/, and URL may be a path such as /call.html
    """

  private struct Options {
    var url = ""
    var seconds = 8.0
    var picture = "page.png"
    var size = (width: 1_280, height: 720)
    var folder: String?
    var allowed: [String] = []
    var hasGrants = true

    init?(_ arguments: [String]) {
      var rest = arguments[...]
      while let argument = rest.popFirst() {
        switch argument {
        case "--seconds": seconds = rest.popFirst().flatMap(Double.init) ?? seconds
        case "--picture": picture = rest.popFirst() ?? picture
        case "--serve": folder = rest.popFirst()
        case "--allow": if let origin = rest.popFirst() { allowed.append(origin) }
        case "--no-grants": hasGrants = false
        case "--size":
          let sides = (rest.popFirst() ?? "").split(separator: "x").compactMap { Int($0) }
          guard sides.count == 2 else { return nil }
          size = (sides[0], sides[1])
        default:
          guard !argument.hasPrefix("--"), url.isEmpty else { return nil }
          url = argument
        }
      }
      if url.isEmpty { return nil }
    }
  }

  static func main() async throws {
    guard var options = Options(Array(CommandLine.arguments.dropFirst())) else {
      print(usage)
      exit(64)
    }
    Log.install(level: .debug) { _, text in FileHandle.standardError.write(Data("\(text)\n".utf8)) }
    let server = try options.folder.map { folder in try serve(folder) }
    if let server, options.url.hasPrefix("/") { options.url = server.origin + options.url }

    let runtime = NSTemporaryDirectory() + "page-trial-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: runtime) }
    let network = await NetworkThread()
    let stage = Stage(width: options.size.width, height: options.size.height)
    let camera = CameraThread(source: SyntheticCamera(width: 1_280, height: 720))
    let microphone = MicrophoneThread(source: SyntheticMicrophone())
    let playout = PlayoutThread { _, _ in }
    var session = PeerSession.Configuration(certificate: try Certificate.generate())
    session.includesLoopback = true
    var page = PageSettings(url: options.url)
    page.allowedOrigins = options.allowed
    let grant = PageService.Grant(camera: options.hasGrants, microphone: options.hasGrants)
    let service = try await PageService(
      configuration: PageService.Configuration(runtimeFolder: runtime, page: page, session: session, grants: { _ in grant }),
      network: network, stage: stage,
      media: PageService.Media(
        cameras: [.init(identifier: "synthetic", label: "Synthetic camera", camera: camera)],
        microphone: .init(identifier: "synthetic", label: "Synthetic microphone", sound: { _ in microphone.sound }),
        speaker: .init(playout: playout))
    ) { print("\($0)") }
    let wayland = try WaylandServer(
      path: runtime + "/wayland-0", width: options.size.width, height: options.size.height, isAdmitted: { _ in true })
    let stageThread = StageThread(stage: stage, server: wayland) { service.flipped($0) }
    stageThread.start()

    let host = Process()
    host.executableURL = Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent("parlor-page")
    host.arguments = ["--runtime", runtime, "--log-level", "debug"]
    try host.run()
    try await Task.sleep(for: .seconds(options.seconds))

    try Data(try stage.screenshot()).write(to: URL(fileURLWithPath: options.picture))
    let statistics = await service.statistics()
    for document in statistics.documents { print("\(document)") }
    for (state, latency) in zip(statistics.connectionStates, statistics.latency) { print("\(state): \(latency)") }
    print("discards: \(statistics.discards.values)")
    print("picture: \(options.picture)")
    await service.stop()
    host.terminate()
    host.waitUntilExit()
    stageThread.stop()
    camera.stop()
    microphone.stop()
    playout.stop()
    network.stop()
    server?.stop()
  }

  private static func serve(_ folder: String) throws -> HTTPServer {
    try HTTPServer(on: SocketAddress(.loopback4, 8_990)) { request in
      let path = request.url.path
      guard !path.contains(".."), let data = FileManager.default.contents(atPath: folder + path) else {
        return HTTPResponse(404)
      }
      let types = ["html": "text/html; charset=utf-8", "js": "text/javascript", "css": "text/css", "png": "image/png"]
      let type = types[path.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
      return HTTPResponse(200, headers: ["Content-Type": type], body: Array(data))
    }
  }
}
