import Base
import Testing

@Suite struct QueueTests {
  @Test func `elements leave in the order in which they came, however many wait`() {
    var queue = Queue<Int>()
    var (next, expected) = (0, 0)
    // It grows to some hundred, so that its front is moved up many times, and runs empty at the end.
    for round in 0..<400 {
      for _ in 0..<(round < 200 ? 5 : 1) {
        queue.append(next)
        next += 1
      }
      for _ in 0..<3 where expected < next {
        #expect(queue.popFirst() == expected)
        expected += 1
      }
    }
    while let element = queue.popFirst() {
      #expect(element == expected)
      expected += 1
    }
    #expect(expected == next && queue.isEmpty)
    #expect(queue.popFirst() == nil)
  }

  @Test func `what was taken is let go of`() {
    final class Held: Sendable {}
    var queue = Queue<Held>()
    weak var held: Held?
    do {
      let object = Held()
      held = object
      queue.append(object)
      queue.append(Held())
    }
    #expect(held != nil)
    _ = queue.popFirst()
    #expect(held == nil)
  }
}
