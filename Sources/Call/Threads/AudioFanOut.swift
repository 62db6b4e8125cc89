import Frames

/// Hands each 10 ms block of one source to all who want it. Usable from any thread; one thread at a time puts blocks in.
public final class AudioFanOut: Sendable {
  /// Takes a block, on the thread that puts it in. Brief.
  public typealias Sink = @Sendable (AudioBlock) -> Void

  private let state = Guarded<(sinks: [(identifier: Int, sink: Sink)], next: Int)>(([], 1))

  private let onDemand: @Sendable (Bool) -> Void

  /// A source without sinks. `onDemand` is told when the first sink comes and when the last one goes, by the thread that adds or removes it.
  public init(onDemand: @escaping @Sendable (_ isWanted: Bool) -> Void = { _ in }) { self.onDemand = onDemand }

  /// How many sinks there are.
  public var sinkCount: Int { state.with { $0.sinks.count } }

  /// Adds a sink; returns what `remove` takes.
  public func add(_ sink: @escaping Sink) -> Int {
    let (identifier, isFirst) = state.with { state in
      defer { state.next += 1 }
      state.sinks.append((state.next, sink))
      return (state.next, state.sinks.count == 1)
    }
    if isFirst { onDemand(true) }
    return identifier
  }

  /// Ends what `add` began. A block on its way may still arrive.
  public func remove(_ identifier: Int) {
    let isLast = state.with { state in
      guard let index = state.sinks.firstIndex(where: { $0.identifier == identifier }) else { return false }
      state.sinks.remove(at: index)
      return state.sinks.isEmpty
    }
    if isLast { onDemand(false) }
  }

  /// Hands `block` on.
  public func put(_ block: AudioBlock) {
    for entry in state.with({ $0.sinks }) { entry.sink(block) }
  }
}
