import Base
import RTP

/// Keeps the sound and the picture of one sender together: says how much longer than they need to either of them should be held.
///
/// Sound that is early by up to 45 ms or late by up to 125 ms is not noticed (ITU-R BT.1359, detectability). So neither is held while they are
/// within those bounds; beyond them the one that is ahead waits for as long as it takes to be just inside. Both are compared as they would be played
/// without being held. So holding one never is a reason to hold the other, and what is held is let go when the reason has gone.
///
/// Sans-IO: positions of playout and the sender's clocks go in, the least delays of both come out. Those change by a tenth of the time that passes.
public struct LipSync: Sendable {
  /// The least playout delays, behind the fastest packets or frames of the last seconds; zero: as soon as can be.
  public struct Delays: Sendable, Equatable {
    /// For `AudioJitterBuffer.Configuration.synchronizationDelay`.
    public var audio = Interval.zero
    /// For `VideoSchedule.synchronizationDelay`.
    public var video = Interval.zero

    /// No delays.
    public init() {}
  }

  /// How early sound may be: the bound less what playout and measurement deviate by.
  static let earliest = Interval.milliseconds(30)
  /// How late it may be.
  static let latest = Interval.milliseconds(100)
  /// Reports that lie further apart than the network's jitter tell of two clocks, or of one that was set in between.
  private static let clockTolerance = Interval.milliseconds(250)
  /// How long clocks may disagree before they are taken for two: longer than reports are apart.
  private static let clockPatience = Interval.seconds(10)
  /// Streams that lie further apart, but for what an application asked for, do not exist: a clock is wrong.
  private static let credible = Interval.seconds(1)
  /// After so long without news of the one the other is let go.
  private static let patience = Interval.seconds(5)
  /// How much of the time that passes a delay may change by.
  private static let pace = 0.1
  private static let windowCount = 64
  private static let window = Interval.seconds(3)

  /// What is known of one stream. Transits go from capture, by the sender's clock, to playout; their origin means nothing.
  private struct Stream: Sendable {
    /// As it is played.
    var transit: Interval
    /// As it would be without lip sync.
    var naturalTransit: Interval
    /// Over the fastest way.
    var fastest: Interval
    var clock: SenderClock
    var noted: Instant

    init(_ position: PlayoutPosition, _ clock: SenderClock, now: Instant) {
      transit = (position.time - .zero) - .nanoseconds(clock.captureTime(of: position.timestamp).unixNanoseconds)
      fastest = transit - position.delay
      naturalTransit = fastest + position.naturalDelay
      (self.clock, noted) = (clock, now)
    }

    /// The sender's clock less this side's: the same for all its streams, but for the network's jitter.
    var clockOffset: Interval { .nanoseconds(clock.ntpTime.unixNanoseconds) - (clock.arrival - .zero) }
  }

  /// The delays to be held now.
  public private(set) var delays = Delays()
  /// How much later than its picture the sound is played now; nil while that is not known.
  public private(set) var soundLag: Interval?

  private var sound: Stream?
  private var picture: Stream?
  /// The natural transits of the last pictures: that a large one takes longer is no reason to hold the sound.
  private var transits: [(noted: Instant, transit: Interval)] = []
  private var position = 0
  private var sorted: [Interval] = []
  /// By how much either is held beyond its natural delay.
  private var held = Delays()
  private var updated: Instant?
  private var disagreement: Instant?

  /// Nothing is known yet.
  public init() {
    transits.reserveCapacity(LipSync.windowCount)
    sorted.reserveCapacity(LipSync.windowCount)
  }

  /// Where the sound stands, and the clock of its stream.
  public mutating func noteSound(_ position: PlayoutPosition, clock: SenderClock, now: Instant) {
    sound = Stream(position, clock, now: now)
  }

  /// Where the picture stands, and the clock of its stream. For each frame.
  public mutating func notePicture(_ position: PlayoutPosition, clock: SenderClock, now: Instant) {
    let stream = Stream(position, clock, now: now)
    if let before = picture, !LipSync.agree(before.clockOffset, stream.clockOffset) {
      transits.removeAll(keepingCapacity: true)  // they were measured with another clock
      self.position = 0
    }
    picture = stream
    if transits.count < LipSync.windowCount {
      transits.append((now, stream.naturalTransit))
    } else {
      transits[self.position] = (now, stream.naturalTransit)
    }
    self.position = (self.position + 1) % LipSync.windowCount
  }

  /// Moves the delays on to where they should be. To be called some times a second.
  public mutating func update(now: Instant) {
    let step = (updated.map { min(now - $0, .seconds(1)) } ?? .zero) * LipSync.pace
    updated = now
    let typical = typicalTransit(now: now)
    guard let wanted = wanted(typicalTransit: typical, now: now) else { return }
    held.audio = max(held.audio - step, min(held.audio + step, wanted.audio))
    held.video = max(held.video - step, min(held.video + step, wanted.video))
    delays = Delays()
    if held.audio > .zero, let sound { delays.audio = sound.naturalTransit - sound.fastest + held.audio }
    if held.video > .zero, let picture, let typical { delays.video = typical - picture.fastest + held.video }
  }

  /// By how much either should be held; nil while there is no telling.
  private mutating func wanted(typicalTransit: Interval?, now: Instant) -> Delays? {
    soundLag = nil
    guard let sound, let picture, let typicalTransit, now - sound.noted < LipSync.patience, now - picture.noted < LipSync.patience else {
      return Delays()
    }
    guard LipSync.agree(sound.clockOffset, picture.clockOffset) else {
      let since = disagreement ?? now
      disagreement = since
      return now - since > LipSync.clockPatience ? Delays() : nil
    }
    disagreement = nil
    soundLag = sound.transit - picture.transit
    let lag = sound.naturalTransit - typicalTransit
    let asked = max(sound.naturalTransit - sound.fastest, typicalTransit - picture.fastest)
    guard max(lag, .zero - lag) < LipSync.credible + asked else { return Delays() }
    var wanted = Delays()
    wanted.audio = max(.zero, .zero - lag - LipSync.earliest)
    wanted.video = max(.zero, lag - LipSync.latest)
    return wanted
  }

  private static func agree(_ offset: Interval, _ other: Interval) -> Bool {
    max(offset - other, other - offset) < LipSync.clockTolerance
  }

  /// The median of the last seconds.
  private mutating func typicalTransit(now: Instant) -> Interval? {
    sorted.removeAll(keepingCapacity: true)
    for sample in transits where now - sample.noted < LipSync.window { sorted.append(sample.transit) }
    sorted.sort()
    return sorted.isEmpty ? picture?.naturalTransit : sorted[sorted.count / 2]
  }
}
