import Base
import Frames
import Testing

@testable import Stage

@Suite struct PlanePlanTests {
  private typealias Video = SceneSketch.Video
  private typealias Patch = SketchedScene.Patch

  private static func rectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Rectangle {
    Rectangle(x: x, y: y, width: width, height: height)
  }

  /// A video whose whole frame of 16 by 9 is seen at `area`.
  private static func video(_ number: UInt32, _ area: Rectangle, isPlain: Bool = true) -> Video {
    Video(
      identifier: VideoIdentifier(rawValue: number), visible: area, picture: area, sourceWidth: 16, sourceHeight: 9,
      crop: rectangle(0, 0, 16, 9), isPlain: isPlain)
  }

  private static let screen = rectangle(0, 0, 64, 36)
  private static let frame = SketchedScene.Patch(area: rectangle(0, 0, 64, 4), pixel: .init(value: 50, alpha: 1))
  private static let controls = SketchedScene.Patch(area: rectangle(20, 26, 24, 6), pixel: .init(value: 40, alpha: 0.5))
  private static let notice = SketchedScene.Patch(area: rectangle(16, 12, 32, 12), pixel: .init(value: 90, alpha: 0.9))
  private static let white = SketchedScene.Pixel(value: 255, alpha: 1)

  private static let scenes: [String: SketchedScene] = [
    "page": SketchedScene(ground: white, page: [frame]),
    "video alone": SketchedScene(videos: [video(1, screen)]),
    "video under controls": SketchedScene(videos: [video(1, screen)], page: [controls]),
    "video in a page": SketchedScene(ground: white, videos: [video(1, rectangle(8, 8, 48, 27))], page: [frame]),
    "video in a page, under controls": SketchedScene(
      ground: white, videos: [video(1, rectangle(8, 8, 48, 27))], page: [frame, controls]),
    "video in a black page, under controls": SketchedScene(videos: [video(1, rectangle(8, 8, 48, 27))], page: [frame, controls]),
    "direct call": SketchedScene(videos: [video(1, screen), video(2, rectangle(46, 25, 16, 9), isPlain: false)]),
    "direct call, plain self-view": SketchedScene(videos: [video(1, screen), video(2, rectangle(46, 25, 16, 9))]),
    "direct call, notice": SketchedScene(
      videos: [video(1, screen), video(2, rectangle(46, 25, 16, 9), isPlain: false)], overlays: [notice]),
    "narrow direct call": SketchedScene(videos: [video(1, rectangle(8, 0, 48, 36)), video(2, rectangle(46, 25, 16, 9), isPlain: false)]),
    "three videos": SketchedScene(
      ground: white,
      videos: [video(1, rectangle(0, 18, 16, 9)), video(2, rectangle(16, 9, 48, 27)), video(3, rectangle(0, 27, 16, 9))], page: [frame]),
    "three videos, one under controls": SketchedScene(
      ground: white,
      videos: [video(1, rectangle(0, 18, 16, 9)), video(2, rectangle(16, 9, 48, 27)), video(3, rectangle(0, 27, 16, 9))],
      page: [frame, controls]),
    "video at its size": SketchedScene(ground: white, videos: [video(1, rectangle(8, 8, 16, 9))], page: [frame]),
    "rounded video": SketchedScene(ground: white, videos: [video(1, rectangle(8, 8, 48, 27), isPlain: false)], page: [frame]),
    "panel": SketchedScene(videos: [video(1, screen)], overlays: [notice], isDimmed: true),
  ]

  /// What a layout does, in short: plane=content(format), from bottom to top.
  private static func text(_ layout: PlaneLayout) -> String {
    func numbers(_ videos: Set<VideoIdentifier>) -> String {
      videos.isEmpty ? "" : "+" + videos.map { "\($0.rawValue)" }.sorted().joined()
    }
    return layout.planes.map { plane in
      let content =
        switch plane.content {
        case .composed(let without): without.isEmpty ? "all" : "all-" + numbers(without).dropFirst()
        case .under(let with, _): "under" + numbers(with)
        case .page(let with, _): "page" + numbers(with)
        case .video(let video): "video\(video.rawValue):\(plane.format)"
        case .black: "black"
        }
      return "\(plane.plane)\(plane.stacking.map { "@\($0)" } ?? "")=\(content)"
    }.joined(separator: " ")
  }

  private static func mounting(_ scene: SketchedScene, _ rotation: VideoFrame.Rotation) -> Mounting {
    let isSideways = rotation == .quarter || rotation == .threeQuarters
    return Mounting(
      width: isSideways ? scene.height : scene.width, height: isSideways ? scene.width : scene.height, rotation: rotation)
  }

