import Frames

/// Hands each 10 ms block of one source to all who want it. Usable from any thread; one thread at a time puts blocks in.
public final class AudioFanOut: Sendable {
  /// Takes a block, on the thread that puts it in. Brief.
  public typealias Sink = @Sendable (AudioBlock) -> Void

  private let state = Guarded<(sinks: [(identifier: Int, sink: Sink)], next: Int)>(([], 1))

  /// A source without sinks.
  public init() {}

  /// How many sinks there are.
  public var sinkCount: Int { state.with { $0.sinks.count } }

  /// Adds a sink; returns what `remove` takes.
  public func add(_ sink: @escaping Sink) -> Int {
    state.with { state in
      defer { state.next += 1 }
      state.sinks.append((state.next, sink))
      return state.next
    }
  }

  /// Ends what `add` began. A block on its way may still arrive.
  public func remove(_ identifier: Int) { state.with { $0.sinks.removeAll { $0.identifier == identifier } } }

  /// Hands `block` on.
  public func put(_ block: AudioBlock) {
    for entry in state.with({ $0.sinks }) { entry.sink(block) }
  }
}
