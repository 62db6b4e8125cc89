import Base
import Frames
import Glibc
import Testing

@testable import Sound

struct PlaybackStreamTests {
  private func card(
    _ drift: Double = 0, configuration: PCMConfiguration = PCMConfiguration(channelCount: 1), step: Int = 1, lateness: Interval = .zero
  ) -> SimulatedCard {
    var behaviour = SimulatedCard.Behaviour()
    (behaviour.drift, behaviour.pointerStep) = (drift, step)
    (behaviour.interruptLateness, behaviour.wakeLateness) = (lateness, lateness)
    return SimulatedCard(direction: .playback, configuration: configuration, behaviour: behaviour)
  }

  private static let configurations = [
    PCMConfiguration(rate: 48_000, channelCount: 1),
    PCMConfiguration(rate: 44_100, channelCount: 2, format: .int24Packed, periodFrames: 441),
    PCMConfiguration(rate: 16_000, channelCount: 1, format: .int16, periodFrames: 160, bufferFrames: 3_200),
    PCMConfiguration(rate: 8_000, channelCount: 1, format: .int32, periodFrames: 80, bufferFrames: 1_600),
    PCMConfiguration(rate: 96_000, channelCount: 8, format: .int24, periodFrames: 960, bufferFrames: 19_200),
    PCMConfiguration(rate: 192_000, channelCount: 2, format: .float, periodFrames: 1_920, bufferFrames: 38_400),
  ]

  /// Each block is a piece of a tone by the clock of `due`; what leaves the card is compared with the tone by the times at which it truly leaves.
  private func fill(_ tone: Tone) -> (UnsafeMutableBufferPointer<Int16>, Instant) -> Void {
    { block, due in
      for index in 0..<480 { block[index] = Int16((tone(due + .nanoseconds(Int64(index) * 62_500 / 3)) * 32_767).rounded()) }
    }
  }

  private func listen(_ card: SimulatedCard, delay: Interval, _ each: @escaping (Double, Instant) -> Void) {
    let configuration = card.configuration
    card.listener = { [unowned card] first, frames, count in
      var samples = [Float](repeating: 0, count: count)
      configuration.format.load(frames, channels: configuration.channelCount, into: &samples, channels: 1, frameCount: count)
      for (index, sample) in samples.enumerated() { each(Double(sample), card.time(of: Double(first + index)) - delay) }
    }
  }

  @Test(arguments: configurations, [-200.0, 0, 200])
  func aToneIsHeardInTimeAndPure(configuration: PCMConfiguration, drift: Double) throws {
    let (tone, card) = (Tone(), card(drift, configuration: configuration))
    let rig = try PlaybackRig(card)
    try rig.run(.seconds(4), fill: fill(tone))
    var fit = ToneFit(tone)
    listen(card, delay: rig.stream.tuner.target) { fit.add($0, at: $1) }
    var told = 0.0
    try rig.run(.seconds(1), fill: fill(tone)) { due, heard, _ in
      told = max(told, abs((heard - due - rig.stream.tuner.target).milliseconds))
    }
    // Pointers are whole frames: half of one is unknowable.
    #expect(abs(fit.lateness) < 0.05 + 500 / Double(configuration.rate), "late by \(fit.lateness) ms")
    #expect(told < 0.1, "what `write` tells is what is heard, but for \(told) ms")
    #expect(abs(fit.amplitude - 0.5) < 0.01)
    #expect(fit.purity > 40, "\(fit.purity) dB")
    #expect(rig.stream.figures.xruns == 0)
    #expect(rig.stream.figures.insertedFrames == 0 && rig.stream.figures.discardedFrames == 0)
  }

  @Test func soundIsHeardWithin11MillisecondsOfBeingDue() throws {
    let rig = try PlaybackRig(card(80))
    try rig.run(.seconds(3))
    try rig.run(
      .seconds(30),
      each: { due, heard, now in
        #expect(heard - due < .milliseconds(11))
        #expect(now - due < .microseconds(10))
      })
  }

  @Test func coarsePointersAndLateWakesMakeNoGap() throws {
    let rig = try PlaybackRig(card(-120, step: 192, lateness: .milliseconds(2)))
    try rig.run(.seconds(120))
    #expect(rig.stream.figures.xruns == 0 && rig.stream.figures.insertedFrames == 0 && rig.stream.figures.discardedFrames == 0)
    #expect(rig.stream.tuner.target <= .milliseconds(11))
  }

