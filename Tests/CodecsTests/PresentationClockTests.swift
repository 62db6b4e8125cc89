import Base
import Testing

@testable import Codecs

struct PresentationClockTests {
  @Test func followsTheCameraAndNeverStandsStill() {
    var clock = PresentationClock()
    let captures: [Int64] = [0, 66, 66, 132, 60_000, 60_066]
    let times = captures.map { clock.next(captureTime: .zero + .milliseconds($0), framesPerSecond: 30) }
    #expect(times[0..<2] == [0, 66_000])
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    #expect(times[4] - times[3] == 33_333, "a minute's pause saves no bits")
    #expect(times[5] - times[4] == 66_000)
  }

  @Test func framesWithoutCaptureTimeComeAtTheFrameRate() {
    var clock = PresentationClock()
    #expect((0..<3).map { _ in clock.next(captureTime: nil, framesPerSecond: 25) } == [0, 40_000, 80_000])
  }
}
