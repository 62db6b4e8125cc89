import Testing

@testable import Stage

@Suite struct ShellTests {
  private let red: UInt32 = 0xFFFF_0000
  private let green: UInt32 = 0xFF00_FF00
  private let blue: UInt32 = 0xFF00_00FF

  private func colors(_ compositor: Wayland.Compositor) -> [UInt32]? { compositor.takeLayers()?.layers.map { $0.color(0, 0) } }

  /// Width, height and states of the newest configuration.
  private func configuration(_ client: TestClient, _ toplevel: UInt32) -> (Int, Int, [UInt32])? {
    client.take(toplevel, 0).last.map { message in
      var reader = EventReader(message.body)
      return (reader.int(), reader.int(), reader.words())
    }
  }

  @Test func windowFillsTheScreenAndIsActive() throws {
    let client = TestClient(TestClient.compositor())
    let surface = client.surface()
    let shellSurface = client.make(client.shell, 2, .uint(surface))
    let toplevel = client.make(shellSurface, 1)
    #expect(client.take(toplevel).isEmpty && client.take(shellSurface).isEmpty)
    client.commit(surface)
    let (width, height, states) = try #require(configuration(client, toplevel))
    #expect((width, height) == (200, 100) && Set(states) == [2, 4])
    #expect(client.take(shellSurface).count == 1)
    // Every wish is answered; the window stays as large as the screen.
    for request: UInt16 in [9, 10, 12] {
      client.request(toplevel, request)
      #expect(configuration(client, toplevel)?.0 == 200)
    }
  }

  @Test func newWindowComesUpWithItsFirstPicture() throws {
    let compositor = TestClient.compositor()
    let (old, new) = (TestClient(compositor), TestClient(compositor))
    let oldWindow = old.window(200, 100, red)
    #expect(colors(compositor) == [red])
    let newWindow = new.window()
    #expect(colors(compositor) == nil)
    #expect(old.take(oldWindow.toplevel, 0).isEmpty == false)
    new.attach(new.buffer(200, 100, green), to: newWindow.surface)
    new.commit(newWindow.surface)
    #expect(colors(compositor) == [green])
    // The old one sleeps meanwhile: no callbacks, no activation.
    #expect(configuration(old, oldWindow.toplevel)?.2 == [2])
    let callback = old.make(oldWindow.surface, 3)
    old.attach(old.buffer(200, 100, blue), to: oldWindow.surface)
    old.commit(oldWindow.surface)
    #expect(colors(compositor) == nil)
    compositor.presented(at: TestClient.start, refresh: .zero, sequence: 1)
    #expect(old.take(callback).isEmpty)
    // When the new one goes, it comes back with what it drew.
    compositor.disconnect(new.client, reason: "test", now: TestClient.start)
    let update = try #require(compositor.takeLayers())
    #expect(update.layers.map { $0.color(0, 0) } == [blue])
    #expect(update.layers[0].damage == [Rectangle(x: 0, y: 0, width: 200, height: 100)])
    #expect(update.uncovered == [Rectangle(x: 0, y: 0, width: 200, height: 100)])
    compositor.presented(at: TestClient.start, refresh: .zero, sequence: 2)
    #expect(old.take(callback).count == 1)
    #expect(configuration(old, oldWindow.toplevel)?.2.contains(4) ?? false)
  }

