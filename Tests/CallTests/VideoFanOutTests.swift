import Frames
import Testing

@testable import Call

@Suite struct VideoFanOutTests {
  @Test func onlookersSeePicturesAndAreNoDemand() {
    let demands = Guarded<[Bool]>([])
    let pictures = VideoFanOut { isWanted in demands.with { $0.append(isWanted) } }
    let seen = Guarded(0)
    let onlooker = pictures.add(isOnlooker: true) { _ in seen.with { $0 += 1 } }
    pictures.put(VideoFrame(buffer: VideoBuffer(width: 16, height: 16)))
    #expect(seen.with { $0 } == 1 && !pictures.isWanted && demands.with { $0 } == [])

    let first = pictures.add { _ in }
    let second = pictures.add { _ in }
    #expect(pictures.isWanted && demands.with { $0 } == [true])
    pictures.remove(first)
    #expect(pictures.isWanted)
    pictures.remove(second)
    #expect(!pictures.isWanted && demands.with { $0 } == [true, false] && pictures.sinkCount == 1)
    pictures.remove(onlooker)
    #expect(demands.with { $0 } == [true, false])
  }
}
