import Base
import Frames
import Sound
import Testing

@Suite struct EchoTimelineTests {
  private let start = Instant.zero + .seconds(100)

  private func add(_ value: Int16, to timeline: inout EchoTimeline, at time: Instant, channelCount: Int = 1) {
    let block = [Int16](repeating: value, count: 480 * channelCount)
    timeline.add(block, channelCount: channelCount, at: time)
  }

  private func read(_ timeline: inout EchoTimeline, at time: Instant) -> [Int16] {
    var block = [Int16](repeating: -1, count: 480)
    _ = timeline.read(into: &block, at: time)
    return block
  }

  @Test func findsWhatWasHeardAtATime() {
    var timeline = EchoTimeline()
    #expect(read(&timeline, at: start) == [Int16](repeating: 0, count: 480))
    for index in 0..<5 { add(Int16(index + 1), to: &timeline, at: start + .milliseconds(10) * Int64(index)) }
    let block = read(&timeline, at: start + .milliseconds(15))
    #expect(block[..<240].allSatisfy { $0 == 2 } && block[240...].allSatisfy { $0 == 3 })
    // What is not there yet, or was before all, is silence.
    #expect(read(&timeline, at: start + .milliseconds(45))[240...].allSatisfy { $0 == 0 })
    #expect(read(&timeline, at: start - .milliseconds(5))[..<240].allSatisfy { $0 == 0 })
  }

  @Test func unsureTimesMakeNoSeam() {
    var timeline = EchoTimeline()
    var random = RandomSource(seed: 4)
    for index in 0..<200 {
      let wobble = Interval.microseconds(Int64(random.next() % 3_000) - 1_500)
      add(Int16(index + 1), to: &timeline, at: start + .milliseconds(10) * Int64(index) + wobble)
    }
    #expect(timeline.jumpCount == 0)
    var (heard, change): ([Int16], [Int]) = ([], [])
    for index in 120..<180 {
      let wobble = Interval.microseconds(Int64(random.next() % 3_000) - 1_500)
      let block = read(&timeline, at: start + .milliseconds(10) * Int64(index) + wobble)
      heard += block
    }
    for index in 1..<heard.count where heard[index] != heard[index - 1] { change.append(index) }
    #expect(zip(change, change.dropFirst()).allSatisfy { $1 - $0 == 480 }, "every block is read whole, in order")
    #expect(heard.last! - heard[0] >= 58)
  }

  @Test func aGapIsSilenceAndALongOneABeginning() {
    var timeline = EchoTimeline()
    add(1, to: &timeline, at: start)
    add(2, to: &timeline, at: start + .milliseconds(50))
    #expect(timeline.jumpCount == 1)
    #expect(read(&timeline, at: start).allSatisfy { $0 == 1 })
    #expect(read(&timeline, at: start + .milliseconds(20)).allSatisfy { $0 == 0 })
    #expect(read(&timeline, at: start + .milliseconds(50)).allSatisfy { $0 == 2 })
    add(3, to: &timeline, at: start + .seconds(90))
    #expect(read(&timeline, at: start + .seconds(90)).allSatisfy { $0 == 3 })
    #expect(read(&timeline, at: start + .milliseconds(50)).allSatisfy { $0 == 0 }, "forgotten")
    // Back in time, as after an xrun that was estimated too long.
    add(4, to: &timeline, at: start + .seconds(90))
    #expect(read(&timeline, at: start + .seconds(90)).allSatisfy { $0 == 4 })
  }

  @Test func twoChannelsAreAveraged() {
    var timeline = EchoTimeline()
    let block = (0..<960).map { Int16($0 % 2 == 0 ? 100 : 300) }
    timeline.add(block, channelCount: 2, at: start)
    #expect(read(&timeline, at: start).allSatisfy { $0 == 200 })
  }

  @Test func travelsFromOneThreadToTheOther() {
    let reference = ReferenceFeed()
    let block = [Int16](repeating: 7, count: 480)
    reference.put(block, channelCount: 1, heardAt: start)
    var timeline = EchoTimeline()
    reference.move(to: &timeline)
    #expect(read(&timeline, at: start).allSatisfy { $0 == 0 }, "nobody wanted it")
    reference.setWanted(true)
    reference.put(block, channelCount: 1, heardAt: start)
    reference.move(to: &timeline)
    #expect(read(&timeline, at: start).allSatisfy { $0 == 7 })
  }
}
