import Testing

@testable import Stage

@Suite struct SubsurfaceTests {
  private let red: UInt32 = 0xFFFF_0000
  private let green: UInt32 = 0xFF00_FF00
  private let blue: UInt32 = 0xFF00_00FF

  private struct Setup {
    let compositor = TestClient.compositor()
    let client: TestClient
    let window: TestClient.Window
    let subcompositor: UInt32

    init() {
      client = TestClient(compositor)
      window = client.window(200, 100, 0xFFFF_0000)
      subcompositor = client.bind("wl_subcompositor")
      _ = compositor.takeLayers()
    }

    func child(of parent: UInt32, size: Int = 10, color: UInt32) -> (surface: UInt32, subsurface: UInt32) {
      let surface = client.surface()
      let subsurface = client.make(subcompositor, 1, .uint(surface), .uint(parent))
      client.attach(client.buffer(size, size, color), to: surface)
      client.commit(surface)
      return (surface, subsurface)
    }

    /// The layers' first pixels and places.
    var seen: [(UInt32, Int, Int)]? {
      compositor.takeLayers()?.layers.map { ($0.color(0, 0), $0.target.x, $0.target.y) }
    }
  }

  private func matches(_ seen: [(UInt32, Int, Int)]?, _ wanted: [(UInt32, Int, Int)]) -> Bool {
    guard let seen, seen.count == wanted.count else { return false }
    return zip(seen, wanted).allSatisfy { $0 == $1 }
  }

  @Test func synchronizedSubsurfaceWaitsForItsParent() {
    let setup = Setup()
    let child = setup.child(of: setup.window.surface, color: green)
    setup.client.request(child.subsurface, 1, .int(30), .int(40))
    #expect(setup.seen == nil)
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (green, 30, 40)]))

    let buffer = setup.client.buffer(10, 10, blue)
    setup.client.attach(buffer, to: child.surface)
    setup.client.commit(child.surface)
    setup.client.request(child.subsurface, 1, .int(50), .int(60))
    #expect(setup.seen == nil && setup.client.take(buffer).isEmpty)
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (blue, 50, 60)]))
    #expect(setup.client.take(buffer).count == 1)
  }

  @Test func desynchronizedSubsurfaceDoesNotWaitButItsPositionDoes() {
    let setup = Setup()
    let child = setup.child(of: setup.window.surface, color: green)
    setup.client.commit(setup.window.surface)
    _ = setup.seen
    setup.client.attach(setup.client.buffer(10, 10, blue), to: child.surface)
    setup.client.commit(child.surface)
    #expect(setup.seen == nil)
    // What waited is applied as soon as nothing makes it wait.
    setup.client.request(child.subsurface, 5)
    #expect(matches(setup.seen, [(red, 0, 0), (blue, 0, 0)]))
    setup.client.request(child.subsurface, 1, .int(5), .int(6))
    setup.client.attach(setup.client.buffer(10, 10, green), to: child.surface)
    setup.client.commit(child.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (green, 0, 0)]))
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (green, 5, 6)]))
  }

  @Test func ancestorThatIsSynchronizedMakesAllBelowWait() {
    let setup = Setup()
    let outer = setup.child(of: setup.window.surface, color: green)
    let inner = setup.child(of: outer.surface, size: 4, color: blue)
    setup.client.request(inner.subsurface, 5)
    setup.client.commit(outer.surface)
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (green, 0, 0), (blue, 0, 0)]))
    setup.client.attach(setup.client.buffer(4, 4, red), to: inner.surface)
    setup.client.commit(inner.surface)
    #expect(setup.seen == nil)
    // The whole tree below follows, as in the reference compositor, though the surface between has nothing new.
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (green, 0, 0), (red, 0, 0)]))
  }

  @Test func orderChangesWithTheParent() {
    let setup = Setup()
    let first = setup.child(of: setup.window.surface, color: green)
    let second = setup.child(of: setup.window.surface, color: blue)
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (green, 0, 0), (blue, 0, 0)]))
    setup.client.request(second.subsurface, 3, .uint(setup.window.surface))
    #expect(setup.seen == nil)
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(blue, 0, 0), (red, 0, 0), (green, 0, 0)]))
    setup.client.request(second.subsurface, 2, .uint(first.surface))
    setup.client.commit(setup.window.surface)
    #expect(matches(setup.seen, [(red, 0, 0), (green, 0, 0), (blue, 0, 0)]))
    setup.client.request(second.subsurface, 2, .uint(second.surface))
    #expect(setup.client.error == [second.subsurface, 0])
  }

  @Test func goneParentsHideTheirChildren() {
    let setup = Setup()
    let outer = setup.child(of: setup.window.surface, color: green)
    let inner = setup.child(of: outer.surface, size: 4, color: blue)
    setup.client.commit(outer.surface)
    setup.client.commit(setup.window.surface)
    #expect(setup.seen?.count == 3)
    setup.client.request(outer.surface, 0)
    #expect(matches(setup.seen, [(red, 0, 0)]))
    setup.client.request(inner.subsurface, 0)
    setup.client.request(outer.subsurface, 0)
    setup.client.request(inner.surface, 0)
    #expect(setup.client.error == nil)
  }

  @Test func circlesAreRefused() {
    let setup = Setup()
    let client = setup.client
    let (a, b) = (client.surface(), client.surface())
    _ = client.make(setup.subcompositor, 1, .uint(a), .uint(b))
    _ = client.make(setup.subcompositor, 1, .uint(b), .uint(a))
    #expect(client.error == [setup.subcompositor, 0])
  }

  @Test func depthIsLimited() {
    let setup = Setup()
    var parent = setup.window.surface
    for _ in 0..<100 where setup.client.client.endReason == nil {
      let child = setup.client.surface()
      _ = setup.client.make(setup.subcompositor, 1, .uint(child), .uint(parent))
      parent = child
    }
    #expect(setup.client.error?[1] == 0)
  }
}
