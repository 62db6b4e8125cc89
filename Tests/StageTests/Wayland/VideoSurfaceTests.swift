import Testing

@testable import Stage

@Suite struct VideoSurfaceTests {
  private struct Setup {
    let compositor = TestClient.compositor()
    let client: TestClient
    let window: TestClient.Window
    let manager: UInt32
    let videos: UInt32

    init() {
      client = TestClient(compositor)
      window = client.window(200, 100, 0x8000_0000)
      manager = client.bind("parlor_video_manager_v1")
      videos = client.make(manager, 1, .uint(window.surface))
      _ = compositor.takeLayers()
    }

    func place(
      _ video: UInt32, width: Double = 64, map: [Float] = [1, 0, 0, 1, 5, 6], fit: UInt32 = 1, position: Float = 0.5, radius: Double = 0,
      opacity: Float = 1
    ) {
      client.request(
        videos, 2, .uint(video), .fixed(width), .fixed(48.5), .uint(map[0].bitPattern), .uint(map[1].bitPattern), .uint(map[2].bitPattern),
        .uint(map[3].bitPattern), .uint(map[4].bitPattern), .uint(map[5].bitPattern), .uint(fit), .uint(position.bitPattern),
        .uint(Float(0.25).bitPattern), .fixed(radius), .fixed(1), .fixed(2), .fixed(3), .uint(opacity.bitPattern), .uint(0x8040_2010))
    }

    /// Clips the video placed last.
    func clip(width: Double, height: Double) {
      client.request(videos, 4, .fixed(7), .fixed(8), .fixed(width), .fixed(height))
    }

    var seen: [VideoPlacement]? { compositor.takeLayers()?.layers.first?.videos }
  }

