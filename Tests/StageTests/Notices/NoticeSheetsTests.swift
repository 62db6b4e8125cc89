import Base
import Testing

@testable import Stage

/// What the stage lays over the picture, together and alone.
@Suite struct NoticeSheetsTests {
  private func time(_ seconds: Double) -> Instant { .zero + .seconds(seconds) }
  private static let screen = Rectangle(x: 0, y: 0, width: 640, height: 360)
  private let left = Rectangle(x: 0, y: 0, width: 213, height: 180)
  private let middle = Rectangle(x: 130, y: 250, width: 380, height: 110)
  private let right = Rectangle(x: 427, y: 0, width: 213, height: 120)

  /// A call whose picture is grey.
  private func call() -> Stage {
    let stage = Stage(width: 640, height: 360)
    stage.show(remote: TestFrames.solid(.gray, width: 640, height: 360))
    stage.present(now: time(0))
    return stage
  }

  @Test func volumeIsAtTheLowerEdgeForTwoSeconds() {
    let stage = call()
    let before = stage.picture()
    stage.showVolume(percent: 30, isMuted: false)
    stage.present(now: time(1))
    let quiet = stage.picture()
    #expect(quiet.differs(from: before, onlyIn: middle))
    stage.showVolume(percent: 90, isMuted: false)
    stage.present(now: time(2))
    let loud = stage.picture()
    #expect(loud != quiet && loud.differs(from: before, onlyIn: middle))
    stage.showVolume(percent: 90, isMuted: true)
    stage.present(now: time(3))
    #expect(stage.picture() != loud)
    #expect(stage.present(now: time(4.9)) == nil)
    #expect(stage.present(now: time(5)) != nil && stage.picture() == before)
  }

  @Test func cameraMarkIsInItsCornerAsLongAsTheCameraIsInUse() {
    let stage = call()
    let before = stage.picture()
    stage.setCameraMark(true)
    stage.present(now: time(1))
    #expect(stage.picture().differs(from: before, onlyIn: right))
    // The mark alone was painted, not the video under it.
    #expect(stage.paintedAreas.allSatisfy(right.contains))
    #expect(stage.present(now: time(100)) == nil)
    stage.setCameraMark(false)
    stage.present(now: time(101))
    #expect(stage.picture() == before)
  }

  @Test func figuresAreInTheirCornerAndChangeThere() {
    let stage = call()
    let before = stage.picture()
    stage.setFigures(["flips 60.0 /s", "frames 30.0 /s"])
    stage.present(now: time(1))
    let first = stage.picture()
    #expect(first.differs(from: before, onlyIn: left))
    stage.setFigures(["flips 59.0 /s", "frames 30.0 /s"])
    stage.present(now: time(2))
    #expect(stage.picture() != first && stage.paintedAreas.allSatisfy(left.contains))
    stage.setFigures([])
    stage.present(now: time(3))
    #expect(stage.picture() == before)
  }

  @Test func anInvitationIsInTheMiddleOfAnEmptyScreenAndSmallOverAPicture() throws {
    let stage = Stage(width: 640, height: 360)
    stage.present(now: time(0))
    let empty = stage.picture()
    stage.setInvitation("Touch to call")
    stage.present(now: time(1))
    let center = Rectangle(x: 100, y: 100, width: 440, height: 160)
    #expect(stage.picture().differs(from: empty, onlyIn: center))

    stage.setIdlePicture(try Artwork(png: call().screenshot()))
    stage.present(now: time(2))
    let invited = stage.picture()
    stage.setInvitation(nil)
    stage.present(now: time(3))
    let idle = stage.picture()
    #expect(invited.differs(from: idle, onlyIn: Rectangle(x: 130, y: 290, width: 380, height: 60)))
    #expect(stage.present(now: time(4)) == nil)
  }

  @Test func whatDoesNotChangeIsNeverPaintedAgain() {
    let stage = call()
    let notice = Notice(kind: .information, title: "Hello", rows: [Notice.Row("eth0", "no address yet")])
    let say = { (stage: Stage) in
      stage.setNotice(notice)
      stage.setCameraMark(true)
      stage.setFigures(["flips 60.0 /s"])
      stage.setIdlePicture(nil)
    }
    say(stage)
    #expect(stage.present(now: time(1)) != nil)
    say(stage)
    #expect(stage.present(now: time(2)) == nil)
  }

  @Test func identificationLiesOverTheNoticeAndUnderTheVolume() {
    let stage = call()
    let notice = Notice(kind: .information, title: String(repeating: "wide ", count: 20), text: String(repeating: "high ", count: 60))
    stage.identify(Notice(kind: .identify, title: "BOX 7", text: String(repeating: "long ", count: 80)))
    stage.present(now: time(1))
    let alone = stage.picture()
    stage.setNotice(notice)
    stage.present(now: time(2))
    // Of the notice, at most its edges may be seen.
    let middle = Rectangle(x: 160, y: 90, width: 320, height: 180)
    #expect(stage.picture().crop(middle).resembles(alone.crop(middle)))
    stage.showVolume(percent: 50, isMuted: false)
    stage.present(now: time(3))
    let louder = stage.picture()
    stage.identify(nil)
    stage.present(now: time(3.1))
    #expect(stage.picture()[320, 320] == louder[320, 320])
  }