  /// What the driver takes first of what is tried. Everything that might be tried keeps to what the planes offer and gives the same picture.
  private static func taken(
    _ driver: MockPlanes, _ scene: SketchedScene, rotation: VideoFrame.Rotation = .none, isMirrored: Bool = false
  ) throws -> PlaneLayout {
    let mounting = mounting(scene, rotation)
    let plan = PlanePlan(planes: driver.planes, mounting: mounting, isMirrored: isMirrored)
    let layouts = plan.layouts(for: scene.sketch)
    let picture = scene.picture()
    for layout in layouts {
      if let contradiction = driver.contradiction(layout, mode: (mounting.width, mounting.height)) {
        Issue.record("\(driver.name): \(text(layout)): \(contradiction)")
      }
      if let (x, y) = scene.difference(layout, on: mounting, from: picture) {
        Issue.record("\(driver.name): \(text(layout)) differs at \(x), \(y)")
      }
    }
    // Whatever else a driver refuses, there is a layout that needs nothing.
    #expect(layouts.last.map(text)?.hasSuffix("=all") == true && layouts.last?.planes.first?.rotation == .upright)
    #expect(layouts.count <= 16 && Set(layouts).count == layouts.count)
    return try #require(layouts.first { driver.accepts($0, mode: (mounting.width, mounting.height)) })
  }

  private static let table: [(String, [String: String])] = [
    (
      "i915",
      [
        "direct call": "31=video1:NV12 32=page+2",
        "direct call, notice": "31=video1:NV12 32=page+2",
        "direct call, plain self-view": "31=video1:NV12 32=video2:NV12",
        "narrow direct call": "31=black 32=video1:NV12 33=page+2",
        "three videos": "31=all-12 32=video1:NV12 33=video2:NV12",
        "three videos, one under controls": "31=under+13 32=video2:NV12 33=page",
        "video alone": "31=video1:NV12",
        "video at its size": "31=all-1 32=video1:NV12",
        "video in a black page, under controls": "31=black 32=video1:NV12 33=page",
        "video in a page": "31=all-1 32=video1:NV12",
        "video in a page, under controls": "31=under 32=video1:NV12 33=page",
        "video under controls": "31=video1:NV12 32=page",
      ]
    ),
    (
      "amdgpu",
      [
        "direct call": "31=video1:NV12 32@3=page+2",
        "direct call, notice": "31=video1:NV12 32@3=page+2",
        "direct call, plain self-view": "31=video1:XR24 32@3=video2:NV12",
        "narrow direct call": "32@0=video1:NV12 31=page+2",
        "three videos": "31=all-2 32@3=video2:NV12",
        "three videos, one under controls": "31=all-1 32@3=video1:NV12",
        "video alone": "31=video1:NV12",
        "video at its size": "31=all-1 32@3=video1:NV12",
        "video in a black page, under controls": "32@0=video1:NV12 31=page",
        "video in a page": "31=all-1 32@3=video1:NV12",
        "video in a page, under controls": "31=under+1 32@3=page",
        "video under controls": "31=video1:NV12 32@3=page",
      ]
    ),
    (
      "vc4",
      [
        "direct call": "31=video1:YU12 32=page+2",
        "direct call, notice": "31=video1:YU12 32=page+2",
        "direct call, plain self-view": "31=video1:YU12 32=video2:YU12",
        "narrow direct call": "31=black 32=video1:YU12 33=page+2",
        "three videos": "31=all-123 32=video1:YU12 33=video2:YU12 34=video3:YU12",
        "three videos, one under controls": "31=under 32=video1:YU12 33=video2:YU12 34=video3:YU12 35=page",
        "video alone": "31=video1:YU12",
        "video at its size": "31=all-1 32=video1:YU12",
        "video in a black page, under controls": "31=black 32=video1:YU12 33=page",
        "video in a page": "31=all-1 32=video1:YU12",
        "video in a page, under controls": "31=under 32=video1:YU12 33=page",
        "video under controls": "31=video1:YU12 32=page",
      ]
    ),
    (
      "rockchip",
      [
        "direct call": "32@0=video1:NV12 31@1=page+2",
        "direct call, notice": "32@0=video1:NV12 31@1=page+2",
        "direct call, plain self-view": "32@0=video1:NV12 31@1=page+2",
        "narrow direct call": "32@0=video1:NV12 31@1=page+2",
        "three videos": "31@0=all-2 32@1=video2:NV12",
        "three videos, one under controls": "31@0=under+13 32@1=video2:NV12 33@2=page",
        "video alone": "31@0=all-1 32@1=video1:NV12",
        "video at its size": "31@0=all-1 32@1=video1:NV12",
        "video in a black page, under controls": "32@0=video1:NV12 31@1=page",
        "video in a page": "31@0=all-1 32@1=video1:NV12",
        "video in a page, under controls": "31@0=under 32@1=video1:NV12 33@2=page",
        "video under controls": "32@0=video1:NV12 31@1=page",
      ]
    ),
    (
      "vkms",
      [
        "direct call, notice": "31=under+12 32=page",
        "three videos, one under controls": "31=under+123 32=page",
        "video in a black page, under controls": "31=under+1 32=page",
        "video in a page, under controls": "31=under+1 32=page",
        "video under controls": "31=under+1 32=page",
      ]
    ),
    ("virtio", [:]), ("bochs", [:]),
  ]

