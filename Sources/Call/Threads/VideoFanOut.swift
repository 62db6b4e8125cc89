import Base
import Codecs
import Frames

/// Hands each picture of one source to all who want it. Usable from any thread; one thread at a time puts pictures in.
///
/// A source that codes its pictures itself also hands out access units, to those who can send them as they are; pictures it makes only while somebody
/// needs them.
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
  /// Takes an access unit, on the thread that puts it in; nil: there are no more, and if others come, they are another stream. Brief.
  public typealias UnitSink = @Sendable (AccessUnit?) -> Void

  private struct Entry {
    var identifier: Int
    var isDemand: Bool
    var needs: VideoNeeds
    var sink: Sink
    var units: UnitSink?
  }

  private struct State {
    var entries: [Entry] = []
    var next = 1
    var newest: VideoFrame?
    var format: Format
    var unitFormat: AccessUnit.Format?
    var givesUnits = false
    var keepsNewest: Bool
    var isKeyFrameWanted = false
    var demand: Int { entries.count { $0.isDemand } }
    var needs: VideoNeeds { entries.reduce(VideoNeeds(pictures: false)) { $0.joined(with: $1.needs) } }
  }

  private let state: Guarded<State>
  private let onDemand: @Sendable (Bool) -> Void
  private let onNeeds: @Sendable () -> Void

  /// A source without pictures. With `keepsNewest` the newest one is held also while nobody wants any. `onDemand` is told when the first sink that is
  /// no onlooker comes and when the last one goes, `onNeeds` when `needs` may have changed or a key frame is wanted, by the thread that makes it so.
  public init(
    format: Format = Format(), keepsNewest: Bool = true, onDemand: @escaping @Sendable (_ isWanted: Bool) -> Void = { _ in },
    onNeeds: @escaping @Sendable () -> Void = {}
  ) {
    state = Guarded(State(format: format, keepsNewest: keepsNewest))
    (self.onDemand, self.onNeeds) = (onDemand, onNeeds)
  }

  /// What pictures are usually like.
  public var format: Format {
    get { state.with { $0.format } }
    set { state.with { $0.format = newValue } }
  }

  /// The newest picture that is held.
  public var newest: VideoFrame? { state.with { $0.newest } }

  /// How many sinks there are.
  public var sinkCount: Int { state.with { $0.entries.count } }

  /// Whether anybody wants its pictures, onlookers left out.
  public var isWanted: Bool { state.with { $0.demand > 0 } }

  /// What all together need.
  public var needs: VideoNeeds { state.with { $0.needs } }

  /// What access units are that it gives now; nil: it gives none, or such as nobody sends on.
  public var unitFormat: AccessUnit.Format? { state.with { $0.unitFormat } }

  /// Whether it gives access units now.
  public var givesUnits: Bool { state.with { $0.givesUnits } }

  /// Adds a sink, which gets the newest picture at once so that it need not wait for the next one; returns what `remove` takes.
  ///
  /// An onlooker takes what there is, and does not count as somebody who wants pictures.
  public func add(isOnlooker: Bool = false, _ sink: @escaping Sink) -> Int {
    add(isOnlooker: isOnlooker, needs: VideoNeeds(), units: nil, pictures: sink)
  }

  /// Adds a sink that gets access units wherever there are any, and pictures while it needs them.
  public func add(needs: VideoNeeds, units: @escaping UnitSink, pictures: @escaping Sink) -> Int {
    add(isOnlooker: false, needs: needs, units: units, pictures: pictures)
  }

  private func add(isOnlooker: Bool, needs: VideoNeeds, units: UnitSink?, pictures: @escaping Sink) -> Int {
    let (identifier, newest, isFirst) = state.with { state in
      defer { state.next += 1 }
      state.entries.append(Entry(identifier: state.next, isDemand: !isOnlooker, needs: needs, sink: pictures, units: units))
      return (state.next, needs.pictures ? state.newest : nil, !isOnlooker && state.demand == 1)
    }
    if isFirst { onDemand(true) }
    onNeeds()
    if let newest { pictures(newest) }
    return identifier
  }

  /// Changes what a sink needs. One that needs pictures from now on gets the newest at once.
  public func setNeeds(_ needs: VideoNeeds, of identifier: Int) {
    let (isChange, missed) = state.with { state -> (Bool, (sink: Sink, frame: VideoFrame)?) in
      guard let index = state.entries.firstIndex(where: { $0.identifier == identifier }) else { return (false, nil) }
      let old = state.entries[index]
      state.entries[index].needs = needs
      return (old.needs != needs, needs.pictures && !old.needs.pictures ? state.newest.map { (old.sink, $0) } : nil)
    }
    if isChange { onNeeds() }
    if let missed { missed.sink(missed.frame) }
  }

  /// Ends what `add` began. A picture on its way may still arrive.
  public func remove(_ identifier: Int) {
    let (old, isLast) = state.with { state -> (VideoFrame?, Bool) in
      guard let index = state.entries.firstIndex(where: { $0.identifier == identifier }) else { return (nil, false) }
      let isLast = state.entries.remove(at: index).isDemand && state.demand == 0
      return (state.entries.isEmpty && !state.keepsNewest ? state.newest.take() : nil, isLast)
    }
    _ = old  // released outside the lock: it may return memory to a pool
    if isLast { onDemand(false) }
    onNeeds()
  }

  /// Lets the newest picture go: it is not what there is to see any more.
  public func forgetNewest() {
    let old = state.with { $0.newest.take() }
    _ = old
  }

  /// Hands `frame` on to all who need pictures.
  public func put(_ frame: VideoFrame) {
    let (entries, old) = state.with { state in
      let old = state.newest
      if state.keepsNewest || !state.entries.isEmpty { state.newest = frame }
      return (state.entries, old)
    }
    _ = old
    for entry in entries where entry.needs.pictures { entry.sink(frame) }
  }

  /// Hands an access unit on to all who take them.
  public func put(_ unit: AccessUnit) {
    let (entries, old) = state.with { state -> ([Entry], VideoFrame?) in
      (state.unitFormat, state.givesUnits) = (unit.format, true)
      // Without anybody who needs pictures none is made, and the newest one would grow old.
      return (state.entries, state.needs.pictures ? nil : state.newest.take())
    }
    _ = old
    for entry in entries { entry.units?(unit) }
  }

  /// Tells that no more access units come, or that those that come are another stream.
  public func endUnits() {
    let entries = state.with { state -> [Entry] in
      guard state.givesUnits else { return [] }
      (state.unitFormat, state.givesUnits) = (nil, false)
      return state.entries
    }
    for entry in entries { entry.units?(nil) }
  }

  /// Asks for an access unit that a decoder can begin with.
  public func requestKeyFrame() {
    state.with { $0.isKeyFrameWanted = true }
    onNeeds()
  }

  /// Whether a key frame was asked for since the last call.
  public func takeKeyFrameRequest() -> Bool {
    state.with { state in
      defer { state.isKeyFrameWanted = false }
      return state.isKeyFrameWanted
    }
  }
}
