import Base
import Frames
import Glibc
import Testing

@testable import Stage

/// What `parlor screenshot` gives of a display: upright however the monitor hangs, and what would be seen while it is dark.
@Suite struct ScreenshotTests {
  private static let red = Color(red: 255, green: 0, blue: 0)
  private static let blue = Color(red: 0, green: 0, blue: 255)
  private static let green = Color(red: 0, green: 255, blue: 0)

  /// A page whose upper half has another colour than its lower half.
  private static func page(of stage: Stage, upper: Color) -> LayersUpdate {
    let (width, height) = (stage.width, stage.height)
    let layer = TestSurfaces.page(width: width, height: height) { bitmap in
      TestSurfaces.fill(bitmap, Rectangle(x: 0, y: 0, width: width, height: height), TestSurfaces.pixel(blue))
      TestSurfaces.fill(bitmap, Rectangle(x: 0, y: 0, width: width, height: height / 2), TestSurfaces.pixel(upper))
    }
    return LayersUpdate(layers: [layer], isRearranged: true)
  }

  @Test(arguments: [
    (VideoFrame.Rotation.none, (32, 4)), (.quarter, (60, 24)), (.half, (32, 44)), (.threeQuarters, (4, 24)),
  ])
  func itIsUprightAndGoesOnWhileTheScreenIsDark(rotation: VideoFrame.Rotation, top: (x: Int, y: Int)) throws {
    let card = MockCard(MockPlanes.virtio, mode: TestCards.mode(64, 48, 60, isPreferred: true))
    let display = KMSDisplay(preferences: DisplayPreferences(rotation: rotation)) { card }
    let stage = Stage(width: 64, height: 48, rotation: rotation)
    display.dispatch(now: .zero)
    stage.resize(monitorWidth: 64, monitorHeight: 48, refreshRate: 60, rotation: rotation)
    stage.update(layers: ScreenshotTests.page(of: stage, upper: ScreenshotTests.red))
    let news = stage.prepare(now: .zero)
    stage.withComposer { display.show($0, news, now: .zero) }
    display.dispatch(now: .zero)
    // The monitor is turned, and so is what the card shows.
    #expect(card[top.x, top.y] == ScreenshotTests.red && card[63 - top.x, 47 - top.y] == ScreenshotTests.blue)

    func expect(upper: Color) throws {
      let picture = try Picture(png: stage.screenshot())
      let isSideways = rotation == .quarter || rotation == .threeQuarters
      #expect((picture.width, picture.height) == (isSideways ? (48, 64) : (64, 48)))
      #expect(picture[picture.width / 2, 2] == upper && picture[picture.width / 2, picture.height - 3] == ScreenshotTests.blue)
    }
    try expect(upper: ScreenshotTests.red)
    display.setBlanked(true, now: .zero + .seconds(1))
    stage.update(layers: ScreenshotTests.page(of: stage, upper: ScreenshotTests.green))
    _ = stage.prepare(now: .zero + .seconds(1))
    #expect(!display.isShowing)
    try expect(upper: ScreenshotTests.green)
  }

  @Test func aCallGoesOnWhileTheScreenIsDark() {
    let stage = Stage(width: 64, height: 48, rotation: .quarter)
    let thread = StageThread(
      stage: stage,
      monitors: KMSDisplay(preferences: DisplayPreferences(rotation: .quarter)) { () throws(DRMError) -> any DRMDevice in
        VirtualCard(width: 64, height: 48, refreshRate: 60, hasPlanes: false)
      })
    stage.setBlanked(true)
    thread.start()
    stage.show(remote: TestFrames.solid(.green, width: 48, height: 64))
    let end = StageThread.now() + .seconds(60)
    func isThere() -> Bool { stage.displayStatus.isBlanked && stage.picture()[24, 32].resembles(TestFrames.Paint.green.color) }
    while !isThere(), StageThread.now() < end { usleep(10_000) }
    let picture = stage.picture()
    #expect((picture.width, picture.height) == (48, 64) && picture[24, 60].resembles(TestFrames.Paint.green.color))
    #expect(isThere() && stage.displayStatus.flips == 0)
    thread.stop()
  }
}
