import Base
import Glibc

/// A sound card that is not there: one direction of it, with a clock of its own, in virtual time that passes when its stream waits. For
/// tests and measurements.
public final class SimulatedCard: PCM {
  /// How the card differs from a perfect one.
  public struct Behaviour: Sendable {
    /// How much faster than it claims it runs, in millionths.
    public var drift = 0.0
    /// In how many frames its pointer moves; 0: in whole ones.
    public var pointerStep = 0
    /// How late an interrupt is at most.
    public var interruptLateness = Interval.zero
    /// How late a thread wakes at most.
    public var wakeLateness = Interval.zero
    /// Frames on their way outside of the ring.
    public var outsideFrames = 0
    /// Frames that a loudspeaker's card takes out of the ring at once when it starts, as USB does: its pointer runs ahead by them.
    public var prefetchFrames = 0

    /// A perfect card.
    public init() {}
  }

  /// Tells the sample that is captured at a time, full scale at 1.
  public typealias Voice = (Instant) -> Float
  /// Takes frames that were written: the first one's number since the start, and how many.
  public typealias Listener = (_ first: Int, _ frames: UnsafeRawPointer, _ count: Int) -> Void

  public let label: String
  public let direction: SoundDirection
  public let configuration: PCMConfiguration
  /// How the card differs from a perfect one, now.
  public var behaviour: Behaviour { didSet { if behaviour.drift != oldValue.drift { changeRate() } } }
  /// The virtual time.
  public var now = Instant.zero + .seconds(100)
  /// What a microphone hears; silence without it.
  public var voice: Voice?
  /// Who hears a loudspeaker.
  public var listener: Listener?
  /// Whether no frame moves any more, without an error.
  public var isHung = false { didSet { if isHung != oldValue { changeRate() } } }
  /// How often it was started.
  public private(set) var startCount = 0

  private enum State { case prepared, running, empty, gone }
  /// A stretch of time in which the card ran evenly.
  private struct Stretch {
    var time: Instant
    var position: Double
    var rate: Double
  }

  private var state = State.prepared
  /// The stretch that lasts, and the few before it.
  private var current: Stretch?
  private var earlier: [Stretch] = []
  private var random: RandomSource
  /// Frames read or written, and where the pointer was when it was last looked at.
  private var application = 0
  private var hardware = 0
  private var updateTime = Instant.zero
  private var nextInterrupt: (number: Int, time: Instant)?

  /// A card that nobody uses.
  public init(
    direction: SoundDirection, configuration: PCMConfiguration = PCMConfiguration(channelCount: 1), behaviour: Behaviour = Behaviour(),
    label: String = "simulated card", seed: UInt64 = 1
  ) {
    (self.direction, self.configuration, self.behaviour, self.label) = (direction, configuration, behaviour, label)
    random = RandomSource(seed: seed)
  }

  /// Takes the card away. It does not come back.
  public func unplug() { state = .gone }

  /// When the card's frame `position` was or will be captured or played, unless its clock changes.
  public func time(of position: Double) -> Instant {
    guard let current else { return now }
    let stretch = current.position <= position ? current : earlier.last { $0.position <= position } ?? earlier.first ?? current
    return stretch.rate > 0 ? stretch.time + .seconds((position - stretch.position) / stretch.rate) : stretch.time
  }

  /// Where the card truly is at `time`.
  public func position(at time: Instant) -> Double {
    guard let current else { return 0 }
    let stretch = current.time <= time ? current : earlier.last { $0.time <= time } ?? earlier.first ?? current
    return stretch.position + (time - stretch.time).seconds * stretch.rate
  }

  public func start() -> Int32 {
    guard state != .gone else { return PCMError.noDevice }
    guard state == .prepared, direction == .capture || application > 0 else { return PCMError.wrongState }
    state = .running
    startCount += 1
    current = Stretch(time: now, position: 0, rate: rate)
    updateTime = now
    scheduleInterrupt(1)
    return 0
  }

