import Base
import Frames

/// Hands each picture of one source to all who want it. Usable from any thread; one thread at a time puts pictures in.
public final class VideoFanOut: Sendable {
  /// What pictures of a source are usually like. A picture says itself how large it is; encoders set themselves up by this.
  public struct Format: Sendable, Equatable {
    /// In pixels.
    public var width, height: Int
    public var framesPerSecond: Double

    /// A format.
    public init(width: Int = 640, height: Int = 360, framesPerSecond: Double = 30) {
      (self.width, self.height, self.framesPerSecond) = (width, height, framesPerSecond)
    }
  }

  /// Takes a picture, on the thread that puts it in. Brief.
  public typealias Sink = @Sendable (VideoFrame) -> Void

  private struct State {
    var sinks: [(identifier: Int, isDemand: Bool, sink: Sink)] = []
    var next = 1
    var newest: VideoFrame?
    var format: Format
    var keepsNewest: Bool
    var demand: Int { sinks.count { $0.isDemand } }
  }

  private let state: Guarded<State>
  private let onDemand: @Sendable (Bool) -> Void

  /// A source without pictures. With `keepsNewest` the newest one is held also while nobody wants any. `onDemand` is told when the first sink
  /// that is no onlooker comes and when the last one goes, by the thread that adds or removes it.
  public init(format: Format = Format(), keepsNewest: Bool = true, onDemand: @escaping @Sendable (_ isWanted: Bool) -> Void = { _ in }) {
    state = Guarded(State(format: format, keepsNewest: keepsNewest))
    self.onDemand = onDemand
  }

  /// What pictures are usually like.
  public var format: Format {
    get { state.with { $0.format } }
    set { state.with { $0.format = newValue } }
  }

  /// The newest picture that is held.
  public var newest: VideoFrame? { state.with { $0.newest } }

  /// How many sinks there are.
  public var sinkCount: Int { state.with { $0.sinks.count } }

  /// Whether anybody wants its pictures, onlookers left out.
  public var isWanted: Bool { state.with { $0.demand > 0 } }

  /// Adds a sink, which gets the newest picture at once so that it need not wait for the next one; returns what `remove` takes.
  ///
  /// An onlooker takes what there is, and does not count as somebody who wants pictures.
  public func add(isOnlooker: Bool = false, _ sink: @escaping Sink) -> Int {
    let (identifier, newest, isFirst) = state.with { state in
      defer { state.next += 1 }
      state.sinks.append((state.next, !isOnlooker, sink))
      return (state.next, state.newest, !isOnlooker && state.demand == 1)
    }
    if isFirst { onDemand(true) }
    if let newest { sink(newest) }
    return identifier
  }

  /// Ends what `add` began. A picture on its way may still arrive.
  public func remove(_ identifier: Int) {
    let (old, isLast) = state.with { state -> (VideoFrame?, Bool) in
      guard let index = state.sinks.firstIndex(where: { $0.identifier == identifier }) else { return (nil, false) }
      let isLast = state.sinks.remove(at: index).isDemand && state.demand == 0
      return (state.sinks.isEmpty && !state.keepsNewest ? state.newest.take() : nil, isLast)
    }
    _ = old  // released outside the lock: it may return memory to a pool
    if isLast { onDemand(false) }
  }

  /// Lets the newest picture go: it is not what there is to see any more.
  public func forgetNewest() {
    let old = state.with { $0.newest.take() }
    _ = old
  }

  /// Hands `frame` on.
  public func put(_ frame: VideoFrame) {
    let (sinks, old) = state.with { state in
      let old = state.newest
      if state.keepsNewest || !state.sinks.isEmpty { state.newest = frame }
      return (state.sinks, old)
    }
    _ = old
    for entry in sinks { entry.sink(frame) }
  }
}
