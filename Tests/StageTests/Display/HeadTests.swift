import Base
import Frames
import Testing

@testable import Stage

/// One monitor on every driver's planes: whatever planes are taken, it shows what composition shows.
@Suite struct HeadTests {
  private static let size = (width: 96, height: 64)
  private static let video = VideoIdentifier(rawValue: 1)

  private static func rectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Rectangle {
    Rectangle(x: x, y: y, width: width, height: height)
  }

  /// A monitor, what is to be seen on it, and the card behind it.
  private struct Rig {
    let card: MockCard
    let composer = Composer(width: size.width, height: size.height)
    let head: Head
    private var damage = CompositionDamage()

    init(_ driver: MockPlanes, isAtomic: Bool = true) throws {
      let mode = TestCards.mode(size.width, size.height, 60, isPreferred: true)
      card = MockCard(driver, mode: mode)
      card.isAtomic = isAtomic
      let snapshot = try card.snapshot(probes: true)
      let output = try #require(OutputPlan(snapshot, preferences: DisplayPreferences()).primary)
      head = Head(output, card: snapshot, rotation: .none, isMirrored: false, device: card)
    }

    /// A page with a video in it, and what `draw` paints of the page.
    func show(_ videos: [VideoPlacement], canvas: Color? = nil, draw: (SurfaceBitmap) -> Void = { _ in }) {
      let layer = TestSurfaces.page(width: size.width, height: size.height, videos: videos, canvas: canvas, draw: draw)
      composer.update(LayersUpdate(layers: [layer], isRearranged: true))
    }

    func show(_ frame: VideoFrame) { composer.page.forEachVisibleVideo { $0.show(frame) } }

    /// One turn of the stage: what changed is committed, and flips.
    mutating func turn() throws {
      composer.page.takeDamage(&damage)
      head.note(damage, composer: composer)
      if head.isStale, try head.show(composer, composer.sketch()) {
        #expect(try card.readEvents().count == 1)
        head.completeFlip()
      }
    }

    /// The first pixel, of every fourth each way, that is not as composition makes it; those beside edges, where scaling mixes, are left out.
    func difference() -> String? {
      let bitmap = SurfaceBitmap(width: size.width, height: size.height)
      let raster = bitmap.raster(x: 0, y: 0)
      PageComposition.forEachStrip(of: composer.screen) {
        composer.page.composeStrip($0, .everything, on: raster, overlay: composer.overlay)
      }
      func expected(_ x: Int, _ y: Int) -> Color {
        let pixel = raster.address(x: x, y: y)
        return Color(red: pixel[2], green: pixel[1], blue: pixel[0])
      }
      for y in stride(from: 2, to: size.height, by: 4) {
        for x in stride(from: 2, to: size.width, by: 4) {
          let color = expected(x, y)
          let isEven = [(-2, 0), (2, 0), (0, -2), (0, 2)].allSatisfy { dx, dy in
            let (x, y) = (x + dx, y + dy)
            return !composer.screen.contains(x: x, y: y) || expected(x, y).resembles(color)
          }
          if isEven && !card[x, y].resembles(color) { return "(\(x), \(y)): \(card[x, y]) in place of \(color)" }
        }
      }
      return nil
    }
  }

  private static func placement(_ area: Rectangle) -> VideoPlacement {
    VideoPlacement(
      video: video, width: Double(area.width), height: Double(area.height), map: .translation(x: Double(area.x), y: Double(area.y)),
      fit: .fill)
  }

  private static func paint(_ area: Rectangle, _ color: Color, alpha: UInt8 = 255) -> (SurfaceBitmap) -> Void {
    { TestSurfaces.fill($0, area, TestSurfaces.pixel(color, alpha: alpha)) }
  }

  @Test func everyDriverShowsThePictureThroughAllItsChanges() throws {
    let green = Color(red: 0, green: 100, blue: 0)
    for driver in MockPlanes.all {
      var rig = try Rig(driver)
      func check(_ step: String) throws {
        // Two turns, so that both buffers have been shown.
        for _ in 0..<2 {
          try rig.turn()
          if let difference = rig.difference() { Issue.record("\(driver.name), \(step), \(difference)") }
        }
      }
      rig.show([], canvas: green)
      try check("page")
      rig.show([Self.placement(Self.rectangle(16, 8, 64, 36))], canvas: green, draw: Self.paint(Self.rectangle(0, 48, 96, 16), .white))
      try check("video without a frame")
      rig.show(TestFrames.quadrants(width: 32, height: 18))
      try check("first frame")
      rig.show(TestFrames.quadrants([.white, .gray, .red, .blue], width: 32, height: 18))
      try check("second frame")
      rig.show(
        [Self.placement(Self.rectangle(16, 8, 64, 36))], draw: Self.paint(Self.rectangle(32, 24, 32, 40), .white, alpha: 128))
      rig.show(TestFrames.quadrants(width: 32, height: 18))
      try check("controls over the video, on black")
      rig.show(TestFrames.quadrants([.gray, .red, .blue, .white], width: 32, height: 18))
      try check("a frame under controls")
      rig.show([Self.placement(rig.composer.screen)], draw: Self.paint(Self.rectangle(32, 24, 32, 40), .white, alpha: 128))
      rig.show(TestFrames.quadrants(width: 48, height: 32))
      try check("full screen under controls")
      rig.show([Self.placement(rig.composer.screen)])
      rig.show(TestFrames.quadrants([.blue, .red, .gray, .white], width: 48, height: 32))
      try check("full screen alone")
      rig.show([], canvas: green)
      try check("page again")
      #expect(rig.card.modesetCount == 1)
    }
  }

  @Test func withLegacyModesettingThePrimaryPlaneHasTheWholePicture() throws {
    for driver in MockPlanes.all {
      var rig = try Rig(driver, isAtomic: false)
      rig.show([Self.placement(Self.rectangle(16, 8, 64, 36))], draw: Self.paint(Self.rectangle(32, 24, 32, 40), .white, alpha: 128))
      for paints in [[TestFrames.Paint.red, .green, .blue, .white], [.white, .gray, .red, .blue], [.blue, .red, .gray, .white]] {
        rig.show(TestFrames.quadrants(paints, width: 32, height: 18))
        try rig.turn()
        if let difference = rig.difference() { Issue.record("\(driver.name), \(difference)") }
      }
      #expect(rig.card.testCount == 0 && rig.card.modesetCount == 1 && rig.card.flipCount == 2, "\(driver.name)")
    }
  }

  @Test func aPointerThatMovesDoesNotHaveTheDriverAskedAnew() throws {
    for driver in MockPlanes.all {
      var rig = try Rig(driver)
      rig.show([Self.placement(Self.rectangle(0, 0, 64, 36))], draw: Self.paint(Self.rectangle(32, 24, 32, 40), .white, alpha: 128))
      rig.show(TestFrames.quadrants(width: 32, height: 18))
      _ = rig.composer.setPanel(nil, pointer: (70, 45), theme: Notice.Theme())
      try rig.turn()
      let tests = rig.card.testCount
      for step in 1..<10 {
        _ = rig.composer.setPanel(nil, pointer: (70, 45 + Double(step)), theme: Notice.Theme())
        try rig.turn()
        if let difference = rig.difference() { Issue.record("\(driver.name), \(difference)") }
      }
      #expect(rig.card.testCount == tests, "\(driver.name)")
      #expect(rig.card.flipCount >= 9)
    }
  }
}
