import Base
import Testing

@testable import Stage

@Suite struct SurfaceTests {
  private let red: UInt32 = 0xFFFF_0000
  private let green: UInt32 = 0xFF00_FF00
  private let blue: UInt32 = 0xFF00_00FF

  @Test func nothingTakesEffectBeforeTheCommit() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, red)
    let first = try #require(compositor.takeLayers())
    #expect(first.layers.map(\.target) == [Rectangle(x: 0, y: 0, width: 200, height: 100)])
    #expect(first.layers[0].color(5, 5) == red && first.isRearranged)

    client.attach(client.buffer(200, 100, green), to: window.surface)
    let region = client.make(client.wlCompositor, 1)
    client.request(region, 1, .int(0), .int(0), .int(10), .int(10))
    client.request(window.surface, 5, .uint(region))
    #expect(compositor.takeLayers() == nil)
    #expect(first.layers[0].color(5, 5) == red)
    #expect(compositor.surface(atX: 100, y: 50) != nil)

    client.commit(window.surface)
    let second = try #require(compositor.takeLayers())
    #expect(second.layers[0].color(5, 5) == green && !second.isRearranged)
    #expect(compositor.surface(atX: 100, y: 50) == nil && compositor.surface(atX: 9, y: 9) != nil)
  }

  @Test func onlyDamageIsCopied() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, red)
    _ = compositor.takeLayers()
    client.attach(client.buffer(200, 100, green), to: window.surface, damage: Rectangle(x: 10, y: 20, width: 30, height: 5))
    client.request(window.surface, 9, .int(100), .int(90), .int(1_000), .int(1_000))
    client.commit(window.surface)
    let layer = try #require(compositor.takeLayers()?.layers.first)
    #expect(layer.damage == [Rectangle(x: 100, y: 90, width: 100, height: 10), Rectangle(x: 10, y: 20, width: 30, height: 5)])
    #expect(layer.color(10, 20) == green && layer.color(39, 24) == green && layer.color(100, 90) == green && layer.color(199, 99) == green)
    #expect(layer.color(9, 20) == red && layer.color(40, 24) == red && layer.color(10, 25) == red && layer.color(99, 95) == red)
    // The same once more without damage: nothing to show.
    client.attach(client.buffer(200, 100, blue), to: window.surface, damage: nil)
    client.commit(window.surface)
    #expect(compositor.takeLayers() == nil)
  }

  @Test func buffersAreReleasedAtOnce() {
    let client = TestClient(TestClient.compositor())
    let window = client.window()
    let buffer = client.buffer(200, 100, red)
    client.attach(buffer, to: window.surface)
    #expect(client.take(buffer).isEmpty)
    client.commit(window.surface)
    #expect(client.take(buffer).map(\.opcode) == [0])
    // What the client does to it then changes nothing.
    client.request(buffer, 0)
    client.commit(window.surface)
    #expect(client.error == nil)
  }

  @Test func frameCallbacksFireOnceWithTheRefreshThatShowsThem() {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, red)
    let early = client.make(window.surface, 3)
    #expect(!compositor.isRefreshWanted || compositor.takeLayers() != nil)
    compositor.presented(at: TestClient.start, refresh: .milliseconds(16), sequence: 1)
    #expect(client.take(early).isEmpty)
    client.commit(window.surface)
    #expect(compositor.isRefreshWanted)
    #expect(compositor.takeLayers() == nil)
    let late = client.make(window.surface, 3)
    client.commit(window.surface)
    compositor.presented(at: TestClient.start + .milliseconds(40), refresh: .milliseconds(16), sequence: 2)
    #expect(client.take(early).map(\.words) == [[1_040]])
    #expect(client.take(late).isEmpty)
    _ = compositor.takeLayers()
    compositor.presented(at: TestClient.start + .milliseconds(56), refresh: .milliseconds(16), sequence: 3)
    #expect(client.take(late).map(\.words) == [[1_056]])
    #expect(!compositor.isRefreshWanted)
  }

  @Test func presentationIsReportedOrDiscarded() {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let presentation = client.bind("wp_presentation")
    #expect(client.take(presentation).map(\.words) == [[1]])
    let window = client.window(200, 100, red)
    func feedback(_ color: UInt32) -> UInt32 {
      let id = client.newID()
      client.request(presentation, 1, .uint(window.surface), .newID(id))
      client.attach(client.buffer(200, 100, color), to: window.surface)
      client.commit(window.surface)
      return id
    }
    let (replaced, shown) = (feedback(green), feedback(blue))
    _ = compositor.takeLayers()
    let later = feedback(red)
    compositor.presented(at: TestClient.start + .nanoseconds(5), refresh: .milliseconds(16), sequence: 9)
    #expect(client.take(replaced).map(\.opcode) == [2])
    #expect(client.take(shown).map(\.words) == [[0, 1, 5, 16_000_000, 0, 9, 0]])
    #expect(client.take(later).isEmpty)
    client.request(window.toplevel, 0)
    client.request(window.shellSurface, 0)
    client.request(window.surface, 0)
    #expect(client.take(later).map(\.opcode) == [2])
  }

  @Test func scaledBufferIsSmallerOnTheScreen() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window()
    client.request(window.surface, 8, .int(2))
    client.attach(client.buffer(100, 50, red), to: window.surface)
    client.commit(window.surface)
    let layer = try #require(compositor.takeLayers()?.layers.first)
    // Centred, since it is smaller than the screen.
    #expect(layer.target == Rectangle(x: 75, y: 37, width: 50, height: 25) && layer.source == nil && layer.bitmap?.width == 100)
    client.attach(client.buffer(100, 50, green), to: window.surface, damage: Rectangle(x: 10, y: 5, width: 4, height: 3))
    client.commit(window.surface)
    let second = try #require(compositor.takeLayers()?.layers.first)
    #expect(second.damage == [Rectangle(x: 85, y: 42, width: 4, height: 3)])
    #expect(second.color(20, 10) == green && second.color(27, 15) == green && second.color(28, 15) == red)
    client.attach(client.buffer(101, 50, red), to: window.surface)
    client.commit(window.surface)
    #expect(client.error == [window.surface, 2])
  }

  @Test(arguments: 0..<8 as Range<UInt32>) func turnedBufferIsShownUpright(transform: UInt32) throws {
    // An upright picture of 3 by 2 pixels: 0 1 2 / 3 4 5. Turned counter-clockwise, as wl_output.transform says.
    let pictures: [UInt32: (Int, Int, [UInt32])] = [
      0: (3, 2, [0, 1, 2, 3, 4, 5]), 1: (2, 3, [2, 5, 1, 4, 0, 3]), 2: (3, 2, [5, 4, 3, 2, 1, 0]), 3: (2, 3, [3, 0, 4, 1, 5, 2]),
      4: (3, 2, [2, 1, 0, 5, 4, 3]), 5: (2, 3, [0, 3, 1, 4, 2, 5]), 6: (3, 2, [3, 4, 5, 0, 1, 2]), 7: (2, 3, [5, 2, 4, 1, 3, 0]),
    ]
    let (width, height, pixels) = try #require(pictures[transform])
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window()
    client.request(window.surface, 7, .int(Int(transform)))
    client.attach(client.buffer(width, height, TestMemory(pixels.map { 0xFF00_0000 + $0 })), to: window.surface)
    client.commit(window.surface)
    let layer = try #require(compositor.takeLayers()?.layers.first)
    #expect(layer.target.width == 3 && layer.target.height == 2)
    #expect((0..<6).map { layer.color($0 % 3, $0 / 3) - 0xFF00_0000 } == [0, 1, 2, 3, 4, 5])
  }

  @Test func viewportCropsAndScales() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let viewporter = client.bind("wp_viewporter")
    let window = client.window(200, 100, red)
    _ = compositor.takeLayers()
    let viewport = client.make(viewporter, 1, .uint(window.surface))
    client.request(viewport, 1, .fixed(20), .fixed(10), .fixed(40), .fixed(20))
    client.request(viewport, 2, .int(160), .int(80))
    #expect(compositor.takeLayers() == nil)
    client.commit(window.surface)
    let layer = try #require(compositor.takeLayers()?.layers.first)
    #expect(layer.source == Rectangle(x: 20, y: 10, width: 40, height: 20))
    #expect(layer.target == Rectangle(x: 20, y: 10, width: 160, height: 80))

    // Damage in surface pixels is a quarter of that in the buffer.
    client.attach(client.buffer(200, 100, green), to: window.surface, damage: Rectangle(x: 8, y: 4, width: 8, height: 8))
    client.commit(window.surface)
    let second = try #require(compositor.takeLayers()?.layers.first)
    #expect(second.damage == [Rectangle(x: 28, y: 14, width: 8, height: 8)])
    #expect(second.color(22, 11) == green && second.color(23, 12) == green && second.color(24, 12) == red && second.color(21, 11) == red)

    client.request(viewport, 0)
    client.commit(window.surface)
    #expect(try #require(compositor.takeLayers()?.layers.first).target.width == 200)
    let again = client.make(viewporter, 1, .uint(window.surface))
    client.request(again, 1, .fixed(150), .fixed(0), .fixed(60), .fixed(20))
    client.commit(window.surface)
    #expect(client.error == [again, 2])
  }

  @Test func wrongRequestsAreTheInterfacesErrors() {
    let cases: [(String, UInt32, (TestClient, UInt32) -> Void)] = [
      ("scale", 0, { $0.request($1, 8, .int(0)) }),
      ("transform", 1, { $0.request($1, 7, .int(8)) }),
      ("offset", 3, { $0.request($1, 1, .uint(0), .int(1), .int(0)) }),
    ]
    for (name, code, send) in cases {
      let client = TestClient(TestClient.compositor())
      let surface = client.surface()
      send(client, surface)
      #expect(client.error == [surface, code], "\(name)")
    }
  }

  @Test func opaqueSurfacesAreKnown() throws {
    let compositor = TestClient.compositor()
    let client = TestClient(compositor)
    let window = client.window(200, 100, red)
    #expect(try #require(compositor.takeLayers()?.layers.first?.bitmap).isOpaque == false)
    let region = client.make(client.wlCompositor, 1)
    client.request(region, 1, .int(0), .int(0), .int(10_000), .int(10_000))
    client.request(window.surface, 4, .uint(region))
    client.attach(client.buffer(200, 100, red), to: window.surface)
    client.commit(window.surface)
    #expect(try #require(compositor.takeLayers()?.layers.first?.bitmap).isOpaque == true)
    client.request(window.surface, 4, .uint(0))
    client.attach(client.buffer(200, 100, 0x0000_FF00, format: 1), to: window.surface)
    client.commit(window.surface)
    let layer = try #require(compositor.takeLayers()?.layers.first)
    #expect(layer.bitmap?.isOpaque == true && layer.color(3, 3) == green)
  }
}
