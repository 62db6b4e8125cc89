import Glibc
import Testing

@testable import Stage

@Suite struct DataDeviceTests {
  /// Two clients with a window each, the second one's on top.
  private struct Setup {
    let compositor = TestClient.compositor()
    let first: TestClient
    let second: TestClient
    let firstManager: UInt32
    let secondManager: UInt32
    let firstDevice: UInt32
    let secondDevice: UInt32
    let firstWindow: TestClient.Window
    let secondWindow: TestClient.Window

    init() {
      (first, second) = (TestClient(compositor), TestClient(compositor))
      (firstManager, secondManager) = (first.bind("wl_data_device_manager"), second.bind("wl_data_device_manager"))
      firstDevice = first.make(firstManager, 1, .uint(first.seat))
      secondDevice = second.make(secondManager, 1, .uint(second.seat))
      firstWindow = first.window(200, 100, 0xFFFF_0000)
      secondWindow = second.window(200, 100, 0xFF00_FF00)
    }

    func send(_ inputs: StageInput...) { for input in inputs { compositor.send(input, now: TestClient.start) } }
  }

  @Test func whatOneClientCopiesAnotherPastes() throws {
    let setup = Setup()
    let source = setup.second.make(setup.secondManager, 0)
    setup.second.request(source, 0, .string("text/plain"))
    setup.second.request(setup.secondDevice, 1, .uint(source), .uint(1))
    #expect(setup.second.take(setup.secondDevice, 5).last?.words != [0])
    // The first one learns of it when the keyboard is its own.
    #expect(setup.first.take(setup.firstDevice, 0).isEmpty)
    setup.second.attach(0, to: setup.secondWindow.surface)
    setup.second.commit(setup.secondWindow.surface)
    let offer = try #require(setup.first.take(setup.firstDevice, 0).last?.words.first)
    #expect(offer >= 0xFF00_0000)
    #expect(setup.first.take(setup.firstDevice, 5).last?.words == [offer])
    var types = setup.first.take(offer, 0).map { message in
      var reader = EventReader(message.body)
      return reader.string()
    }
    #expect(types == ["text/plain"])

    var pipes: [Int32] = [0, 0]
    pipe(&pipes)
    setup.first.request(offer, 1, .string("text/plain"), .descriptor(Wayland.Descriptor(owning: pipes[1])))
    // The source is sent the very pipe.
    let descriptors = setup.second.client.outgoing.chunk().descriptors
    let target = try #require(descriptors.last)
    write(target.number, "hello", 5)
    types = setup.second.take(source, 1).map { message in
      var reader = EventReader(message.body)
      return reader.string()
    }
    #expect(types == ["text/plain"])
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(pipes[0], &bytes, 16) == 5 && String(decoding: bytes[..<5], as: UTF8.self) == "hello")
    close(pipes[0])