  public func recover(from error: Int32) -> Int32 {
    guard state != .gone else { return PCMError.noDevice }
    state = .prepared
    (application, hardware, updateTime, nextInterrupt, current) = (0, 0, now, nil, nil)
    // As a real card, it does not allocate while it is in use.
    earlier.removeAll(keepingCapacity: true)
    return 0
  }

  public func available() -> Int {
    ask()
    if let error { return error }
    return direction == .capture ? hardware - application : configuration.bufferFrames - application + hardware
  }

  public func delay() -> Int {
    ask()
    if let error { return error }
    let onTheirWay = behaviour.outsideFrames + behaviour.prefetchFrames
    return (direction == .capture ? hardware - application : application - hardware) + onTheirWay
  }

  public func lastUpdate() -> PCMUpdate {
    interrupt()
    let available = direction == .capture ? hardware - application : configuration.bufferFrames - application + hardware
    return PCMUpdate(available: available, time: updateTime)
  }

  public func read(into frames: UnsafeMutableRawPointer, count: Int) -> Int {
    ask()
    if let error { return error }
    let count = min(count, hardware - application)
    guard count > 0 else { return Int(PCMError.wouldBlock) }
    if let voice {
      for frame in 0..<count {
        var sample = voice(time(of: Double(application + frame)))
        for channel in 0..<configuration.channelCount {
          unsafe configuration.format.store(
            &sample, channels: 1, into: frames + (frame * configuration.channelCount + channel) * configuration.format.size, channels: 1,
            frameCount: 1)
        }
      }
    } else {
      unsafe memset(frames, 0, count * configuration.frameSize)
    }
    application += count
    return count
  }

  public func write(_ frames: UnsafeRawPointer, count: Int) -> Int {
    ask()
    if let error { return error }
    let count = min(count, configuration.bufferFrames - application + hardware)
    guard count > 0 else { return Int(PCMError.wouldBlock) }
    unsafe listener?(application, frames, count)
    application += count
    return count
  }

  public func wait(until deadline: Instant) {
    let late = deadline + random(behaviour.wakeLateness)
    if late > now { now = late }
  }

  private var rate: Double { isHung ? 0 : Double(configuration.rate) * (1 + behaviour.drift / 1e6) }

  private var error: Int? {
    switch state {
    case .prepared, .running: nil
    case .empty: Int(PCMError.xrun)
    case .gone: Int(PCMError.noDevice)
    }
  }

  private func random(_ most: Interval) -> Interval {
    most == .zero ? .zero : .nanoseconds(Int64.random(in: 0...most.nanoseconds, using: &random))
  }

  private func changeRate() {
    guard state == .running else { return }
    interrupt()
    let next = Stretch(time: now, position: position(at: now), rate: rate)
    if let current { earlier.append(current) }
    if earlier.count > 3 { earlier.removeFirst() }
    current = next
    if let nextInterrupt { scheduleInterrupt(nextInterrupt.number) }
  }

  private func scheduleInterrupt(_ number: Int) {
    guard rate > 0 else {
      nextInterrupt = nil
      return
    }
    nextInterrupt = (number, time(of: Double(number * configuration.periodFrames)) + random(behaviour.interruptLateness))
  }

  /// All interrupts until now.
  private func interrupt() {
    while state == .running, let next = nextInterrupt, next.time <= now {
      look(at: next.time)
      scheduleInterrupt(next.number + 1)
    }
  }

  private func ask() {
    interrupt()
    if state == .running { look(at: now) }
  }

  private func look(at time: Instant) {
    let exact = Int(position(at: time))
    let step = max(1, behaviour.pointerStep)
    hardware = max(hardware, exact / step * step + (direction == .playback ? behaviour.prefetchFrames : 0))
    updateTime = time
    let isEmpty = direction == .capture ? hardware - application > configuration.bufferFrames : hardware >= application
    if isEmpty { state = .empty }
  }
}
