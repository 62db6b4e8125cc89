/// A first-in, first-out queue that keeps its storage. Adding and taking are constant in time, on average.
public struct Queue<Element: Sendable>: Sendable {
  @usableFromInline var elements: [Element?] = []
  @usableFromInline var head = 0

  /// An empty queue.
  @inlinable public init() {}

  /// How many elements wait.
  @inlinable public var count: Int { elements.count - head }
  /// Whether nothing waits.
  @inlinable public var isEmpty: Bool { head == elements.count }

  /// Adds `element` behind all others.
  @inlinable public mutating func append(_ element: Element) { elements.append(element) }

  /// Takes the element that waited longest; nil when there is none.
  @inlinable public mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      if head == elements.count {
        elements.removeAll(keepingCapacity: true)
        head = 0
      } else if head >= 64, head * 2 >= elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head].take()
  }

  /// Drops everything that waits; the storage stays.
  public mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    head = 0
  }
}