    // When the source goes, so does the selection.
    setup.second.request(source, 1)
    #expect(setup.first.take(setup.firstDevice, 5).last?.words == [0])
  }

  @Test func newSelectionCancelsTheOldOne() {
    let setup = Setup()
    let (old, new) = (setup.second.make(setup.secondManager, 0), setup.second.make(setup.secondManager, 0))
    setup.second.request(setup.secondDevice, 1, .uint(old), .uint(1))
    setup.second.request(setup.secondDevice, 1, .uint(new), .uint(2))
    #expect(setup.second.take(old, 2).count == 1 && setup.second.take(new, 2).isEmpty)
    // Who does not have the keyboard cannot replace it.
    let foreign = setup.first.make(setup.firstManager, 0)
    setup.first.request(setup.firstDevice, 1, .uint(foreign), .uint(3))
    #expect(setup.first.take(foreign, 2).count == 1 && setup.second.take(new, 2).isEmpty)
    setup.second.request(setup.secondDevice, 1, .uint(new), .uint(4))
    #expect(setup.second.error == [new, 1])
  }

  @Test func dragEndsInADrop() throws {
    let setup = Setup()
    let client = setup.second
    let pointer = client.make(client.seat, 0)
    _ = client.take(setup.secondDevice)
    setup.send(.pointerMotion(x: 10, y: 10), .pointerButton(code: 0x110, isPressed: true))
    let source = client.make(setup.secondManager, 0)
    client.request(source, 0, .string("text/uri-list"))
    client.request(source, 2, .uint(3))
    let icon = client.surface()
    client.attach(client.buffer(6, 6, 0xFF00_00FF), to: icon)
    client.commit(icon)
    client.request(setup.secondDevice, 0, .uint(source), .uint(setup.secondWindow.surface), .uint(icon), .uint(1))
    #expect(client.take(pointer).map(\.opcode).suffix(2) == [1, 5], "the pointer leaves")
    let entered = client.take(setup.secondDevice)
    try #require(entered.map(\.opcode) == [0, 1])
    let offer = try #require(entered.first?.words.first)
    #expect(entered[1].words[1] == setup.secondWindow.surface && entered[1].words[4] == offer)
    #expect(client.take(offer).map(\.opcode) == [0, 1])
    setup.send(.pointerMotion(x: 60, y: 70))
    #expect(client.take(setup.secondDevice, 3).map { $0.ints[1] } == [60 * 256])
    #expect(setup.compositor.takeLayers()?.layers.last?.target == Rectangle(x: 60, y: 70, width: 6, height: 6))

    client.request(offer, 0, .uint(1), .string("text/uri-list"))
    client.request(offer, 4, .uint(3), .uint(2))
    #expect(client.take(offer, 2).map(\.words) == [[2]])
    #expect(client.take(source).map(\.opcode) == [0, 5])
    setup.send(.pointerButton(code: 0x110, isPressed: false))
    #expect(client.take(setup.secondDevice).map(\.opcode) == [4, 2])
    #expect(client.take(source).map(\.opcode) == [3])
    client.request(offer, 3)
    #expect(client.take(source).map(\.opcode) == [4])
    client.request(offer, 2)
    // The pointer works as before.
    #expect(client.take(pointer, 0).count == 1)
    #expect(setup.compositor.takeLayers()?.layers.count == 1 && client.error == nil)
  }

  @Test func dragThatNobodyTakesIsCancelled() {
    let setup = Setup()
    let client = setup.second
    func drag(_ source: UInt32) {
      client.request(setup.secondDevice, 0, .uint(source), .uint(setup.secondWindow.surface), .uint(0), .uint(1))
    }
    // Without a button down nothing begins.
    let early = client.make(setup.secondManager, 0)
    drag(early)
    #expect(client.take(early, 2).count == 1)
    setup.send(.touchDown(id: 3, x: 10, y: 10))
    let source = client.make(setup.secondManager, 0)
    drag(source)
    setup.send(.touchMotion(id: 3, x: 20, y: 20), .touchUp(id: 3))
    #expect(client.take(setup.secondDevice).map(\.opcode).last == 2)
    #expect(client.take(source, 2).count == 1)
    #expect(setup.compositor.seat.drag == nil)
    // The finger turns out to be none.
    setup.send(.touchDown(id: 3, x: 10, y: 10))
    let other = client.make(setup.secondManager, 0)
    drag(other)
    setup.send(.touchMotion(id: 3, x: 20, y: 20), .touchCancel(id: 3))
    #expect(client.take(other, 2).count == 1 && setup.compositor.seat.drag == nil)
    // The client goes in mid-drag.
    setup.send(.touchDown(id: 4, x: 10, y: 10))
    drag(client.make(setup.secondManager, 0))
    #expect(setup.compositor.seat.drag != nil)
    setup.compositor.disconnect(client.client, reason: "test", now: TestClient.start)
    setup.send(.touchMotion(id: 4, x: 20, y: 20), .touchUp(id: 4))
    #expect(setup.compositor.seat.drag == nil)
  }
}
