import Base
import CLinux
import Glibc
import Synchronization
import Testing

@testable import Stage

@Suite struct WaylandServerTests {
  private static func path() -> String { "/tmp/parlor-wayland-\(getpid())-\(UInt32.random(in: 0 ... .max))" }

  /// A client's end of the socket, without a library.
  private final class RawClient {
    let socket: Int32

    init(_ path: String) {
      socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
      }
      precondition(status == 0, "the server listens")
    }

    deinit { hangUp() }

    private var isOpen = true
    func hangUp() {
      if isOpen { close(socket) }
      isOpen = false
    }

    func send(_ words: UInt32...) { send(Wayland.array(words)) }
    func send(_ bytes: [UInt8], descriptors: [Int32] = []) {
      _ = linux_send_descriptors(socket, bytes, bytes.count, descriptors, Int32(descriptors.count))
    }

    /// What has arrived; nil when the server hung up.
    func receive() -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      return count == 0 ? nil : Array(buffer[..<max(0, count)])
    }
  }

  /// Lets the server accept, read and answer all that has arrived.
  private func settle(_ server: WaylandServer) { for _ in 0..<8 { _ = server.process() } }

  /// How many of this process's descriptors are of memory with a name: other tests open and close their own meanwhile.
  private func descriptors(named name: String) -> Int {
    (0..<4_096).count { number in
      var buffer = [UInt8](repeating: 0, count: 256)
      let count = buffer.withUnsafeMutableBytes { readlink("/proc/self/fd/\(number)", $0.baseAddress!, $0.count) }
      return String(decoding: buffer[..<max(0, count)], as: UTF8.self).contains(name)
    }
  }

  @Test func answersOverTheSocketWhereverItIsCut() throws {
    let path = WaylandServerTests.path()
    let server = try WaylandServer(path: path, width: 64, height: 36, isAdmitted: { _ in true })
    let client = RawClient(path)
    let request = Wayland.array([1, 12 << 16 | 1, 2, 1, 12 << 16, 3])
    for byte in request {
      client.send([byte])
      _ = server.process()
    }
    let answer = try #require(client.receive())
    // The globals, then the callback's end.
    #expect(String(decoding: answer, as: UTF8.self).contains("parlor_video_manager_v1"))
    #expect(answer.suffix(24) == Wayland.array([3, 12 << 16, 0, 1, 12 << 16 | 1, 3]).suffix(24))
  }

  @Test func whoIsNotAdmittedIsTurnedAway() throws {
    let path = WaylandServerTests.path()
    let asked = Mutex<[WaylandPeer]>([])
    let server = try WaylandServer(
      path: path, width: 64, height: 36,
      isAdmitted: { peer in
        asked.withLock { $0.append(peer) }
        return false
      })
    let client = RawClient(path)
    _ = server.process()
    #expect(client.receive() == nil)
    #expect(asked.withLock { $0 } == [WaylandPeer(process: getpid(), user: getuid())])
    #expect(server.counters["wayland.refused"] == 1)
  }

  @Test func wrongRequestIsToldAndEndsTheConnection() throws {
    let path = WaylandServerTests.path()
    let server = try WaylandServer(path: path, width: 64, height: 36, isAdmitted: { _ in true })
    let client = RawClient(path)
    client.send(9, 8 << 16)
    settle(server)
    let answer = try #require(client.receive())
    #expect(Array(answer.prefix(4)) == [1, 0, 0, 0] && String(decoding: answer, as: UTF8.self).contains("object 9"))
    #expect(client.receive() == nil)
    // Others are served as before.
    let other = RawClient(path)
    other.send(1, 12 << 16, 2)
    settle(server)
    #expect(other.receive()?.isEmpty == false)
  }

  @Test func descriptorsAreClosedWithTheirClient() throws {
    let path = WaylandServerTests.path()
    let server = try WaylandServer(path: path, width: 64, height: 36, isAdmitted: { _ in true })
    func connect(_ round: Int) {
      let client = RawClient(path)
      let memory = (0..<20).map { _ in Wayland.Descriptor(owning: linux_memory_create("parlor-leak")) }
      // Descriptors that nobody asked for: kept for a while, or too many.
      for _ in 0...(round % 5) { client.send([1, 0, 0], descriptors: memory.map(\.number)) }
      if round % 2 == 0 { settle(server) } else { _ = server.process() }
      #expect(descriptors(named: "parlor-leak") >= 20)
      client.hangUp()
      settle(server)
    }
    for round in 0..<20 { connect(round) }
    // A program that another test starts holds a copy of the clients' sockets until it runs.
    var patience = 2_000
    while descriptors(named: "parlor-leak") > 0, patience > 0 {
      patience -= 1
      usleep(5_000)
      settle(server)
    }
    #expect(descriptors(named: "parlor-leak") == 0)
  }

  @Test func clientThatFloodsLeavesRoomForOthers() throws {
    let path = WaylandServerTests.path()
    let server = try WaylandServer(path: path, width: 64, height: 36, isAdmitted: { _ in true })
    let (flooding, quiet) = (RawClient(path), RawClient(path))
    _ = server.process()
    // More than is handled at once: regions made and destroyed.
    var flood: [UInt8] = Wayland.array([1, 12 << 16 | 1, 2]) + Wayland.array([2, 40 << 16, 1, 14]) + Array("wl_compositor\0\0\0".utf8)
    flood += Wayland.array([1, 3])
    for _ in 0..<1_000 { flood += Wayland.array([3, 12 << 16 | 1, 4, 4, 8 << 16]) }
    flooding.send(flood)
    quiet.send(1, 12 << 16, 2)
    let hasMore = server.process()
    #expect(hasMore)
    #expect(quiet.receive()?.isEmpty == false)
    while server.process() {}
    #expect(flooding.receive()?.isEmpty == false)
  }

  @Test func socketIsReplacedAndRemoved() throws {
    let path = WaylandServerTests.path()
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    do {
      let server = try WaylandServer(path: path, width: 64, height: 36, isAdmitted: { _ in true })
      let client = RawClient(path)
      client.send(1, 12 << 16, 2)
      settle(server)
      #expect(client.receive()?.isEmpty == false)
    }
    #expect(access(path, F_OK) != 0)
    #expect(throws: WaylandServerError(operation: "bind", code: ENOENT)) {
      try WaylandServer(path: "/no/such/folder/socket", width: 64, height: 36, isAdmitted: { _ in true })
    }
    #expect(throws: WaylandServerError(operation: "path", code: ENAMETOOLONG)) {
      try WaylandServer(path: String(repeating: "x", count: 200), width: 64, height: 36, isAdmitted: { _ in true })
    }
  }

  @Test func pageThatDoesNotChangeCostsNothing() throws {
    let screen = try TestScreen()
    // The spinner of no widget turns in this one: it draws once.
    let program = try TestProgram(["weston-flower"], on: screen)
    #expect(screen.wait { $0[320, 240] != .black })
    let statistics = screen.stage.statistics
    // Refreshes go by, and nothing is composed.
    let end = StageThread.now() + .milliseconds(60_000)
    while screen.stage.statistics.repeated < statistics.repeated + 60, StageThread.now() < end { usleep(10_000) }
    #expect(screen.stage.statistics.repeated >= statistics.repeated + 60)
    #expect(screen.flips <= statistics.flips + 1)
    #expect(program.isRunning)
  }
}