  /// For each driver what it takes for each scene; where nothing is said, the composed picture.
  @Test(arguments: table)
  func driversTakeTheBestTheyCan(_ name: String, _ expected: [String: String]) throws {
    let driver = try #require(MockPlanes.all.first { $0.name == name })
    #expect(expected.keys.allSatisfy { Self.scenes[$0] != nil })
    for (title, scene) in Self.scenes {
      let taken = Self.text(try Self.taken(driver, scene))
      #expect(taken == expected[title] ?? (name == "rockchip" ? "31@0=all" : "31=all"), "\(title)")
    }
  }

  // MARK: Turned monitors

  @Test(arguments: [VideoFrame.Rotation.quarter, .half, .threeQuarters])
  func everyLayoutGivesTheSamePictureOnATurnedMonitor(_ rotation: VideoFrame.Rotation) throws {
    for driver in MockPlanes.all {
      for title in ["page", "video in a page, under controls", "direct call", "three videos"] {
        let scene = try #require(Self.scenes[title])
        for turn in [VideoFrame.Rotation.none, rotation] {
          var scene = scene
          for index in scene.videos.indices { scene.videos[index].turn = turn }
          _ = try Self.taken(driver, scene, rotation: rotation)
        }
      }
    }
  }

  @Test func planesThatTurnSparingTheComposerAreTriedFirst() throws {
    let scene = try #require(Self.scenes["video in a page"])
    let half = try Self.taken(.i915, scene, rotation: .half)
    #expect(Self.text(half) == "31=all-1 32=video1:NV12")
    #expect(half.planes.allSatisfy { $0.rotation == .half && $0.composedTurn == .none })
    #expect(half.planes[1].destination == Self.rectangle(8, 1, 48, 27))
    // Refused where pixels lie row by row: the composer turns, and no plane shows the video.
    let quarter = try Self.taken(.i915, scene, rotation: .quarter)
    #expect(Self.text(quarter) == "31=all")
    #expect(quarter.planes[0].composedTurn == .quarter && quarter.planes[0].rotation == .upright)
    #expect((quarter.planes[0].bufferWidth, quarter.planes[0].bufferHeight) == (36, 64))
    var willing = MockPlanes.i915
    willing.limits.turnsQuarters = true
    let turned = try Self.taken(willing, scene, rotation: .quarter)
    #expect(Self.text(turned) == "31=all-1 32=video1:NV12")
    // Clockwise for the viewer is 270° for the kernel.
    #expect(turned.planes.map(\.rotation) == [PlaneRotation(rawValue: 8), PlaneRotation(rawValue: 8)])
  }

  @Test func aTurnedFrameOnATurnedMonitorMayComeOutUpright() throws {
    var scene = try #require(Self.scenes["video in a page"])
    scene.videos[0].turn = .threeQuarters
    // The monitor turns back what the frame is turned: the video's plane needs not turn, the page is turned by the composer.
    let layout = try Self.taken(.rockchip, scene, rotation: .quarter)
    #expect(Self.text(layout) == "31@0=all-1 32@1=video1:NV12")
    #expect(layout.planes.map(\.rotation) == [.upright, .upright] && layout.planes[0].composedTurn == .quarter)
  }

  // MARK: Frames of devices

  @Test func aDevicesBufferIsShownAsItIsOrNotAtAll() throws {
    func taken(_ driver: MockPlanes, _ format: PixelFormat, _ modifier: UInt64, size: (Int, Int) = (16, 9)) throws -> PlaneLayout {
      var scene = SketchedScene(ground: Self.white, videos: [Self.video(1, Self.rectangle(8, 8, 16, 9))], page: [Self.frame])
      scene.videos[0].source = .deviceBuffer(format, modifier: modifier)
      return try Self.taken(driver, scene)
    }
    #expect(Self.text(try taken(.vkms, .xrgb8888, FormatOffer.linear)) == "31=all-1 32=video1:XR24")
    #expect(Self.text(try taken(.vkms, .nv12, FormatOffer.linear)) == "31=all")
    #expect(Self.text(try taken(.i915, .nv12, FormatOffer.linear)) == "31=all-1 32=video1:NV12")
    let tiled = try taken(.i915, .nv12, MockPlanes.tiled)
    #expect(tiled.planes.map(\.modifier) == [FormatOffer.linear, MockPlanes.tiled])
    #expect(Self.text(try taken(.vc4, .nv12, MockPlanes.tiled)) == "31=all")
    #expect(Self.text(try taken(.i915, .yuv420, FormatOffer.linear)) == "31=all")
  }

