import Frames
import Testing

@testable import Stage

@Suite struct HeadlessOutputTests {
  private func picture(of scene: Scene, width: Int = 320, height: Int = 180) -> Picture {
    let output = HeadlessOutput(width: width, height: height)
    output.compose(scene)
    return output.picture()
  }

  @Test func emptyScreenIsBlack() {
    let picture = picture(of: Scene())
    #expect(picture.pixels.count == 320 * 180 * 4)
    #expect(picture[0, 0] == .black && picture[319, 179] == .black)
  }

  @Test func videoOfTheScreensShapeFillsIt() {
    let picture = picture(of: Scene(remote: TestFrames.quadrants(width: 640, height: 360)))
    #expect(matches(picture.corners(of: Rectangle(x: 0, y: 0, width: 320, height: 180)), [.red, .green, .blue, .white]))
    #expect(picture[0, 0].resembles(TestFrames.Paint.red.color) && picture[319, 179].resembles(.white))
  }

  @Test(arguments: [
    (240, 180, Rectangle(x: 40, y: 0, width: 240, height: 180)), (640, 180, Rectangle(x: 0, y: 45, width: 320, height: 90)),
  ])
  func containedVideoKeepsItsShapeBetweenBlackBars(width: Int, height: Int, place: Rectangle) {
    let picture = picture(of: Scene(remote: TestFrames.solid(.white, width: width, height: height)))
    for y in 0..<180 {
      for x in 0..<320 { #expect(picture[x, y].resembles(place.contains(x: x, y: y) ? .white : .black), "at \(x), \(y)") }
    }
  }

  @Test func coveringVideoLeavesNoBars() {
    // Twice as wide as the screen: its outer quarters are cut off, its middle is on the screen.
    let picture = picture(of: Scene(remote: TestFrames.quadrants(width: 640, height: 180), fit: .cover))
    #expect(matches(picture.corners(of: Rectangle(x: 0, y: 0, width: 320, height: 180)), [.red, .green, .blue, .white]))
    #expect(!picture[0, 90].resembles(.black) && !picture[319, 90].resembles(.black))
    #expect(picture[150, 20].resembles(TestFrames.Paint.red.color) && picture[170, 20].resembles(TestFrames.Paint.green.color))
  }

  @Test func oddSizesAreShown() {
    for (width, height) in [(1, 1), (3, 5), (33, 17), (321, 181)] {
      let picture = picture(of: Scene(remote: TestFrames.solid(.white, width: width, height: height)), width: 101, height: 77)
      #expect(picture[50, 38].resembles(.white), "\(width) by \(height)")
    }
  }

  @Test(arguments: [
    (VideoFrame.Rotation.none, [TestFrames.Paint.red, .green, .blue, .white]), (.quarter, [.blue, .red, .white, .green]),
    (.half, [.white, .blue, .green, .red]), (.threeQuarters, [.green, .white, .red, .blue]),
  ])
  func turnedFrameStandsUpright(rotation: VideoFrame.Rotation, paints: [TestFrames.Paint]) {
    let isSideways = rotation == .quarter || rotation == .threeQuarters
    let frame = TestFrames.quadrants(width: 160, height: 90, rotation: rotation)
    let place = isSideways ? Rectangle(x: 109, y: 0, width: 101, height: 180) : Rectangle(x: 0, y: 0, width: 320, height: 180)
    let picture = picture(of: Scene(remote: frame))
    #expect(matches(picture.corners(of: place), paints))
    #expect(isSideways == (picture[50, 90] == .black))
  }

  @Test(arguments: Scene.Corner.allCases)
  func selfViewStandsMirroredInItsCorner(corner: Scene.Corner) {
    let remote = TestFrames.solid(.gray, width: 320, height: 180)
    let scene = Scene(remote: remote, selfView: TestFrames.quadrants(width: 320, height: 180), corner: corner)
    let area = Scene.selfViewArea(width: 320, height: 180, corner: corner, on: (320, 180))
    let picture = picture(of: scene)
    #expect(matches(picture.corners(of: area), [.green, .red, .white, .blue]))
    #expect(picture.differs(from: self.picture(of: Scene(remote: remote)), onlyIn: area))
    #expect((area.x < 160) == corner.rawValue.hasSuffix("left") && (area.y < 90) == corner.rawValue.hasPrefix("top"))

    var unmirrored = scene
    unmirrored.isMirrored = false
    #expect(matches(self.picture(of: unmirrored).corners(of: area), [.red, .green, .blue, .white]))
  }

  @Test func mirroringATurnedSelfViewSwapsLeftAndRight() {
    let frame = TestFrames.quadrants(width: 320, height: 180, rotation: .quarter)
    let area = Scene.selfViewArea(width: 180, height: 320, corner: .bottomRight, on: (320, 180))
    #expect(area.width < area.height)
    #expect(matches(picture(of: Scene(selfView: frame)).corners(of: area), [.red, .blue, .green, .white]))
  }

  @Test func selfViewAloneIsRepaintedWithoutTheRest() {
    let output = HeadlessOutput(width: 320, height: 180)
    var scene = Scene(
      remote: TestFrames.solid(.gray, width: 320, height: 180), selfView: TestFrames.solid(.red, width: 160, height: 90))
    output.compose(scene)
    let count = output.paintCount
    scene.selfView = TestFrames.solid(.blue, width: 160, height: 90)
    output.compose(scene)
    #expect(output.paintCount == count + 1)
    #expect(output.picture() == picture(of: scene))
  }

  @Test func partialCompositionLooksLikeAWholeOne() {
    // Every way from one scene to another must end in the same pixels as composing it afresh.
    let frames = [
      nil, TestFrames.quadrants(width: 320, height: 180), TestFrames.quadrants([.gray, .red, .red, .blue], width: 100, height: 180),
    ]
    let notices = [
      nil, Notice(kind: .information, title: "Hello"), Notice(kind: .error(code: "network.down"), title: "No network", text: "Waiting."),
    ]
    let output = HeadlessOutput(width: 320, height: 180)
    var scene = Scene()
    for remote in frames {
      for selfView in frames {
        for notice in notices {
          scene.notice = notice
          output.compose(scene)
          scene.selfView = selfView
          output.compose(scene)
          scene.remote = remote
          output.compose(scene)
          #expect(output.picture() == picture(of: scene))
        }
      }
    }
  }
}
