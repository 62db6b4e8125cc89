import Glibc
import Testing

@testable import Stage

@Suite struct SharedMemoryTests {
  @Test func formatsAreAnnounced() {
    let client = TestClient(TestClient.compositor())
    #expect(client.take(client.shm, 0).map(\.words) == [[0], [1]])
  }

  @Test func memoryThatIsCutShortEndsItsClientOnly() {
    let compositor = TestClient.compositor()
    let (client, other) = (TestClient(compositor), TestClient(compositor))
    _ = other.window(200, 100, 0xFF00_FF00)
    let window = client.window()
    let memory = TestMemory([UInt32](repeating: 1, count: 20_000))
    let buffer = client.buffer(200, 100, memory)
    memory.truncate(to: 40_000)
    client.attach(buffer, to: window.surface)
    client.commit(window.surface)
    #expect(client.error == [buffer, 2])
    #expect(compositor.takeLayers()?.layers.count == 1 && other.client.endReason == nil)
  }

  @Test func poolsGrowAndNeverShrink() {
    let client = TestClient(TestClient.compositor())
    let memory = TestMemory([UInt32](repeating: 0xFFFF_FFFF, count: 200))
    let pool = client.make(client.shm, 0, .descriptor(memory.descriptor), .int(400))
    client.request(pool, 2, .int(800))
    let buffer = client.make(pool, 0, .int(400), .int(10), .int(10), .int(40), .uint(0))
    #expect(client.error == nil)
    // The pool may go before its buffers.
    client.request(pool, 1)
    let window = client.window()
    client.attach(buffer, to: window.surface)
    client.commit(window.surface)
    #expect(client.take(buffer).count == 1)

    let second = client.make(client.shm, 0, .descriptor(memory.descriptor), .int(400))
    client.request(second, 2, .int(399))
    #expect(client.error == [second, 2])
  }

  @Test func impossibleBuffersAreRefused() {
    let cases: [(offset: Int, width: Int, height: Int, stride: Int, format: UInt32, code: UInt32)] = [
      (0, 0, 10, 40, 0, 1), (0, 10, -1, 40, 0, 1), (0, 10, 10, 39, 0, 1), (-4, 10, 10, 40, 0, 1), (4, 10, 10, 40, 0, 1),
      (0, 10, 11, 40, 0, 1), (0, 1, 1, .max, 0, 1), (0, 1 << 20, 1, 1 << 22, 0, 1), (0, 10, 10, 40, 0x3432_4258, 0),
    ]
    for value in cases {
      let client = TestClient(TestClient.compositor())
      let pool = client.make(client.shm, 0, .descriptor(TestMemory([]).descriptor), .int(400))
      _ = client.make(pool, 0, .int(value.offset), .int(value.width), .int(value.height), .int(value.stride), .uint(value.format))
      #expect(client.error == [pool, value.code], "\(value)")
    }
  }

  @Test func onlyMemoryIsRead() {
    var pipes: [Int32] = [0, 0]
    pipe(&pipes)
    let end = Wayland.Descriptor(owning: pipes[1])
    for descriptor in [Wayland.Descriptor(owning: pipes[0]), Wayland.Descriptor(owning: open("/dev/zero", O_RDONLY)), end] {
      let client = TestClient(TestClient.compositor())
      _ = client.make(client.shm, 0, .descriptor(descriptor), .int(400))
      #expect(client.error == [client.shm, 2])
    }
  }

  @Test func picturesOfOneClientAreLimited() {
    let client = TestClient(TestClient.compositor())
    let memory = TestMemory([])
    memory.truncate(to: 8_192 * 8_192 * 4)
    let buffer = client.buffer(8_192, 8_192, memory)
    for _ in 0..<4 where client.client.endReason == nil {
      let surface = client.surface()
      client.attach(buffer, to: surface, damage: nil)
      client.commit(surface)
    }
    #expect(client.error?[1] == 2)
    #expect(client.client.bitmapBytes == 0)
  }
}
