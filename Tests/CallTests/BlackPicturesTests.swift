import Base
import Frames
import Testing

@testable import Call

@Suite struct BlackPicturesTests {
  @Test func aCameraThatIsAwayIsBlackAtOnceAndOnceASecond() throws {
    let pictures = VideoFanOut(format: VideoFanOut.Format(width: 64, height: 36, framesPerSecond: 30))
    let seen = Guarded<[VideoFrame]>([])
    _ = pictures.add { frame in seen.with { $0.append(frame) } }
    var black = BlackPictures()
    let start = Instant.zero + .seconds(5)
    black.step(isMissing: false, pictures: pictures, now: start)
    #expect(seen.with { $0.count } == 0 && black.due == nil)
    for index in 0..<31 { black.step(isMissing: true, pictures: pictures, now: start + .milliseconds(100) * Int64(index)) }
    #expect(seen.with { $0.count } == 4)
    let frame = try #require(seen.with { $0.first })
    #expect(frame.width == 64 && frame.buffer.luma[0] == 16 && frame.buffer.chromaU[0] == 128 && frame.ledger[.capture] == start)
    // Another camera, of another size, that is lost at once.
    black.step(isMissing: false, pictures: pictures, now: start + .seconds(4))
    pictures.format = VideoFanOut.Format(width: 32, height: 18, framesPerSecond: 30)
    black.step(isMissing: true, pictures: pictures, now: start + .seconds(4))
    #expect(seen.with { $0.count } == 5 && seen.with { $0.last?.width } == 32)
  }
}