  @Test func colorsThatAPlaneCannotMakeAreComposed() throws {
    var scene = try #require(Self.scenes["video in a page"])
    let layout = try Self.taken(.vc4, scene)
    #expect(layout.planes[1].colorEncoding == .bt601 && layout.planes[1].colorRange == .limited)
    #expect(layout.planes[0].colorEncoding == nil)
    scene.videos[0].colorEncoding = .bt2020
    let converted = try Self.taken(.vc4, scene)
    #expect(!converted.planes.contains { $0.format.isLumaChroma })
    scene.videos[0].colorEncoding = .bt709
    #expect(try Self.taken(.vc4, scene).planes[1].colorEncoding == .bt709)
  }

  // MARK: Other

  @Test func aPictureThatOtherMonitorsRepeatIsComposed() throws {
    for driver in MockPlanes.all {
      let layout = try Self.taken(driver, try #require(Self.scenes["video alone"]), isMirrored: true)
      #expect(layout.planes.map(\.content) == [.composed(without: [])])
    }
  }

  @Test func aCroppedAndClippedVideoShowsTheSamePart() throws {
    for turn in [VideoFrame.Rotation.none, .quarter, .half, .threeQuarters] {
      var video = Self.video(1, Self.rectangle(10, 5, 30, 20))
      (video.crop, video.turn) = (Self.rectangle(2, 2, 12, 6), turn)
      video.visible = Self.rectangle(15, 8, 20, 28)
      video.hasBackground = true
      let scene = SketchedScene(ground: Self.white, videos: [video], page: [Self.frame])
      let layout = try Self.taken(.vc4, scene)
      if turn == .none || turn == .half {
        #expect(layout.planes[1].destination == Self.rectangle(15, 8, 20, 17))
        #expect(abs(Double(layout.planes[1].source.x) / 65_536 - 4) < 0.001)
      } else {
        #expect(Self.text(layout) == "31=all")
      }
    }
  }

  @Test func aCardWithoutPlanesLeavesThePictureToItsCRTC() {
    let plan = PlanePlan(planes: [], mounting: Mounting(width: 64, height: 36))
    #expect(plan.layouts(for: SceneSketch()).isEmpty)
  }

  /// Random scenes on every driver: whatever is tried shows what composition shows.
  @Test func noLayoutChangesThePicture() throws {
    var random = RandomSource(seed: 4)
    func area() -> Rectangle {
      let (width, height) = (Int.random(in: 1...32, using: &random), Int.random(in: 1...18, using: &random))
      return Self.rectangle(
        Int.random(in: 0...32 - width, using: &random), Int.random(in: 0...18 - height, using: &random), width, height)
    }
    func patches(_ most: Int) -> [Patch] {
      (0..<Int.random(in: 0...most, using: &random)).map { _ in
        let alpha = Bool.random(using: &random) ? 1 : 0.5
        return Patch(area: area(), pixel: .init(value: alpha * Double.random(in: 0...255, using: &random), alpha: alpha))
      }
    }
    let turns: [VideoFrame.Rotation] = [.none, .none, .quarter, .half, .threeQuarters]
    var planes: [Int: Int] = [:]
    for _ in 0..<40 {
      var scene = SketchedScene(width: 32, height: 18, ground: Bool.random(using: &random) ? .black : Self.white)
      for number in 0..<UInt32.random(in: 0...4, using: &random) {
        let screen = Self.rectangle(0, 0, 32, 18)
        var video = Self.video(
          number + 1, Int.random(in: 0...3, using: &random) == 0 ? screen : area(), isPlain: Bool.random(using: &random))
        video.turn = turns.randomElement(using: &random) ?? .none
        video.hasBackground = Bool.random(using: &random)
        if Bool.random(using: &random) { video.visible = area() }
        if Int.random(in: 0...4, using: &random) == 0 { video.source = .deviceBuffer(.xrgb8888, modifier: FormatOffer.linear) }
        scene.videos.append(video)
      }
      (scene.page, scene.overlays) = (patches(2), patches(1))
      scene.isDimmed = Int.random(in: 0...9, using: &random) == 0
      let rotation = turns.randomElement(using: &random) ?? .none
      for driver in MockPlanes.all { planes[try Self.taken(driver, scene, rotation: rotation).planes.count, default: 0] += 1 }
    }
    #expect(planes.keys.max() ?? 0 >= 4, "the scenes are too simple to try planes: \(planes)")
  }
}