  @Test func ownerIsToldOfWindows() {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window()
    client.request(window.toplevel, 2, .string("Lobby"))
    client.request(window.toplevel, 3, .string("org.example.page"))
    #expect(compositor.takeEvents().isEmpty)
    client.attach(client.buffer(200, 100, red), to: window.surface)
    client.commit(window.surface)
    var events = compositor.takeEvents()
    guard case .mapped(let information)? = events.first else {
      Issue.record("no window was reported")
      return
    }
    #expect(information.title == "Lobby" && information.applicationIdentifier == "org.example.page" && information.process == 42)
    client.request(window.toplevel, 2, .string("Call"))
    events = compositor.takeEvents()
    #expect(
      events == [
        .changed(
          ToplevelInformation(
            identifier: information.identifier, process: 42, title: "Call", applicationIdentifier: "org.example.page"))
      ])
    compositor.close(information.identifier)
    #expect(client.take(window.toplevel, 1).count == 1)
    client.attach(0, to: window.surface)
    client.commit(window.surface)
    #expect(compositor.takeEvents().map { if case .unmapped = $0 { true } else { false } } == [true])
  }

  @Test func windowThatWasTakenAwayStartsAnew() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, red)
    _ = colors(compositor)
    client.attach(0, to: window.surface)
    client.commit(window.surface)
    #expect(colors(compositor) == [])
    client.commit(window.surface)
    client.acknowledge(window.shellSurface)
    client.attach(client.buffer(200, 100, green), to: window.surface)
    client.commit(window.surface)
    #expect(colors(compositor) == [green])
    client.attach(0, to: window.surface)
    client.commit(window.surface)
    client.attach(client.buffer(200, 100, green), to: window.surface)
    client.commit(window.surface)
    #expect(client.error == [window.shellSurface, 3], "a buffer before the configuration was acknowledged")
  }

  @Test func dialogLiesInTheMiddleOfItsWindow() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let parent = client.window(200, 100, red)
    _ = compositor.takeLayers()
    let surface = client.surface()
    let shellSurface = client.make(client.shell, 2, .uint(surface))
    let dialog = client.make(shellSurface, 1)
    client.request(dialog, 1, .uint(parent.toplevel))
    client.commit(surface)
    let (width, height, states) = try #require(configuration(client, dialog))
    #expect((width, height) == (0, 0) && states == [4])
    client.acknowledge(shellSurface)
    // Ten pixels of shadow around it.
    client.request(shellSurface, 3, .int(10), .int(10), .int(60), .int(40))
    client.attach(client.buffer(80, 60, green), to: surface)
    client.commit(surface)
    let layers = try #require(compositor.takeLayers()?.layers)
    #expect(layers.map { $0.color(0, 0) } == [red, green])
    #expect(layers[1].target == Rectangle(x: 60, y: 20, width: 80, height: 60))
    client.request(parent.toplevel, 1, .uint(dialog))
    #expect(client.error == [parent.toplevel, 1])
  }

  @Test func popupStandsNextToItsAnchor() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, red)
    let popup = client.popup(
      on: window.shellSurface, size: (60, 30), anchor: Rectangle(x: 150, y: 80, width: 20, height: 10), adjustments: 63, color: green)
    // Below and to the right there is no room: it flips upwards, and to the left.
    #expect(client.take(popup.toplevel, 0).map(\.ints) == [[110, 50, 60, 30]])
    let layers = try #require(compositor.takeLayers()?.layers)
    #expect(layers.map(\.target) == [Rectangle(x: 0, y: 0, width: 200, height: 100), Rectangle(x: 110, y: 50, width: 60, height: 30)])

    let inner = client.popup(
      on: popup.shellSurface, size: (20, 20), anchor: Rectangle(x: 0, y: 0, width: 10, height: 10), edge: 5, gravity: 5, color: blue)
    #expect(client.take(inner.toplevel, 0).map(\.ints) == [[-20, -20, 20, 20]])
    let next = try #require(compositor.takeLayers()?.layers)
    #expect(next.map { $0.color(0, 0) } == [red, green, blue])
    #expect(next[2].target == Rectangle(x: 90, y: 30, width: 20, height: 20))

    // Repositioned by the client.
    let positioner = client.make(client.shell, 1)
    client.request(positioner, 1, .int(20), .int(20))
    client.request(positioner, 2, .int(30), .int(20), .int(1), .int(1))
    client.request(positioner, 4, .uint(8))
    client.request(inner.toplevel, 2, .uint(positioner), .uint(77))
    let events = client.take(inner.toplevel)
    #expect(events.map(\.opcode) == [2, 0] && events[0].words == [77] && events[1].ints == [30, 20, 20, 20])
    #expect(compositor.takeLayers()?.layers[2].target == Rectangle(x: 140, y: 70, width: 20, height: 20))

    // A popup takes along what belongs to it.
    client.request(popup.toplevel, 0)
    #expect(client.take(inner.toplevel, 1).count == 1)
    #expect(colors(compositor) == [red])
    client.request(inner.toplevel, 0)
    client.request(popup.shellSurface, 0)
    client.request(inner.shellSurface, 0)
    #expect(client.error == nil)
  }

  @Test func wrongRequestsAreTheInterfacesErrors() {
    let cases: [(String, UInt32, (TestClient, TestClient.Window) -> Void)] = [
      ("second role", 2, { _ = $0.make($1.shellSurface, 1) }),
      ("acknowledges what was not sent", 4, { $0.request($1.shellSurface, 4, .uint(12_345)) }),
      ("geometry of no size", 5, { $0.request($1.shellSurface, 3, .int(0), .int(0), .int(0), .int(5)) }),
      ("goes before its role", 6, { $0.request($1.shellSurface, 0) }),
    ]
    for (name, code, send) in cases {
      let client = TestClient(TestClient.compositor())
      let window = client.window(200, 100, red)
      send(client, window)
      #expect(client.error == [window.shellSurface, code], "\(name)")
    }
    let shells: [(String, UInt32, (TestClient, TestClient.Window) -> Void)] = [
      ("second shell surface", 0, { _ = $0.make($0.shell, 2, .uint($1.surface)) }),
      (
        "buffer before the role", 4,
        { client, _ in
          let surface = client.surface()
          client.attach(client.buffer(5, 5, 0), to: surface)
          _ = client.make(client.shell, 2, .uint(surface))
        }
      ),
      (
        "popup without parent", 3,
        { client, _ in
          let (positioner, surface) = (client.make(client.shell, 1), client.surface())
          let shellSurface = client.make(client.shell, 2, .uint(surface))
          _ = client.make(shellSurface, 2, .uint(0), .uint(positioner))
        }
      ),
      (
        "positioner without size", 5,
        { client, window in
          let (positioner, surface) = (client.make(client.shell, 1), client.surface())
          let shellSurface = client.make(client.shell, 2, .uint(surface))
          _ = client.make(shellSurface, 2, .uint(window.shellSurface), .uint(positioner))
        }
      ),
    ]
    for (name, code, send) in shells {
      let client = TestClient(TestClient.compositor())
      send(client, client.window(200, 100, red))
      #expect(client.error == [client.shell, code], "\(name)")
    }
  }
}
