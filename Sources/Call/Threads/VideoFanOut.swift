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
    var sinks: [(identifier: Int, sink: Sink)] = []
    var next = 1
    var newest: VideoFrame?
    var format: Format
    var keepsNewest: Bool
  }

  private let state: Guarded<State>

  /// A source without pictures. With `keepsNewest` the newest one is held also while nobody wants any, and a new sink gets it at once.
  public init(format: Format = Format(), keepsNewest: Bool = true) { state = Guarded(State(format: format, keepsNewest: keepsNewest)) }

  /// What pictures are usually like.
  public var format: Format {
    get { state.with { $0.format } }
    set { state.with { $0.format = newValue } }
  }

  /// The newest picture that is held.
  public var newest: VideoFrame? { state.with { $0.newest } }

  /// How many sinks there are.
  public var sinkCount: Int { state.with { $0.sinks.count } }

  /// Adds a sink, which gets the newest picture at once so that it need not wait for the next one; returns what `remove` takes.
  public func add(_ sink: @escaping Sink) -> Int {
    let (identifier, newest) = state.with { state in
      defer { state.next += 1 }
      state.sinks.append((state.next, sink))
      return (state.next, state.newest)
    }
    if let newest { sink(newest) }
    return identifier
  }

  /// Ends what `add` began. A picture on its way may still arrive.
  public func remove(_ identifier: Int) {
    let old = state.with { state -> VideoFrame? in
      state.sinks.removeAll { $0.identifier == identifier }
      guard state.sinks.isEmpty, !state.keepsNewest else { return nil }
      return state.newest.take()
    }
    _ = old  // released outside the lock: it may return memory to a pool
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

  /// Holds the newest picture from now on also while nobody wants any, or no more.
  public func setKeepsNewest(_ keeps: Bool) {
    let old = state.with { state -> VideoFrame? in
      state.keepsNewest = keeps
      return keeps || !state.sinks.isEmpty ? nil : state.newest.take()
    }
    _ = old
  }
}
