import Base
import Testing

@testable import Net

@Suite struct TimerQueueTests {
  final class Record { var names: [String] = [] }

  func run(_ queue: inout TimerQueue, at now: Instant) { while let work = queue.takeDue(now) { work() } }

  @Test func timersFireInTheOrderOfTheirDeadlinesAndThenOfBeingSet() {
    var queue = TimerQueue()
    let record = Record()
    for (name, second) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2)] {
      let token = queue.add(repeats: false) { record.names.append(name) }
      queue.set(token, to: .zero + .seconds(Int64(second)))
    }
    #expect(queue.next == .zero + .seconds(1))
    run(&queue, at: .zero + .seconds(2))
    #expect(record.names == ["a", "b1", "b2"])
    run(&queue, at: .zero + .seconds(3))
    #expect(record.names == ["a", "b1", "b2", "c"])
    #expect(queue.next == nil)
  }

  @Test func aCancelledTimerDoesNotFireAndItsTokenDoesNotReachTheNextOne() {
    var queue = TimerQueue()
    let record = Record()
    let first = queue.add(repeats: false) { record.names.append("first") }
    queue.set(first, to: .zero)
    queue.remove(first)
    let second = queue.add(repeats: false) { record.names.append("second") }
    queue.set(second, to: .zero)
    queue.remove(first)  // stale
    queue.set(first, to: nil)
    run(&queue, at: .zero)
    #expect(record.names == ["second"])
  }

  @Test func aRepeatingTimerCanBeMovedBothWaysAndSetAgain() {
    var queue = TimerQueue()
    let record = Record()
    let timer = queue.add(repeats: true) { record.names.append("tick") }
    queue.set(timer, to: .zero + .seconds(5))
    queue.set(timer, to: .zero + .seconds(1))
    #expect(queue.next == .zero + .seconds(1))
    queue.set(timer, to: .zero + .seconds(9))
    run(&queue, at: .zero + .seconds(8))
    #expect(record.names.isEmpty)
    run(&queue, at: .zero + .seconds(9))
    queue.set(timer, to: .zero + .seconds(10))
    queue.set(timer, to: nil)
    #expect(queue.next == nil)
    queue.set(timer, to: .zero + .seconds(11))
    run(&queue, at: .zero + .seconds(11))
    #expect(record.names == ["tick", "tick"])
  }

  @Test func aThousandRandomChangesKeepTheOrder() {
    var queue = TimerQueue()
    var random = RandomSource(seed: 7)
    let record = Record()
    var expected: [Int: Int64] = [:]
    var tokens: [TimerToken] = []
    for index in 0..<200 { tokens.append(queue.add(repeats: false) { record.names.append("\(index)") }) }
    for _ in 0..<1_000 {
      let index = Int.random(in: 0..<200, using: &random)
      if Int.random(in: 0..<4, using: &random) == 0 {
        queue.set(tokens[index], to: nil)
        expected[index] = nil
      } else {
        let time = Int64.random(in: 0..<1_000_000, using: &random)
        queue.set(tokens[index], to: Instant(nanoseconds: time))
        expected[index] = time
      }
      #expect(queue.next?.nanoseconds == expected.values.min())
    }
    run(&queue, at: Instant(nanoseconds: 1_000_000))
    #expect(record.names == expected.sorted { $0.value < $1.value }.map { "\($0.key)" })
  }
}
