import Testing

@testable import Stage

@Suite struct OutputChangeTests {
  private func mode(_ width: Int, _ height: Int, _ rate: Double = 60) -> Wayland.OutputMode {
    Wayland.OutputMode(width: width, height: height, refreshRate: rate)
  }

  @Test func clientsAreToldOfAnotherMonitor() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let output = client.bind("wl_output")
    let old = client.bind("wl_output", version: 1)
    let logical = client.make(client.bind("zxdg_output_manager_v1"), 1, .uint(output))
    let oldLogical = client.make(client.bind("zxdg_output_manager_v1", version: 2), 1, .uint(output))
    for object in [output, old, logical, oldLogical] { _ = client.take(object) }
    var new = mode(1_920, 1_080, 59.94)
    (new.make, new.model, new.millimetres) = ("Maker", "M24", .init(width: 531, height: 299))
    compositor.setOutput(new, now: TestClient.start)

    let events = client.take(output)
    // The name stays: it cannot change while the output is there. All of it counts with the last event.
    #expect(events.map(\.opcode) == [0, 1, 5, 3, 2])
    var geometry = EventReader(events[0].body)
    #expect([geometry.int(), geometry.int(), geometry.int(), geometry.int(), geometry.int()] == [0, 0, 531, 299, 0])
    #expect(geometry.string() == "Maker" && geometry.string() == "M24" && geometry.int() == 0)
    #expect(events[1].ints == [3, 1_920, 1_080, 59_940])
    #expect(client.take(old).map(\.opcode) == [0, 1])
    let logicalEvents = client.take(logical)
    #expect(logicalEvents.map(\.opcode) == [0, 1, 4] && logicalEvents[1].ints == [1_920, 1_080])
    #expect(client.take(oldLogical).map(\.opcode) == [0, 1, 2])
    // The same once more is no news.
    compositor.setOutput(new, now: TestClient.start)
    #expect(client.take(output).isEmpty)
  }

  @Test func windowsAreToBeAsLargeAsTheNewScreen() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, 0xFFFF_0000)
    let (hidden, unconfigured) = (client.window(), client.make(client.make(client.shell, 2, .uint(client.surface())), 1))
    for toplevel in [window.toplevel, hidden.toplevel] { _ = client.take(toplevel) }
    _ = compositor.takeLayers()
    compositor.presented(at: TestClient.start, refresh: .zero, sequence: 1)
    compositor.setOutput(mode(320, 240), now: TestClient.start)
    for toplevel in [window.toplevel, hidden.toplevel] {
      #expect(client.take(toplevel, 0).map { Array($0.ints.prefix(2)) } == [[320, 240]])
    }
    #expect(client.take(unconfigured).isEmpty)
    // Until the client follows, its picture stands in the middle, and the whole of it is to be painted.
    var update = try #require(compositor.takeLayers())
    let middle = Rectangle(x: 60, y: 70, width: 200, height: 100)
    #expect(update.layers.map(\.target) == [middle] && update.layers[0].damage == [middle])
    client.acknowledge(window.shellSurface)
    client.attach(client.buffer(320, 240, 0xFF00_FF00), to: window.surface)
    client.commit(window.surface)
    update = try #require(compositor.takeLayers())
    #expect(update.layers.map(\.target) == [Rectangle(x: 0, y: 0, width: 320, height: 240)])

    // On a smaller screen only what lies on it is painted.
    compositor.setOutput(mode(100, 50), now: TestClient.start)
    update = try #require(compositor.takeLayers())
    #expect(update.layers[0].target == Rectangle(x: 0, y: 0, width: 320, height: 240))
    #expect(update.layers[0].damage == [Rectangle(x: 0, y: 0, width: 100, height: 50)])
  }

  @Test func anotherRefreshRateAloneLeavesWindowsAlone() {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, 0xFFFF_0000)
    _ = (compositor.takeLayers(), client.take(window.toplevel))
    compositor.setOutput(mode(200, 100, 50), now: TestClient.start)
    #expect(client.take(window.toplevel).isEmpty && compositor.takeLayers() == nil)
  }

  @Test func popupsFindAnotherPlaceOrGo() throws {
    let compositor = TestClient.compositor(width: 400, height: 300)
    let client = TestClient(compositor)
    let window = client.window(400, 300, 0xFFFF_0000)
    func popup(isReactive: Bool, x: Int) -> (surface: UInt32, shellSurface: UInt32, popup: UInt32) {
      let positioner = client.make(client.shell, 1)
      client.request(positioner, 1, .int(50), .int(40))
      client.request(positioner, 2, .int(x), .int(200), .int(10), .int(10))
      client.request(positioner, 3, .uint(6))
      client.request(positioner, 4, .uint(8))
      client.request(positioner, 5, .uint(63))
      if isReactive { client.request(positioner, 7) }
      let surface = client.surface()
      let shellSurface = client.make(client.shell, 2, .uint(surface))
      let popup = client.make(shellSurface, 2, .uint(window.shellSurface), .uint(positioner))
      client.commit(surface)
      client.acknowledge(shellSurface)
      client.attach(client.buffer(50, 40, 0xFF00_FF00), to: surface)
      client.commit(surface)
      return (surface, shellSurface, popup)
    }
    let (staying, going) = (popup(isReactive: true, x: 300), popup(isReactive: false, x: 100))
    #expect(client.take(staying.popup, 0).map(\.ints) == [[300, 210, 50, 40]])
    _ = client.take(going.popup)
    #expect(compositor.takeLayers()?.layers.count == 3)
    compositor.setOutput(mode(320, 240), now: TestClient.start)
    // It flips to the left, and upwards.
    #expect(client.take(staying.popup, 0).map(\.ints) == [[260, 160, 50, 40]])
    #expect(client.take(going.popup).map(\.opcode) == [1])
    #expect(compositor.takeLayers()?.layers.count == 2)
    #expect(client.error == nil)
  }

  @Test func pointerStaysOnTheScreenAndTouchesEnd() {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, 0xFFFF_0000)
    let (pointer, touch) = (client.make(client.seat, 0), client.make(client.seat, 2))
    func send(_ inputs: StageInput...) { for input in inputs { compositor.send(input, now: TestClient.start) } }
    send(.touchDown(id: 0, x: 10, y: 10), .touchDown(id: 1, x: 20, y: 10), .touchUp(id: 1))
    send(.pointerMotion(x: 190, y: 90))
    _ = (client.take(touch), client.take(pointer))
    compositor.setOutput(mode(100, 50), now: TestClient.start)
    #expect(client.take(touch).map(\.opcode) == [4])
    // The finger that was cancelled has no more to say; a new one has.
    send(.touchMotion(id: 0, x: 5, y: 5), .touchUp(id: 0))
    #expect(client.take(touch).isEmpty)
    send(.pointerButton(code: 0x110, isPressed: true), .pointerButton(code: 0x110, isPressed: false), .pointerMotion(x: 99, y: 49))
    #expect(client.take(pointer, 3).count == 2)
    send(.touchDown(id: 0, x: 300, y: 300))
    #expect(client.take(touch, 0).map { Array($0.ints[2...]) } == [[Int(window.surface), 0, 25_597, 12_797]])
  }

  @Test func dragWithAFingerEndsWithTheScreen() {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, 0xFFFF_0000)
    _ = client.make(client.seat, 2)
    let manager = client.bind("wl_data_device_manager")
    let (source, device) = (client.make(manager, 0), client.make(manager, 1, .uint(client.seat)))
    compositor.send(.touchDown(id: 0, x: 10, y: 10), now: TestClient.start)
    client.request(device, 0, .uint(source), .uint(window.surface), .uint(0), .uint(compositor.serial))
    #expect(compositor.seat.drag != nil)
    compositor.setOutput(mode(100, 50), now: TestClient.start)
    #expect(compositor.seat.drag == nil)
    #expect(client.take(source, 2).count == 1)
  }
}
