import BridgeMessages
import CGLib
import Foundation
import Testing

@testable import BridgeSocket

/// GLib's main loop and these tests run on one thread at a time.
@Suite(.serialized) struct BridgeConnectionTests {
  /// A listener at a path of its own, and a connection to it.
  final class Pair {
    let path: String
    let connection: BridgeConnection
    var peer: Int32 = -1

    init() throws {
      let path = "\(NSTemporaryDirectory())/bridge-\(UInt32.random(in: 0 ... .max)).sock"
      self.path = path
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
      }
      try #require(bound == 0 && listen(listener, 1) == 0)
      connection = try #require(BridgeConnection(path: path, backlogLimit: 1 << 20))
      peer = accept(listener, nil, nil)
      close(listener)
    }

    deinit {
      close(peer)
      unlink(path)
    }

    func write(_ bytes: [UInt8]) { _ = Glibc.write(peer, bytes, bytes.count) }
  }

  func spin(until condition: () -> Bool) {
    while !condition() { g_main_context_iteration(nil, 1) }
  }

  @Test func nobodyListens() {
    #expect(BridgeConnection(path: "/nowhere/bridge.sock") == nil)
    #expect(BridgeConnection(path: String(repeating: "long", count: 100)) == nil)
  }

  @Test func framesBothWays() throws {
    let pair = try Pair()
    var received: [BridgeFrame] = []
    pair.connection.onFrame = { received.append($0) }
    var bytes: [UInt8] = []
    let frames = [BridgeFrame(control: "{}", document: 3), BridgeFrame(kind: .audio, document: 3, target: 4, payload: [1, 2])]
    for frame in frames { frame.append(to: &bytes) }
    pair.write(bytes)
    spin { received.count == 2 }
    #expect(received == frames)
    #expect(pair.connection.send(control: "{}", document: 3))
    var back = [UInt8](repeating: 0, count: 15)
    #expect(read(pair.peer, &back, 15) == 15)
    #expect(back == Array(bytes[..<15]))
  }

  @Test func aCallGetsItsAnswerAndNothingIsLost() throws {
    let pair = try Pair()
    var received: [BridgeFrame] = []
    pair.connection.onFrame = { received.append($0) }
    var bytes: [UInt8] = []
    BridgeFrame(control: "1").append(to: &bytes)
    BridgeFrame(kind: .callAnswer, document: 5, payload: [9]).append(to: &bytes)
    BridgeFrame(control: "2").append(to: &bytes)
    pair.write(bytes)
    let answer = pair.connection.wait(until: g_get_monotonic_time() + 60_000_000) { $0.kind == .callAnswer }
    #expect(answer?.payload == [9])
    #expect(received.isEmpty)
    bytes = []
    BridgeFrame(control: "3").append(to: &bytes)
    pair.write(bytes)
    spin { received.count == 3 }
    #expect(received.map(\.payload) == [Array("1".utf8), Array("2".utf8), Array("3".utf8)])
    #expect(pair.connection.wait(until: g_get_monotonic_time() + 1000) { _ in true } == nil)
  }

  @Test func theBacklogHasAnEnd() throws {
    let pair = try Pair()
    let piece = [UInt8](repeating: 7, count: 1 << 16)
    var sent = 0
    while sent < 200, piece.withUnsafeBytes({ pair.connection.send(.dataChannelBinary, document: 1, target: 1, payload: $0) }) { sent += 1 }
    #expect(sent >= pair.connection.backlogLimit / piece.count)
    #expect(sent < 200)
    // What was taken arrives whole.
    var reader = BridgeFrameReader()
    var arrived = 0
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while arrived < sent {
      while true {
        let count = recv(pair.peer, &room, room.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { break }
        room.withUnsafeBytes { reader.receive(UnsafeRawBufferPointer(rebasing: $0[..<count]).bytes) }
        while let frame = try reader.next() {
          #expect(frame.payload.count == piece.count)
          arrived += 1
        }
      }
      if arrived < sent { g_main_context_iteration(nil, 0) }
    }
  }

  @Test(arguments: [[0, 0, 0, 9, 99] as [UInt8], []]) func brokenStreamsAreCutOff(_ bytes: [UInt8]) throws {
    let pair = try Pair()
    var isClosed = false
    pair.connection.onClose = { isClosed = true }
    if bytes.isEmpty { shutdown(pair.peer, Int32(SHUT_WR)) } else { pair.write(bytes) }
    spin { isClosed }
    #expect(!pair.connection.isOpen)
    #expect(!pair.connection.send(control: "{}"))
  }
}
