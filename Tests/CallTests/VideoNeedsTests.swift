import Base
import Codecs
import Frames
import Testing

@testable import Call

/// How a source learns what is needed of it, and who gets what.
@Suite struct VideoNeedsTests {
  private final class Taker: Sendable {
    private let state = Guarded((pictures: 0, units: [Int?]()))
    func take(_ frame: VideoFrame) { state.with { $0.pictures += 1 } }
    func take(_ unit: AccessUnit?) { state.with { $0.units.append(unit?.number) } }
    var pictures: Int { state.with { $0.pictures } }
    var units: [Int?] { state.with { $0.units } }
  }

  private func unit(_ number: Int) -> AccessUnit {
    AccessUnit(
      frame: EncodedVideoFrame(bytes: [1], isKeyFrame: true), number: number,
      format: AccessUnit.Format(width: 64, height: 32, profile: 66, constraints: 0xC0, level: 31))
  }
  private func picture() -> VideoFrame { VideoFrame(buffer: VideoBuffer(width: 64, height: 32)) }

  @Test func pixelsAreMadeForThoseWhoNeedThem() {
    let told = Guarded(0)
    let source = VideoFanOut(onNeeds: { told.with { $0 += 1 } })
    #expect(source.needs == VideoNeeds(pictures: false))
    let taker = Taker()
    let passing = source.add(
      needs: VideoNeeds(pictures: false, units: true, bitrate: 900_000), units: { taker.take($0) }, pictures: { taker.take($0) })
    #expect(source.needs == VideoNeeds(pictures: false, units: true, bitrate: 900_000) && told.with { $0 } == 1)
    source.put(unit(1))
    #expect(source.givesUnits && source.unitFormat?.profileLevelID == "42c01f")
    source.put(picture())
    #expect(taker.units == [1] && taker.pictures == 0)

    // The box's own screen looks.
    let screen = Taker()
    let looking = source.add(isOnlooker: true) { screen.take($0) }
    #expect(source.needs == VideoNeeds(pictures: true, units: true, bitrate: 900_000) && told.with { $0 } == 2)
    source.put(unit(2))
    source.put(picture())
    #expect(taker.units == [1, 2] && taker.pictures == 0 && screen.pictures == 2, "the newest picture, and the next")

    // A slower peer needs pictures, and has the newest one at once.
    source.setNeeds(VideoNeeds(pictures: true, units: true, bitrate: 200_000), of: passing)
    #expect(taker.pictures == 1 && source.needs.bitrate == 200_000)
    source.endUnits()
    source.endUnits()
    #expect(taker.units == [1, 2, nil] && !source.givesUnits && source.unitFormat == nil)

    source.remove(looking)
    source.setNeeds(VideoNeeds(pictures: false, units: true), of: passing)
    source.put(unit(3))
    #expect(source.newest == nil, "what nobody makes any more grows old")
    source.remove(passing)
    #expect(source.needs == VideoNeeds(pictures: false))
  }

  @Test func aKeyFrameIsAskedForOnce() {
    let told = Guarded(0)
    let source = VideoFanOut(onNeeds: { told.with { $0 += 1 } })
    #expect(!source.takeKeyFrameRequest())
    source.requestKeyFrame()
    source.requestKeyFrame()
    #expect(told.with { $0 } == 2)
    #expect(source.takeKeyFrameRequest() && !source.takeKeyFrameRequest())
  }
}
