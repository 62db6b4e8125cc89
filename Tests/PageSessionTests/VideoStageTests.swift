import Base
import BridgeMessages
import Call
import Codecs
import Frames
import Testing

@testable import PageSession

@Suite struct VideoStageTests {
  /// The size of what came last, and whether a device's memory came with it.
  private final class Seen: Sendable {
    private let last = Guarded<VideoFrame?>(nil)
    func take(_ frame: VideoFrame) { last.with { $0 = frame } }
    var size: [Int] { last.with { $0.map { [$0.width, $0.height] } ?? [] } }
    var sharesMemory: Bool { last.with { $0?.deviceBuffer != nil } }
    var luma: UInt8? { last.with { $0?.buffer.luma[0] } }
  }

  private func size(_ width: Int, _ height: Int) -> TrackSettings {
    var settings = TrackSettings()
    (settings.width, settings.height) = (width, height)
    return settings
  }

  private func picture(_ width: Int, _ height: Int) -> VideoFrame {
    let buffer = VideoBuffer(width: width, height: height)
    buffer.fill(luma: 120)
    return VideoFrame(
      buffer: buffer,
      deviceBuffer: DeviceBuffer(
        width: width, height: height, format: 0x3231_564E, planes: [DeviceBuffer.Plane(descriptor: -1, offset: 0, stride: width)]))
  }

  /// One camera serves several tracks at sizes of their own, also when it comes back with another one.
  @Test func eachTrackHasItsOwnSize() {
    let source = VideoFanOut(format: VideoFanOut.Format(width: 640, height: 360))
    let stages = (0..<3).map { _ in VideoStage(source) }
    let seen = stages.map { _ in Seen() }
    for (stage, seen) in zip(stages, seen) { _ = stage.output.add { seen.take($0) } }
    stages[1].setFormat(size(320, 180))
    stages[2].setFormat(size(160, 120))
    source.put(picture(640, 360))
    #expect(seen.map(\.size) == [[640, 360], [320, 180], [160, 120]])
    // Only pixels that are the device's own are shown from its memory.
    #expect(seen.map(\.sharesMemory) == [true, false, false])

    source.format = VideoFanOut.Format(width: 1_280, height: 720)
    source.put(picture(1_280, 720))
    #expect(seen.map(\.size) == [[1_280, 720], [320, 180], [160, 120]])
    stages[0].setEnabled(false)
    source.put(picture(1_280, 720))
    #expect(seen[0].luma == 16 && !seen[0].sharesMemory, "black is black on every way")
  }

  /// What a camera codes itself.
  private func unit(_ number: Int) -> AccessUnit {
    AccessUnit(
      frame: EncodedVideoFrame(bytes: [1], isKeyFrame: true), number: number,
      format: AccessUnit.Format(width: 640, height: 360, profile: 66, constraints: 0xC0, level: 31))
  }

  @Test func whatACameraCodesItselfGoesOnAsLongAsNothingIsMadeOfIt() {
    let source = VideoFanOut(format: VideoFanOut.Format(width: 640, height: 360))
    let stage = VideoStage(source)
    let (seen, units) = (Seen(), Guarded<[Int?]>([]))
    func take() -> [Int?] {
      units.with { list in
        defer { list = [] }
        return list
      }
    }
    let passing = VideoNeeds(pictures: false, units: true, bitrate: 700_000)
    let sink = stage.output.add(needs: passing, units: { unit in units.with { $0.append(unit?.number) } }, pictures: { seen.take($0) })
    #expect(source.needs == passing)
    source.put(unit(1))
    #expect(take() == [1])
    stage.output.requestKeyFrame()
    #expect(source.takeKeyFrameRequest())

    // Switched off: what was coded with a face in it is not sent, and black comes at the pace of the camera, which need not decode for that.
    stage.setEnabled(false)
    #expect(take() == [nil])
    stage.output.setNeeds(VideoNeeds(pictures: true, units: true), of: sink)
    #expect(seen.luma == 16 && seen.size == [640, 360], "the black one that was put in before")
    #expect(source.needs == VideoNeeds(pictures: false, units: true))
    source.put(unit(2))
    #expect(take().isEmpty && seen.luma == 16)
    stage.setEnabled(true)
    source.put(unit(3))
    #expect(take() == [3] && source.needs == VideoNeeds(pictures: true, units: true))

    // In another size, pixels are needed.
    stage.output.setNeeds(passing, of: sink)
    stage.setFormat(size(320, 180))
    #expect(take() == [nil] && source.needs == VideoNeeds())
    source.put(unit(4))
    stage.output.setNeeds(VideoNeeds(pictures: true, units: true), of: sink)
    source.put(picture(640, 360))
    #expect(take().isEmpty && seen.size == [320, 180] && seen.luma == 120)
    stage.setFormat(size(640, 360))
    source.put(unit(5))
    #expect(take() == [5])
    source.endUnits()
    #expect(take() == [nil])
    stage.output.remove(sink)
    #expect(source.needs == VideoNeeds(pictures: false))
  }
}