  @Test func aGapEndsWithTheNextBlockAndTheDelayIsAsBefore() throws {
    let (tone, card) = (Tone(), card(60))
    let rig = try PlaybackRig(card)
    try rig.run(.seconds(5), fill: fill(tone))
    card.now += .milliseconds(40)
    var delays: [Double] = []
    var blocks = 0
    try rig.run(.milliseconds(100), fill: fill(tone)) { due, heard, now in
      blocks += 1
      if now - due < .milliseconds(1) { delays.append((heard - due).milliseconds) }
    }
    #expect(rig.stream.figures.xruns == 1 && card.startCount == 2)
    #expect(delays.count > 5 && delays.allSatisfy { abs($0 - 10) < 1 }, "\(delays)")
    var fit = ToneFit(tone)
    listen(card, delay: rig.stream.tuner.target) { fit.add($0, at: $1) }
    try rig.run(.seconds(1), fill: fill(tone))
    #expect(fit.purity > 40 && abs(fit.lateness) < 0.1, "\(fit.purity) dB, \(fit.lateness) ms")
  }

  @Test func gapsThatRepeatWidenTheRing() throws {
    let card = card(0, lateness: .milliseconds(18))
    let rig = try PlaybackRig(card)
    try rig.run(.seconds(60))
    let (xruns, target) = (rig.stream.figures.xruns, rig.stream.tuner.target)
    #expect(xruns > 0 && target > .milliseconds(13) && target < .milliseconds(30))
    try rig.run(.seconds(60))
    #expect(rig.stream.figures.xruns - xruns <= 3, "\(rig.stream.figures.xruns - xruns) more")
    card.behaviour.wakeLateness = .zero
    try rig.run(.seconds(3_600))
    #expect(rig.stream.tuner.target < .milliseconds(11), "long calm makes it narrow again: \(rig.stream.tuner.target.milliseconds)")
  }

  @Test func whatIsOnItsWayOutsideOfTheRingCounts() throws {
    var behaviour = SimulatedCard.Behaviour()
    behaviour.outsideFrames = 240
    let rig = try PlaybackRig(SimulatedCard(direction: .playback, behaviour: behaviour))
    try rig.run(.seconds(3))
    try rig.run(.seconds(1), each: { due, heard, _ in #expect(abs((heard - due).milliseconds - 15) < 0.5) })
  }

  /// USB keeps some milliseconds on its way, which it takes out of the ring when it starts.
  @Test(arguments: [0, 240, 864])
  func aCardThatTakesALotAtOnceStartsWithoutAGap(prefetch: Int) throws {
    var behaviour = SimulatedCard.Behaviour()
    (behaviour.prefetchFrames, behaviour.pointerStep, behaviour.drift) = (prefetch, 48, 30)
    (behaviour.interruptLateness, behaviour.wakeLateness) = (.microseconds(300), .milliseconds(1))
    let configuration = PCMConfiguration(channelCount: 1, periodFrames: 240, isBatch: true)
    let rig = try PlaybackRig(SimulatedCard(direction: .playback, configuration: configuration, behaviour: behaviour))
    try rig.run(.seconds(20))
    #expect(rig.stream.figures.xruns == 0)
    let kept = rig.stream.tuner.target.milliseconds + Double(prefetch) / 48
    try rig.run(.seconds(1), each: { due, heard, _ in #expect(abs((heard - due).milliseconds - kept) < 1.5) })
    #expect(rig.stream.figures.discardedFrames <= 960 && rig.stream.figures.insertedFrames < 480)
  }

  @Test func anUnpluggedLoudspeakerIsAbsentAndAHungOneStalled() throws {
    let card = card()
    let rig = try PlaybackRig(card)
    try rig.run(.seconds(1))
    card.unplug()
    let error = #expect(throws: SoundError.self) { try rig.run(.seconds(1)) }
    #expect(error?.deviceState.word == "absent")

    let hung = self.card()
    let other = try PlaybackRig(hung)
    try other.run(.seconds(1))
    hung.isHung = true
    let stall = #expect(throws: SoundError.self) { try other.run(.seconds(2)) }
    #expect(stall?.deviceState.word == "failed")
  }
}
