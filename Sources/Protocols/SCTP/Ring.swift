/// A double-ended queue of which only the front leaves and only the back grows: constant time, no allocation once it is large enough.
struct Ring<Element: Sendable>: Sendable {
  private var slots: [Element?]
  private var head = 0
  /// How many elements there are.
  private(set) var count = 0

  /// An empty ring. `minimumCapacity` is rounded up to a power of two.
  init(minimumCapacity: Int = 4) {
    var capacity = 4
    while capacity < minimumCapacity { capacity *= 2 }
    slots = Array(repeating: nil, count: capacity)
  }

  /// Whether there is no element.
  var isEmpty: Bool { count == 0 }
  /// The front element.
  var first: Element? { count == 0 ? nil : slots[head] }

  @inline(__always) private func slot(_ index: Int) -> Int { (head &+ index) & (slots.count &- 1) }

  /// The element `index` places behind the front.
  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count, "ring index out of range")
      return slots[slot(index)]!
    }
    _modify {
      precondition(index >= 0 && index < count, "ring index out of range")
      yield &slots[slot(index)]!
    }
  }

  /// Adds `element` at the back.
  mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[slot(count)] = element
    count += 1
  }

  /// Takes the front element.
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    var element: Element?
    swap(&element, &slots[head])
    head = (head + 1) & (slots.count - 1)
    count -= 1
    return element
  }

  /// Drops all elements; the storage stays.
  mutating func removeAll() { while popFirst() != nil {} }

  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(slots.count * 2)
    for index in 0..<count { larger.append(slots[slot(index)]) }
    larger.append(contentsOf: repeatElement(nil, count: slots.count * 2 - count))
    (slots, head) = (larger, 0)
  }
}