  @Test func marksStayOverAPage() throws {
    let stage = Stage(width: 640, height: 360)
    stage.setCameraMark(true)
    stage.present(now: time(0))
    let page = SurfaceBitmap(width: 640, height: 360, isOpaque: true)
    page.raster(x: 0, y: 0).fill(Self.screen, Color.white.opaqueValue)
    stage.update(layers: LayersUpdate(layers: [SurfaceLayer(identifier: 7, bitmap: page, target: Self.screen)]))
    stage.present(now: time(1))
    let picture = stage.picture()
    #expect((right.x..<right.x + right.width).contains { picture[$0, 20].resembles(Color(red: 0xF0, green: 0x30, blue: 0x30)) })
    #expect(picture[320, 180] == .white)
  }

  @Test func paintingWhatChangedGivesTheSameAsPaintingAll() {
    let stage = call()
    var seed = 1
    for step in 0..<40 {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
      switch seed >> 16 & 7 {
      case 0: stage.setNotice(Notice(kind: .information, title: "Step \(step)", countdown: 5))
      case 1: stage.setNotice(nil)
      case 2: stage.identify(Notice(kind: .identify, title: "BOX \(step)", code: "box \(step)"), for: .seconds(3))
      case 3: stage.showVolume(percent: step, isMuted: step % 2 == 0)
      case 4: stage.setCameraMark(step % 2 == 0)
      case 5: stage.setFigures(step % 3 == 0 ? [] : ["step \(step)"])
      case 6: stage.show(remote: TestFrames.quadrants(width: 640, height: 360))
      default: stage.setTheme(Notice.Theme(foreground: .white, background: Color(red: UInt8(step), green: 0, blue: 80)))
      }
      stage.present(now: time(Double(step) * 0.7))
      #expect(stage.picture() == stage.withComposer { $0.picture() }, "step \(step)")
    }
  }

  @Test func idlePictureIsSeenWhileThereIsNoOtherSide() throws {
    let stage = Stage(width: 640, height: 360)
    let quadrants = Stage(width: 320, height: 320)
    quadrants.show(remote: TestFrames.quadrants(width: 320, height: 320))
    quadrants.present(now: time(0))
    stage.setIdlePicture(try Artwork(png: quadrants.screenshot()))
    stage.present(now: time(0))
    let area = Rectangle(x: 140, y: 0, width: 360, height: 360)
    #expect(matches(stage.picture().corners(of: area), [.red, .green, .blue, .white]))
    let theme = Notice.Theme()
    #expect(stage.picture()[10, 180] == theme.background && stage.picture()[630, 180] == theme.background)

    stage.show(remote: TestFrames.solid(.gray, width: 640, height: 360))
    stage.present(now: time(1))
    #expect(stage.picture()[200, 90].resembles(TestFrames.Paint.gray.color))
    stage.removeRemote()
    stage.present(now: time(2))
    #expect(matches(stage.picture().corners(of: area), [.red, .green, .blue, .white]))

    // The self-view is seen over it, a page instead of it.
    stage.show(selfView: TestFrames.solid(.gray, width: 320, height: 180))
    stage.present(now: time(3))
    #expect(
      stage.picture()[560, 310].resembles(TestFrames.Paint.gray.color) && stage.picture()[200, 90].resembles(TestFrames.Paint.red.color))
    let page = SurfaceBitmap(width: 640, height: 360, isOpaque: true)
    stage.update(layers: LayersUpdate(layers: [SurfaceLayer(identifier: 7, bitmap: page, target: Self.screen)]))
    stage.present(now: time(4))
    #expect(stage.picture()[200, 90] == .black && stage.picture()[10, 180] == .black)
    stage.update(layers: LayersUpdate(layers: [], uncovered: [Self.screen]))
    stage.present(now: time(5))
    #expect(stage.picture()[200, 90].resembles(TestFrames.Paint.red.color))
  }

  @Test func logoStandsAboveTheTitle() throws {
    let red = Stage(width: 64, height: 32)
    red.show(remote: TestFrames.solid(.red, width: 64, height: 32))
    red.present(now: time(0))
    let logo = try Artwork(png: red.screenshot())
    let stage = Stage(width: 640, height: 360, theme: Notice.Theme(logo: logo))
    stage.setNotice(Notice(kind: .information, title: "HHHHHH"))
    stage.present(now: time(0))
    let picture = stage.picture()
    let box = try #require(stage.places.notice)
    func rows(_ color: Color) -> [Int] {
      (box.y..<box.y + box.height).filter { y in (box.x..<box.x + box.width).contains { picture[$0, y].resembles(color) } }
    }
    let (logoRows, titleRows) = (rows(TestFrames.Paint.red.color), rows(.white))
    #expect(logoRows.count >= 60 && !titleRows.isEmpty)
    #expect(try #require(logoRows.last) < (try #require(titleRows.first)))
  }
}

extension Picture {
  /// The pixels of an area, row by row.
  func crop(_ area: Rectangle) -> [Color] {
    (area.y..<area.y + area.height).flatMap { y in (area.x..<area.x + area.width).map { self[$0, y] } }
  }
}

extension [Color] {
  /// Equal but for what shines through.
  func resembles(_ other: [Color]) -> Bool { count == other.count && zip(self, other).allSatisfy { $0.resembles($1) } }
}
