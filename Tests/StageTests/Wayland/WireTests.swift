import Base
import Glibc
import Testing

@testable import Stage

@Suite struct WireTests {
  /// A request as it stands on the wire.
  private func bytes(_ words: UInt32...) -> [UInt8] { Wayland.array(words) }

  @Test func messagesAreCutWhereverTheSocketCutsThem() throws {
    let stream = bytes(7, 12 << 16 | 3, 99) + bytes(8, 8 << 16) + bytes(9, 16 << 16 | 1, 1, 2)
    for step in 1...stream.count {
      var incoming = Wayland.IncomingMessages()
      var messages: [Wayland.Message] = []
      for start in stride(from: 0, to: stream.count, by: step) {
        try incoming.append(stream[start..<min(stream.count, start + step)])
        while let message = try incoming.next() { messages.append(message) }
      }
      #expect(messages.map(\.object) == [7, 8, 9])
      #expect(messages.map(\.opcode) == [3, 0, 1])
      #expect(messages.map(\.body.count) == [4, 0, 8])
    }
  }

  @Test(arguments: [0, 4, 7, 9, 10, 4_100, 65_532] as [UInt32]) func impossibleLengthIsAnError(length: UInt32) throws {
    var incoming = Wayland.IncomingMessages()
    try incoming.append(bytes(1, length << 16))
    #expect(throws: Wayland.ProtocolFailure.self) { try incoming.next() }
  }

  @Test func descriptorsThatNobodyWantsEndTheConnection() throws {
    var incoming = Wayland.IncomingMessages()
    #expect(throws: Wayland.ProtocolFailure.self) {
      try incoming.append([], descriptors: (0...Wayland.Limits.waitingDescriptors).map { _ in TestMemory([]).descriptor })
    }
  }

  @Test func descriptorsNeverComeLaterThanTheirMessage() {
    var outgoing = Wayland.OutgoingMessages()
    for _ in 0..<70 { outgoing.append(object: 5, opcode: 0, [.descriptor(TestMemory([]).descriptor), .uint(1)]) }
    var (sentBytes, sentDescriptors, calls) = (0, 0, 0)
    let total = outgoing.bytes.count
    while !outgoing.isEmpty {
      let chunk = outgoing.chunk()
      #expect(chunk.descriptors.count <= Wayland.OutgoingMessages.descriptorsAtOnce)
      // The socket takes what it likes of the bytes, and all descriptors with the first of them.
      let taken = max(1, chunk.byteCount / (calls % 3 + 1))
      outgoing.remove(byteCount: taken, descriptorCount: chunk.descriptors.count)
      sentBytes += taken
      sentDescriptors += chunk.descriptors.count
      calls += 1
      #expect(sentDescriptors >= sentBytes / 12)
    }
    #expect(sentBytes == total && sentDescriptors == 70)
  }

  @Test func fixedNumbersAreClampedAndRounded() {
    #expect(Wayland.fixed(1.5) == 384)
    #expect(Wayland.fixed(-0.25) == -64)
    #expect(Wayland.fixed(1e12) == .max)
    #expect(Wayland.fixed(.nan) == 0)
  }

  @Test func everyWrongRequestIsAProtocolError() {
    let invalidObject: UInt32 = 0
    let invalidMethod: UInt32 = 1
    /// What is sent to a fresh client, and the error that comes of it.
    let cases: [(String, UInt32, (TestClient) -> Void)] = [
      ("no such object", invalidObject, { $0.request(77, 0) }),
      ("no such request", invalidMethod, { $0.request(1, 9) }),
      ("argument missing", invalidMethod, { $0.request(1, 0) }),
      ("argument too many", invalidMethod, { $0.request(1, 0, .newID($0.newID()), .uint(0)) }),
      ("number in use", invalidObject, { $0.request(1, 0, .newID(2)) }),
      ("number zero", invalidObject, { $0.request(1, 0, .newID(0)) }),
      ("number of the server's", invalidObject, { $0.request(1, 0, .newID(0xFF00_0001)) }),
      ("no such global", invalidObject, { $0.request(2, 0, .uint(99), .string("wl_shm"), .uint(1), .newID($0.newID())) }),
      ("wrong interface", invalidObject, { $0.request(2, 0, .uint(1), .string("wl_shm"), .uint(1), .newID($0.newID())) }),
      ("version too new", invalidObject, { $0.request(2, 0, .uint(1), .string("wl_compositor"), .uint(9), .newID($0.newID())) }),
      ("version zero", invalidObject, { $0.request(2, 0, .uint(1), .string("wl_compositor"), .uint(0), .newID($0.newID())) }),
      ("text without end", invalidMethod, { $0.send(self.bytes(2, 28 << 16, 1, 4, 0x4141_4141, 1, 50)) }),
      ("text longer than its message", invalidMethod, { $0.send(self.bytes(2, 16 << 16, 1, 0xFFFF_FFF0)) }),
      ("descriptor missing", invalidMethod, { client in _ = client.make(client.shm, 0, .int(4)) }),
      ("object missing", invalidMethod, { client in _ = client.make(client.shell, 2, .uint(0)) }),
      ("object of another kind", invalidMethod, { client in _ = client.make(client.shell, 2, .uint(client.wlCompositor)) }),
      (
        "request newer than the version", invalidMethod,
        { client in
          let old = client.bind("wl_compositor", version: 3)
          let surface = client.make(old, 0)
          client.request(surface, 9, .int(0), .int(0), .int(1), .int(1))
        }
      ),
    ]
    for (name, code, send) in cases {
      let client = TestClient(TestClient.compositor())
      send(client)
      #expect(client.error?[1] == code, "\(name)")
      #expect(client.client.endReason != nil, "\(name)")
      #expect(client.client.resources.isEmpty, "\(name)")
    }
  }

  @Test func numbersAreFreeAgainOnceTheyAreSaidToBe() {
    let client = TestClient(TestClient.compositor())
    let callback = client.make(1, 0)
    #expect(client.take(callback).map(\.opcode) == [0])
    #expect(client.take(1, 1).map(\.words) == [[callback]])
    client.request(1, 0, .newID(callback))
    #expect(client.take(callback).count == 1 && client.error == nil)
  }

  @Test func clientThatMakesTooManyObjectsIsEnded() {
    let client = TestClient(TestClient.compositor())
    for _ in 0..<Wayland.Limits.objects where client.client.endReason == nil { _ = client.make(client.wlCompositor, 1) }
    #expect(client.error?[1] == 2)
  }

  @Test func clientThatNeverReadsIsEnded() {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    var encoded = Wayland.OutgoingMessages()
    var id: UInt32 = 100
    while client.client.endReason == nil, id < 200_000 {
      encoded = Wayland.OutgoingMessages()
      for _ in 0..<100 {
        encoded.append(object: 1, opcode: 0, [.newID(id)])
        id += 1
      }
      client.send(encoded.bytes)
    }
    #expect(client.client.endReason == "it does not read what it is sent")
    #expect(compositor.clients.isEmpty)
  }
}
