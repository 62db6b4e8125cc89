import Base
import Frames
import Testing

@testable import Stage

@Suite struct StageTests {
  private func time(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func nothingNewComposesNothing() {
    let stage = Stage(width: 320, height: 180)
    #expect(stage.present(now: time(0)) == nil)
    stage.remote.put(TestFrames.solid(.red, width: 320, height: 180))
    stage.setNotice(Notice(kind: .connecting, title: "Connecting"))
    #expect(stage.present(now: time(16)) != nil)
    let count = stage.paintCount
    for step in 2..<60 {
      stage.setNotice(Notice(kind: .connecting, title: "Connecting"))
      #expect(stage.present(now: time(Int64(step) * 16)) == nil)
    }
    #expect(stage.paintCount == count)
    #expect(stage.statistics == StageStatistics(flips: 1, repeated: 59, skipped: 0, remoteFramesPresented: 1, selfViewFramesPresented: 0))
  }

  @Test func newestFrameIsShownAndTheOthersCounted() {
    let stage = Stage(width: 64, height: 36)
    for paint in [TestFrames.Paint.red, .green, .blue] { stage.remote.put(TestFrames.solid(paint, width: 64, height: 36)) }
    stage.present(now: time(0))
    #expect(stage.picture()[32, 18].resembles(TestFrames.Paint.blue.color))
    #expect(stage.statistics.skipped == 2)
    #expect(stage.statistics.remoteFramesPresented == 1)
  }

  @Test func flipStampsTheLedgerOfNewFramesOnly() throws {
    let stage = Stage(width: 64, height: 36)
    var frame = TestFrames.solid(.red, width: 64, height: 36)
    frame.ledger[.decode] = time(5)
    stage.show(remote: frame)
    stage.show(selfView: TestFrames.solid(.green, width: 64, height: 36))
    let first = try #require(stage.present(now: time(10), flipTime: { Instant(nanoseconds: 12_000_000) }))
    #expect(first.number == 1 && first.time == time(12))
    #expect(first.remote?.ledger.time(from: .decode, to: .present) == .milliseconds(7))
    #expect(first.remote?.rectangle == Rectangle(x: 0, y: 0, width: 64, height: 36))
    #expect(first.selfView?.ledger[.present] == time(12))

    stage.show(selfView: TestFrames.solid(.blue, width: 64, height: 36))
    let second = try #require(stage.present(now: time(20)))
    #expect(second.number == 2 && second.remote == nil && second.selfView?.ledger[.present] == time(20))
  }

  @Test func countdownCountsSecondsFromItsFirstShowing() {
    let stage = Stage(width: 320, height: 180)
    stage.setNotice(Notice(kind: .waitingForNetwork, title: "No network", countdown: 3))
    #expect(stage.present(now: time(100_000)) != nil)
    var pictures = [stage.picture()]
    var flips = 0
    for milliseconds in stride(from: Int64(100_100), through: 110_000, by: 100) where stage.present(now: time(milliseconds)) != nil {
      flips += 1
      pictures.append(stage.picture())
    }
    // 3 → 2 → 1 → 0, and no further.
    #expect(flips == 3)
    #expect(Set(pictures.map(\.pixels)).count == 4)
  }

  @Test func endedCallLeavesTheScreen() {
    let stage = Stage(width: 64, height: 36)
    stage.show(remote: TestFrames.solid(.red, width: 64, height: 36))
    stage.show(selfView: TestFrames.solid(.green, width: 64, height: 36))
    stage.present(now: time(0))
    stage.removeRemote()
    stage.removeSelfView()
    #expect(stage.present(now: time(16)) != nil)
    #expect(stage.picture() == Stage(width: 64, height: 36).picture())
    stage.show(remote: TestFrames.solid(.blue, width: 64, height: 36))
    stage.present(now: time(32))
    #expect(stage.picture()[32, 18].resembles(TestFrames.Paint.blue.color))
  }

  @Test func settingsChangeThePictureThatStands() {
    let stage = Stage(width: 320, height: 180)
    stage.show(remote: TestFrames.solid(.white, width: 90, height: 180))
    stage.show(selfView: TestFrames.quadrants(width: 320, height: 180))
    stage.present(now: time(0))
    #expect(stage.picture()[0, 90] == .black)
    stage.setFit(.cover)
    stage.setSelfView(corner: .topLeft, isMirrored: false)
    #expect(stage.present(now: time(16)) != nil)
    #expect(stage.picture()[0, 90].resembles(.white))
    let area = Scene.selfViewArea(width: 320, height: 180, corner: .topLeft, on: (320, 180))
    #expect(matches(stage.picture().corners(of: area), [.red, .green, .blue, .white]))
  }

  @Test func monitorOnItsSideShowsATallPicture() {
    let stage = Stage(width: 1920, height: 1080, rotation: .quarter)
    #expect(stage.width == 1080 && stage.height == 1920)
    #expect(stage.picture().width == 1080)
  }

  @Test func screenshotIsThePictureAsPNG() throws {
    let stage = Stage(width: 321, height: 181)
    stage.show(remote: TestFrames.quadrants(width: 320, height: 180))
    stage.setNotice(Notice(kind: .identify, title: "BOX 7"))
    stage.present(now: time(0))
    let png = try stage.screenshot()
    #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    #expect(try Picture(png: png) == stage.picture())
  }

  @Test func brokenPNGIsRefused() throws {
    let png = try Stage(width: 8, height: 8).screenshot()
    #expect(throws: Picture.Failure.self) { try Picture(png: Array(png.prefix(png.count / 2))) }
    #expect(throws: Picture.Failure.self) { try Picture(png: []) }
  }
}
