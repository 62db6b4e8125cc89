import Frames
import Synchronization
import Testing

@Suite struct SlotRingTests {
  @Test func keepsOrderAndCountsWhatFindsNoRoom() {
    let ring = SlotRing(capacity: 3, of: 0)
    for value in 1...5 { ring.put { unsafe $0.pointee = value } }
    #expect(ring.count == 3 && ring.droppedCount == 2)
    var taken: [Int] = []
    while ring.take({ unsafe taken.append($0.pointee) }) {}
    #expect(taken == [1, 2, 3])
    #expect(ring.put { unsafe $0.pointee = 6 })
    #expect(ring.take { unsafe taken.append($0.pointee) })
    #expect(taken.last == 6 && ring.count == 0)
  }

  @Test func twoThreadsLoseNothing() async {
    let ring = SlotRing(capacity: 8, of: (number: 0, square: 0))
    let total = 200_000
    async let sum = Task.detached {
      var (seen, expected) = (0, 1)
      while expected <= total {
        ring.take { slot in
          if unsafe slot.pointee.number == expected, unsafe slot.pointee.square == expected &* expected { seen += 1 }
          expected += 1
        }
      }
      return seen
    }.value
    var number = 1
    while number <= total {
      if ring.put({ unsafe $0.pointee = (number, number &* number) }) { number += 1 } else { await Task.yield() }
    }
    #expect(await sum == total)
  }
}

@Suite struct LatestValueTests {
  @Test func isTheNewest() {
    let latest = LatestValue(1)
    #expect(latest.value == 1)
    latest.set(2)
    latest.set(3)
    #expect(latest.value == 3 && latest.value == 3)
  }

  @Test func isNeverTorn() async {
    let latest = LatestValue((0, 0, 0, 0))
    final class Flag: Sendable { let value = Atomic(false) }
    let isDone = Flag()
    await withTaskGroup { group in
      group.addTask {
        for number in 1...300_000 { latest.set((number, number, number, number)) }
        isDone.value.store(true, ordering: .releasing)
      }
      for _ in 0..<2 {
        group.addTask {
          var last = 0
          while !isDone.value.load(ordering: .acquiring) {
            let value = latest.value
            #expect(value.0 == value.1 && value.1 == value.2 && value.2 == value.3 && value.0 >= last)
            last = value.0
          }
        }
      }
    }
    #expect(latest.value.0 == 300_000)
  }
}