  @Test func placesArriveAsTheyWereSent() throws {
    let setup = Setup()
    setup.place(0xDEAD_BEEF, map: [0.5, -1, 1, 0.25, 10.125, -20], fit: 4, position: -0.5, radius: 4.5, opacity: 0.75)
    setup.clip(width: 20.5, height: 0)
    setup.client.request(setup.videos, 3, .uint(0xFF10_2030))
    setup.client.commit(setup.window.surface)
    let layer = try #require(setup.compositor.takeLayers()?.layers.first)
    #expect(layer.canvas == Color(red: 0x10, green: 0x20, blue: 0x30))
    #expect(
      layer.videos == [
        VideoPlacement(
          video: VideoIdentifier(rawValue: 0xDEAD_BEEF), width: 64, height: 48.5,
          map: AffineMap(a: 0.5, b: -1, c: 1, d: 0.25, e: 10.125, f: -20), fit: .scaleDown, positionX: -0.5, positionY: 0.25,
          cornerRadii: VideoPlacement.CornerRadii(topLeft: 4.5, topRight: 1, bottomRight: 2, bottomLeft: 3), opacity: 0.75,
          clip: VideoPlacement.ClipRectangle(x: 7, y: 8, width: 20.5, height: 0), background: 0x8040_2010)
      ])
  }

  @Test func placesAndPixelsTakeEffectInOneCommit() throws {
    let setup = Setup()
    for step in 1...20 {
      setup.client.request(setup.videos, 1)
      setup.place(1, map: [1, 0, 0, 1, Float(step), 0])
      #expect(setup.seen == nil)
      setup.client.attach(setup.client.buffer(200, 100, UInt32(step)), to: setup.window.surface)
      #expect(setup.seen == nil)
      setup.client.commit(setup.window.surface)
      let layer = try #require(setup.compositor.takeLayers()?.layers.first)
      #expect(layer.videos.map(\.map.e) == [Double(step)] && layer.color(0, 0) == UInt32(step))
    }
  }

  @Test func pendingListBeginsAsTheCommittedOne() throws {
    let setup = Setup()
    setup.place(1)
    setup.place(2)
    setup.client.commit(setup.window.surface)
    #expect(setup.seen?.map(\.video.rawValue) == [1, 2])
    setup.place(3)
    setup.client.commit(setup.window.surface)
    #expect(setup.seen?.map(\.video.rawValue) == [1, 2, 3])
    // The same again changes nothing.
    setup.client.request(setup.videos, 1)
    for video in 1...3 as ClosedRange<UInt32> { setup.place(video) }
    setup.client.commit(setup.window.surface)
    #expect(setup.seen == nil)
    setup.client.request(setup.videos, 3, .uint(0xFFFF_FFFF))
    setup.client.request(setup.videos, 1)
    setup.client.commit(setup.window.surface)
    let layer = try #require(setup.compositor.takeLayers()?.layers.first)
    #expect(layer.videos.isEmpty && layer.canvas == .white)
  }

  @Test func synchronizedSubsurfacesPlacesWaitForTheParent() throws {
    let setup = Setup()
    let subcompositor = setup.client.bind("wl_subcompositor")
    let child = setup.client.surface()
    _ = setup.client.make(subcompositor, 1, .uint(child), .uint(setup.window.surface))
    let videos = setup.client.make(setup.manager, 1, .uint(child))
    setup.client.attach(setup.client.buffer(20, 20, 1), to: child)
    setup.client.request(videos, 3, .uint(0xFF00_0001))
    setup.client.commit(child)
    #expect(setup.compositor.takeLayers() == nil)
    setup.client.commit(setup.window.surface)
    let layers = try #require(setup.compositor.takeLayers()?.layers)
    #expect(layers.map(\.canvas) == [nil, Color(red: 0, green: 0, blue: 1)])
  }

  @Test func destroyedObjectTakesItsVideosAlongWithTheCommit() throws {
    let setup = Setup()
    setup.place(1)
    setup.client.request(setup.videos, 3, .uint(0xFFFF_FFFF))
    setup.client.commit(setup.window.surface)
    #expect(setup.seen?.count == 1)
    setup.client.request(setup.videos, 0)
    #expect(setup.seen == nil)
    setup.client.commit(setup.window.surface)
    let layer = try #require(setup.compositor.takeLayers()?.layers.first)
    #expect(layer.videos.isEmpty && layer.canvas == nil)
    // Another one may follow.
    _ = setup.client.make(setup.manager, 1, .uint(setup.window.surface))
    #expect(setup.client.error == nil)
  }

  @Test func surfaceWithVideosIsNotTakenForOpaque() throws {
    let setup = Setup()
    let region = setup.client.make(setup.client.wlCompositor, 1)
    setup.client.request(region, 1, .int(0), .int(0), .int(200), .int(100))
    setup.client.request(setup.window.surface, 4, .uint(region))
    setup.place(1)
    setup.client.commit(setup.window.surface)
    #expect(try #require(setup.compositor.takeLayers()?.layers.first?.bitmap).isOpaque == false)
  }

  @Test func wrongValuesAreErrors() {
    let cases: [(String, UInt32, (Setup) -> Void)] = [
      ("map with NaN", 1, { $0.place(1, map: [.nan, 0, 0, 1, 0, 0]) }),
      ("map with infinity", 1, { $0.place(1, map: [1, 0, 0, 1, 0, .infinity]) }),
      ("position", 1, { $0.place(1, position: .nan) }),
      ("fit", 2, { $0.place(1, fit: 5) }),
      ("width", 1, { $0.place(1, width: -1) }),
      ("radius", 1, { $0.place(1, radius: -0.5) }),
      ("opacity below 0", 1, { $0.place(1, opacity: -0.1) }),
      ("opacity above 1", 1, { $0.place(1, opacity: 1.5) }),
      (
        "clip", 1,
        { setup in
          setup.place(1)
          setup.clip(width: 5, height: -3)
        }
      ),
      ("clip without a place", 1, { $0.clip(width: 5, height: 3) }),
      ("canvas", 1, { $0.client.request($0.videos, 3, .uint(0x80FF_FFFF)) }),
      ("too many", 3, { setup in for video in 0...UInt32(Wayland.Limits.videos) { setup.place(video) } }),
      (
        "surface gone", 0,
        { setup in
          setup.client.request(setup.window.toplevel, 0)
          setup.client.request(setup.window.shellSurface, 0)
          setup.client.request(setup.window.surface, 0)
          setup.client.request(setup.videos, 1)
        }
      ),
    ]
    for (name, code, send) in cases {
      let setup = Setup()
      send(setup)
      #expect(setup.client.error == [setup.videos, code], "\(name)")
    }
    let setup = Setup()
    _ = setup.client.make(setup.manager, 1, .uint(setup.window.surface))
    #expect(setup.client.error == [setup.manager, 0])
  }
}
