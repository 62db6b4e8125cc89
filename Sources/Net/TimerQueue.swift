import Base

/// Names one timer of an event loop. A token whose timer has fired or was cancelled names nothing any more, and is harmless to use.
public struct TimerToken: Sendable, Hashable {
  let slot: Int32
  let generation: UInt32
}

/// Timers in order of their deadlines: an indexed binary heap over reused slots, so that moving a deadline allocates nothing. Reads no clock.
struct TimerQueue {
  private struct Slot {
    var deadline = Instant.zero
    var order: UInt64 = 0
    var position = -1  // in the heap; -1 while the timer is idle
    var generation: UInt32 = 0
    var repeats = false
    var work: (() -> Void)?
  }

  private var slots: [Slot] = []
  private var free: [Int] = []
  private var heap: [Int] = []
  private var lastOrder: UInt64 = 0

  /// The earliest deadline.
  var next: Instant? { heap.first.map { slots[$0].deadline } }
  /// How many timers are set.
  var count: Int { heap.count }

  /// A new timer, idle until it is set. One that `repeats` stays after it fired, idle again; another one is gone.
  mutating func add(repeats: Bool, _ work: @escaping () -> Void) -> TimerToken {
    let index = free.popLast() ?? slots.count
    if index == slots.count { slots.append(Slot()) }
    slots[index].work = work
    slots[index].repeats = repeats
    return TimerToken(slot: Int32(index), generation: slots[index].generation)
  }

  /// Sets or moves the timer's deadline; nil makes it idle.
  mutating func set(_ token: TimerToken, to deadline: Instant?) {
    guard let index = index(of: token) else { return }
    guard let deadline else { return takeOut(index) }
    if slots[index].position >= 0, slots[index].deadline == deadline { return }
    lastOrder += 1
    slots[index].deadline = deadline
    slots[index].order = lastOrder
    if slots[index].position < 0 {
      slots[index].position = heap.count
      heap.append(index)
    }
    siftUp(slots[index].position)
    siftDown(slots[index].position)
  }

  /// Removes the timer.
  mutating func remove(_ token: TimerToken) {
    guard let index = index(of: token) else { return }
    takeOut(index)
    release(index)
  }

  /// Takes the earliest timer that is due at `now`, and gives back what it is to do. Timers with the same deadline come in the order they were set.
  mutating func takeDue(_ now: Instant) -> (() -> Void)? {
    guard let index = heap.first, slots[index].deadline <= now else { return nil }
    let work = slots[index].work
    takeOut(index)
    if !slots[index].repeats { release(index) }
    return work
  }

  private func index(of token: TimerToken) -> Int? {
    let index = Int(token.slot)
    guard slots.indices.contains(index), slots[index].generation == token.generation, slots[index].work != nil else { return nil }
    return index
  }

  private mutating func release(_ index: Int) {
    slots[index].generation &+= 1
    slots[index].work = nil
    free.append(index)
  }

  private mutating func takeOut(_ index: Int) {
    let position = slots[index].position
    guard position >= 0 else { return }
    slots[index].position = -1
    let last = heap.removeLast()
    guard last != index else { return }
    heap[position] = last
    slots[last].position = position
    siftUp(position)
    siftDown(slots[last].position)
  }

  private func isBefore(_ a: Int, _ b: Int) -> Bool {
    (slots[a].deadline, slots[a].order) < (slots[b].deadline, slots[b].order)
  }

  private mutating func exchange(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    slots[heap[a]].position = a
    slots[heap[b]].position = b
  }

  private mutating func siftUp(_ start: Int) {
    var position = start
    while position > 0, isBefore(heap[position], heap[(position - 1) / 2]) {
      exchange(position, (position - 1) / 2)
      position = (position - 1) / 2
    }
  }

  private mutating func siftDown(_ start: Int) {
    var position = start
    while true {
      var least = position
      for child in 2 * position + 1...2 * position + 2 where child < heap.count && isBefore(heap[child], heap[least]) { least = child }
      if least == position { return }
      exchange(position, least)
      position = least
    }
  }
}
