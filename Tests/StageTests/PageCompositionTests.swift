import Base
import Frames
import Testing

@testable import Stage

@Suite struct PageCompositionTests {
  private static let first = VideoIdentifier(rawValue: 1)
  private static let second = VideoIdentifier(rawValue: 2)
  private static let bounds = Rectangle(x: 0, y: 0, width: 320, height: 180)

  private func time(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private func full(_ video: VideoIdentifier = first) -> VideoPlacement {
    VideoPlacement(video: video, width: 320, height: 180, fit: .cover)
  }

  private func boxed(_ video: VideoIdentifier, _ area: Rectangle, background: UInt32 = 0) -> VideoPlacement {
    VideoPlacement(
      video: video, width: Double(area.width), height: Double(area.height), map: .translation(x: Double(area.x), y: Double(area.y)),
      fit: .fill, background: background)
  }

  private func page(videos: [VideoPlacement] = [], canvas: Color? = nil, draw: (SurfaceBitmap) -> Void = { _ in }) -> SurfaceLayer {
    TestSurfaces.page(width: 320, height: 180, videos: videos, canvas: canvas, draw: draw)
  }

  private func stage(_ layers: [SurfaceLayer]) -> Stage {
    let stage = Stage(width: 320, height: 180)
    stage.update(layers: LayersUpdate(layers: layers, isRearranged: true))
    stage.present(now: time(0))
    return stage
  }

  // MARK: Stacking

  @Test func pageWithoutVideosIsItsPixels() {
    let layer = page { bitmap in
      TestSurfaces.fill(bitmap, Rectangle(x: 10, y: 10, width: 50, height: 50), TestSurfaces.pixel(TestFrames.Paint.red.color))
      TestSurfaces.fill(bitmap, Rectangle(x: 100, y: 10, width: 50, height: 50), TestSurfaces.pixel(.white, alpha: 128))
    }
    let picture = stage([layer]).picture()
    #expect(picture[5, 5] == .black && picture[10, 10] == TestFrames.Paint.red.color && picture[59, 59] == TestFrames.Paint.red.color)
    #expect(picture[60, 60] == .black && picture[120, 30].resembles(TestFrames.Paint.gray.color))
    #expect(picture.pixels.indices.allSatisfy { $0 % 4 != 3 || picture.pixels[$0] == 255 })
  }

  @Test func everythingLiesInItsOrder() {
    // Canvas, video, a second over a part of it, pixels over a part of both, a popup over a part of all.
    let main = page(
      videos: [
        boxed(Self.first, Rectangle(x: 40, y: 20, width: 200, height: 120)),
        boxed(Self.second, Rectangle(x: 80, y: 40, width: 100, height: 60)),
      ], canvas: Color(red: 0, green: 100, blue: 0)
    ) { bitmap in
      TestSurfaces.fill(bitmap, Rectangle(x: 120, y: 0, width: 100, height: 180), TestSurfaces.pixel(.white, alpha: 128))
    }
    let popup = SurfaceBitmap(width: 40, height: 40)
    TestSurfaces.fill(popup, Rectangle(x: 0, y: 0, width: 40, height: 20), TestSurfaces.pixel(TestFrames.Paint.gray.color))
    let above = SurfaceLayer(identifier: 2, bitmap: popup, target: Rectangle(x: 130, y: 50, width: 40, height: 40))
    let frames = [
      Self.first: TestFrames.solid(.red, width: 320, height: 180), Self.second: TestFrames.solid(.blue, width: 320, height: 180),
    ]
    let picture = Stage.picture(of: [main, above], frames: frames, width: 320, height: 180)
    #expect(picture[10, 10] == Color(red: 0, green: 100, blue: 0))
    #expect(picture[50, 30].resembles(TestFrames.Paint.red.color) && picture[90, 50].resembles(TestFrames.Paint.blue.color))
    #expect(picture[125, 10].resembles(Color(red: 128, green: 178, blue: 128)))
    #expect(picture[125, 30].resembles(Color(red: 255, green: 128, blue: 128)))
    #expect(picture[125, 45].resembles(Color(red: 128, green: 128, blue: 255)))
    #expect(picture[140, 60] == TestFrames.Paint.gray.color)
    #expect(picture[140, 80].resembles(Color(red: 128, green: 128, blue: 255)))
  }

  @Test func upperPageWithACanvasHidesTheLower() {
    let lower = page { TestSurfaces.fill($0, Self.bounds, TestSurfaces.pixel(TestFrames.Paint.red.color)) }
    var upper = page(canvas: .white)
    upper.identifier = 2
    #expect(stage([lower, upper]).picture()[100, 100] == .white)
    upper.canvas = nil
    #expect(stage([lower, upper]).picture()[100, 100] == TestFrames.Paint.red.color)
    // Fourth bytes of an opaque surface mean nothing.
    upper.bitmap?.isOpaque = true
    TestSurfaces.fill(upper.bitmap, Self.bounds, 0x0012_3456)
    let picture = stage([lower, upper]).picture()
    #expect(picture[100, 100] == Color(red: 0x12, green: 0x34, blue: 0x56))
    #expect(picture.pixels[3] == 255)
  }

  @Test func croppedAndScaledSurfaceFillsItsTarget() {
    let bitmap = SurfaceBitmap(width: 40, height: 20)
    TestSurfaces.fill(bitmap, Rectangle(x: 20, y: 0, width: 10, height: 20), TestSurfaces.pixel(TestFrames.Paint.red.color))
    TestSurfaces.fill(bitmap, Rectangle(x: 30, y: 0, width: 10, height: 20), TestSurfaces.pixel(TestFrames.Paint.blue.color))
    var layer = SurfaceLayer(
      identifier: 1, bitmap: bitmap, source: Rectangle(x: 20, y: 0, width: 20, height: 20),
      target: Rectangle(x: -100, y: 20, width: 200, height: 100))
    let picture = stage([layer]).picture()
    // The left half of the target is off the screen: its right half is blue.
    #expect(picture[5, 70] == TestFrames.Paint.blue.color && picture[99, 119] == TestFrames.Paint.blue.color)
    #expect(picture[100, 70] == .black && picture[50, 19] == .black && picture[50, 120] == .black)
    // One to one, only cut.
    layer.target = Rectangle(x: 300, y: 170, width: 20, height: 20)
    #expect(stage([layer]).picture()[300, 170] == TestFrames.Paint.red.color)
    #expect(stage([layer]).picture()[319, 179] == TestFrames.Paint.blue.color)
    layer.target = Rectangle(x: 0, y: 0, width: 1_000_000_000, height: 1_000_000_000)
    layer.source = Rectangle(x: 39, y: 19, width: 500, height: 500)
    stage([layer]).present(now: time(1))
    layer.source = Rectangle(x: 50, y: 50, width: 5, height: 5)
    #expect(stage([layer]).picture()[100, 100] == .black)
  }

  // MARK: Videos

  @Test func videoWithoutAFrameShowsItsBackgroundOrWhatLiesBelow() {
    let area = Rectangle(x: 50, y: 50, width: 60, height: 40)
    let background = TestSurfaces.pixel(Color(red: 250, green: 0, blue: 0), alpha: 128)
    #expect(stage([page(videos: [boxed(Self.first, area)], canvas: .white)]).picture()[60, 60] == .white)
    let picture = stage([page(videos: [boxed(Self.first, area, background: background)], canvas: .white)]).picture()
    #expect(picture[60, 60].resembles(Color(red: 253, green: 127, blue: 127)) && picture[49, 60] == .white)
  }

  @Test func removedVideoLeavesItsBackground() {
    let stage = stage([page(videos: [boxed(Self.first, Rectangle(x: 50, y: 50, width: 60, height: 40))], canvas: .white)])
    stage.show(TestFrames.solid(.red, width: 60, height: 40), in: Self.first)
    stage.present(now: time(1))
    #expect(stage.picture()[60, 60].resembles(TestFrames.Paint.red.color))
    stage.remove(Self.first)
    #expect(stage.present(now: time(2)) != nil)
    #expect(stage.picture()[60, 60] == .white)
    #expect(stage.present(now: time(3)) == nil)
    stage.show(TestFrames.solid(.blue, width: 60, height: 40), in: Self.first)
    stage.present(now: time(4))
    #expect(stage.picture()[60, 60].resembles(TestFrames.Paint.blue.color))
  }

  @Test func unplacedVideoCostsNothingAndKeepsItsNewestFrame() {
    let stage = stage([page(canvas: .white)])
    let count = stage.paintCount
    weak var older: VideoBuffer?
    do {
      let frame = TestFrames.solid(.red, width: 60, height: 40)
      older = frame.buffer
      stage.show(frame, in: Self.first)
    }
    stage.show(TestFrames.solid(.green, width: 60, height: 40), in: Self.first)
    #expect(older == nil)
    #expect(stage.present(now: time(1)) == nil && stage.paintCount == count)
    #expect(stage.statistics.unseen == 1 && stage.statistics.skipped == 0)
    let flip = { (stage: Stage) in
      stage.update(layers: LayersUpdate(layers: [page(videos: [full()], canvas: .white)]))
      return stage.present(now: self.time(2))
    }(stage)
    #expect(flip?.videos.map(\.video) == [Self.first])
    #expect(stage.picture()[100, 100].resembles(TestFrames.Paint.green.color))
    // Taken away and placed again, it still is what it was; and that is no new frame.
    stage.update(layers: LayersUpdate(layers: [page(canvas: .white)]))
    stage.present(now: time(3))
    #expect(stage.picture()[100, 100] == .white)
    stage.update(layers: LayersUpdate(layers: [page(videos: [full()], canvas: .white)]))
    #expect(stage.present(now: time(4))?.videos.isEmpty == true)
    #expect(stage.picture()[100, 100].resembles(TestFrames.Paint.green.color))
  }

  @Test func videoUnderAnOpaqueSurfaceIsNotPainted() {
    let lower = page(videos: [full()])
    var upper = page(canvas: .white)
    upper.identifier = 2
    let stage = stage([lower, upper])
    stage.show(TestFrames.solid(.red, width: 320, height: 180), in: Self.first)
    #expect(stage.present(now: time(1)) == nil)
    stage.update(layers: LayersUpdate(layers: [lower], isRearranged: true, uncovered: [upper.target]))
    #expect(stage.present(now: time(2))?.videos.count == 1)
    #expect(stage.picture()[100, 100].resembles(TestFrames.Paint.red.color))
  }

  @Test func videoUnderOpaquePixelsIsNotPaintedUntilTheyGiveWay() {
    let area = Rectangle(x: 50, y: 40, width: 100, height: 60)
    var layer = page(videos: [boxed(Self.first, area)], canvas: .white) {
      TestSurfaces.fill($0, Self.bounds, TestSurfaces.pixel(TestFrames.Paint.gray.color))
    }
    let stage = stage([layer])
    stage.show(TestFrames.solid(.red, width: 100, height: 60), in: Self.first)
    #expect(stage.present(now: time(1)) == nil)
    let hole = Rectangle(x: 60, y: 50, width: 1, height: 1)
    TestSurfaces.fill(layer.bitmap, hole, 0)
    layer.damage = [hole]
    stage.update(layers: LayersUpdate(layers: [layer]))
    #expect(stage.present(now: time(2))?.videos.count == 1)
    #expect(stage.picture()[60, 50].resembles(TestFrames.Paint.red.color) && stage.picture()[61, 50] == TestFrames.Paint.gray.color)
    TestSurfaces.fill(layer.bitmap, area, 0)
    layer.damage = [area]
    stage.update(layers: LayersUpdate(layers: [layer]))
    stage.present(now: time(3))
    #expect(stage.picture()[149, 99].resembles(TestFrames.Paint.red.color) && stage.picture()[150, 99] == TestFrames.Paint.gray.color)
  }

  @Test func flipTellsWhichFramesItShows() throws {
    let small = Rectangle(x: 200, y: 100, width: 100, height: 60)
    let stage = stage([page(videos: [full(), boxed(Self.second, small)])])
    var frame = TestFrames.solid(.red, width: 320, height: 180)
    frame.ledger[.decode] = time(5)
    stage.show(frame, in: Self.first)
    stage.show(frame, in: Self.first)
    stage.show(TestFrames.solid(.blue, width: 100, height: 60), in: Self.second)
    let flip = try #require(stage.present(now: time(10), flipTime: { Instant(nanoseconds: 12_000_000) }))
    #expect(flip.videos.map(\.video) == [Self.first, Self.second] && flip.videos.map(\.rectangle) == [Self.bounds, small])
    #expect(flip.videos[0].ledger.time(from: .decode, to: .present) == .milliseconds(7))
    #expect(flip.remote == nil && flip.selfView == nil)
    stage.show(TestFrames.solid(.blue, width: 100, height: 60), in: Self.second)
    #expect(stage.present(now: time(20))?.videos.map(\.video) == [Self.second])
    #expect(stage.statistics.videoFramesPresented == 3 && stage.statistics.skipped == 1 && stage.statistics.unseen == 0)
  }

  @Test func directCallIsSeenAgainWhenThePageIsGone() {
    let stage = stage([page(canvas: .white)])
    stage.show(remote: TestFrames.solid(.red, width: 320, height: 180))
    #expect(stage.present(now: time(1)) == nil && stage.statistics.unseen == 1)
    stage.update(layers: LayersUpdate(layers: [], isRearranged: true, uncovered: [Self.bounds]))
    #expect(stage.present(now: time(2)) != nil)
    #expect(stage.picture()[100, 100].resembles(TestFrames.Paint.red.color))
    stage.update(layers: LayersUpdate(layers: [page(canvas: .white)], isRearranged: true))
    stage.setNotice(Notice(kind: .information, title: "Hello"))
    stage.present(now: time(3))
    #expect(stage.picture()[2, 2] == .white && stage.picture()[160, 90] != .white)
    stage.setNotice(nil)
    stage.present(now: time(4))
    #expect(stage.picture() == self.stage([page(canvas: .white)]).picture())
  }

  // MARK: Damage

  @Test func onlyWhatChangedIsPainted() {
    let (left, right) = (Rectangle(x: 10, y: 10, width: 100, height: 60), Rectangle(x: 200, y: 10, width: 100, height: 60))
    var layer = page(videos: [boxed(Self.first, left), boxed(Self.second, right)], canvas: .white)
    let stage = stage([layer])
    #expect(stage.paintedAreas == [Self.bounds])
    stage.show(TestFrames.solid(.red, width: 100, height: 60), in: Self.first)
    stage.present(now: time(1))
    #expect(stage.paintedAreas == [left])
    stage.show(TestFrames.solid(.red, width: 100, height: 60), in: Self.first)
    stage.show(TestFrames.solid(.red, width: 100, height: 60), in: Self.second)
    stage.present(now: time(2))
    #expect(Set(stage.paintedAreas) == [left, right])

    let caret = Rectangle(x: 20, y: 150, width: 2, height: 20)
    TestSurfaces.fill(layer.bitmap, caret, TestSurfaces.pixel(.black))
    layer.damage = [caret]
    stage.update(layers: LayersUpdate(layers: [layer]))
    stage.present(now: time(3))
    #expect(stage.paintedAreas == [caret] && stage.picture()[20, 150] == .black)

    let moved = Rectangle(x: 10, y: 80, width: 100, height: 60)
    layer.damage = []
    layer.videos[0] = boxed(Self.first, moved)
    stage.update(layers: LayersUpdate(layers: [layer]))
    stage.present(now: time(4))
    #expect(stage.paintedAreas == [left, moved])
  }

  @Test func nothingChangedPaintsNothing() {
    var layer = page(videos: [full()], canvas: .white)
    let stage = stage([layer])
    stage.show(TestFrames.solid(.red, width: 320, height: 180), in: Self.first)
    stage.present(now: time(1))
    let count = stage.paintCount
    layer.damage = []
    for step in 2..<60 {
      stage.update(layers: LayersUpdate(layers: [layer]))
      #expect(stage.present(now: time(Int64(step) * 16)) == nil)
    }
    #expect(stage.paintCount == count)
  }

  @Test func damageOfManySmallAreasIsJoined() {
    var damage = Damage()
    for index in 0..<200 { damage.add(Rectangle(x: index * 7 % 300, y: index * 13 % 170, width: 3, height: 3), in: Self.bounds) }
    #expect(damage.areas.count <= 16)
    for index in 0..<200 {
      let area = Rectangle(x: index * 7 % 300, y: index * 13 % 170, width: 3, height: 3)
      #expect(damage.areas.contains { $0.contains(area) })
    }
    damage.add(Rectangle(x: -50, y: -50, width: 10, height: 10), in: Self.bounds)
    damage.add(Rectangle(x: -500, y: -500, width: 5_000, height: 5_000), in: Self.bounds)
    #expect(damage.areas == [Self.bounds])
  }
}
