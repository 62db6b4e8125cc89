import Base
import Testing

@Suite struct QueueTests {
  @Test func elementsLeaveInTheOrderInWhichTheyCame() {
    var queue = Queue<Int>()
    var (next, expected) = (0, 0)
    // Filled faster than emptied, then emptied: the storage moves several times.
    for round in 0..<500 {
      for _ in 0..<(round < 250 ? 3 : 1) {
        queue.append(next)
        next += 1
      }
      for _ in 0..<2 where !queue.isEmpty {
        #expect(queue.popFirst() == expected)
        expected += 1
      }
      #expect(queue.count == next - expected)
    }
    while let element = queue.popFirst() {
      #expect(element == expected)
      expected += 1
    }
    #expect(expected == next)
    #expect(queue.isEmpty)
  }

  @Test func aClearedQueueStartsAnew() {
    var queue = Queue<String>()
    queue.append("a")
    queue.append("b")
    #expect(queue.popFirst() == "a")
    queue.removeAll()
    #expect(queue.isEmpty && queue.popFirst() == nil)
    queue.append("c")
    #expect(queue.popFirst() == "c")
  }
}
