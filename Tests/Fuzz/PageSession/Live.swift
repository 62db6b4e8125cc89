import BridgeMessages
import Call
import Camera
import DTLS
import Foundation
import Glibc
import PageSession
import Stage

/// A page service of this process that documents of the fuzzer speak to, each over a connection of its own.
final class Live: Sendable {
  static let shared = Live()

  private let path: String
  private let service: PageService

  private init() {
    signal(SIGPIPE, SIG_IGN)
    let folder = NSTemporaryDirectory() + "fuzz-\(ProcessInfo.processInfo.processIdentifier)"
    try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    path = folder + "/bridge.sock"
    final class Made: @unchecked Sendable { var service: PageService? }
    let (made, ready) = (Made(), DispatchSemaphore(value: 0))
    Task.detached {
      var session = PeerSession.Configuration(certificate: try Certificate.generate())
      session.includesLoopback = true
      let camera = CameraThread(source: SyntheticCamera(width: 160, height: 120, framesPerSecond: 1))
      made.service = try await PageService(
        configuration: PageService.Configuration(
          runtimeFolder: folder, page: PageSettings(url: "https://example.org/"), session: session,
          grants: { _ in PageService.Grant(camera: true, microphone: true) }),
        network: await NetworkThread(), stage: Stage(width: 160, height: 120),
        media: PageService.Media(cameras: [.init(identifier: "1", label: "1", camera: camera)])
      ) { _ in }
      ready.signal()
    }
    ready.wait()
    service = made.service!
  }

  /// Each line is a control message of a document.
  func send(lines: [UInt8]) {
    var bytes: [UInt8] = []
    for line in lines.split(separator: 10) { BridgeFrame(kind: .control, document: 1, payload: Array(line)).append(to: &bytes) }
    send(raw: bytes)
  }

  /// Sends `bytes` once a document is open, and waits until they were handled: the service closes the connection when it has read all.
  func send(raw bytes: [UInt8]) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    precondition(status == 0, "the service listens")
    var all: [UInt8] = []
    let opening = try! JSONEncoder().encode(Typed(DocumentOpen(document: 1, origin: "https://example.org", url: "https://example.org/")))
    BridgeFrame(kind: .control, document: 0, payload: Array(opening)).append(to: &all)
    all += bytes
    BridgeFrame(control: #"{"type":"devices.list","id":4294967295}"#, document: 1).append(to: &all)
    guard unsafe all.withUnsafeBytes({ unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) == all.count else {
      return
    }
    // Raw bytes may have swallowed the request: without an end to what is sent the service would wait for the rest of a frame.
    shutdown(descriptor, Int32(SHUT_WR))
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while unsafe recv(descriptor, &buffer, buffer.count, 0) > 0 {}
  }
}
