/// A first-in, first-out queue that keeps its storage: in steady state it allocates nothing, and both ends take constant time.
public struct Queue<Element: Sendable>: Sendable {
  @usableFromInline var elements: [Element?] = []
  @usableFromInline var head = 0

  /// An empty queue.
  @inlinable public init() {}

  /// Whether nothing waits.
  @inlinable public var isEmpty: Bool { head == elements.count }

  /// Adds an element at the end.
  @inlinable public mutating func append(_ element: Element) { elements.append(element) }

  /// Takes the element that waits longest; nil when there is none.
  @inlinable public mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head].take()
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }
}
