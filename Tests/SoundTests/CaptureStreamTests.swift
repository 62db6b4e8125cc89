import Base
import Frames
import Glibc
import Testing

@testable import Sound

struct CaptureStreamTests {
  private func card(
    _ drift: Double = 0, configuration: PCMConfiguration = PCMConfiguration(channelCount: 1), step: Int = 1, lateness: Interval = .zero
  ) -> SimulatedCard {
    var behaviour = SimulatedCard.Behaviour()
    (behaviour.drift, behaviour.pointerStep) = (drift, step)
    (behaviour.interruptLateness, behaviour.wakeLateness) = (lateness, lateness)
    return SimulatedCard(direction: .capture, configuration: configuration, behaviour: behaviour)
  }

  private static let configurations = [
    PCMConfiguration(rate: 48_000, channelCount: 1),
    PCMConfiguration(rate: 44_100, channelCount: 2, format: .int24Packed, periodFrames: 441),
    PCMConfiguration(rate: 16_000, channelCount: 1, format: .int16, periodFrames: 160, bufferFrames: 3_200),
    PCMConfiguration(rate: 8_000, channelCount: 1, format: .int32, periodFrames: 80, bufferFrames: 1_600),
    PCMConfiguration(rate: 96_000, channelCount: 8, format: .int24, periodFrames: 960, bufferFrames: 19_200),
    PCMConfiguration(rate: 192_000, channelCount: 2, format: .float, periodFrames: 1_920, bufferFrames: 38_400),
  ]

  /// Whatever the card's rate, format and drift: the sound inside is the sound outside, sample by sample on the machine's clock.
  @Test(arguments: configurations, [-200.0, 0, 200])
  func aToneKeepsItsPlaceInTime(configuration: PCMConfiguration, drift: Double) throws {
    let (tone, card) = (Tone(), card(drift, configuration: configuration))
    card.voice = { tone($0) }
    let rig = try CaptureRig(card)
    try rig.run(.seconds(2))
    var fit = ToneFit(tone)
    try rig.run(.seconds(1)) { block, time, _ in
      for index in 0..<480 { fit.add(Double(block[index]) / 32_768, at: time + .nanoseconds(Int64(index) * 62_500 / 3)) }
    }
    // Pointers are whole frames: half of one is unknowable.
    #expect(abs(fit.lateness) < 0.05 + 500 / Double(configuration.rate), "late by \(fit.lateness) ms")
    #expect(abs(fit.amplitude - 0.5) < 0.01)
    #expect(fit.purity > 40, "\(fit.purity) dB")
    #expect(rig.stream.figures.xruns == 0)
    #expect(rig.stream.figures.insertedFrames == 0)
  }

  @Test func blocksLieOnTheClocksTensAndAreThereWhenTheirLastSampleIs() throws {
    let rig = try CaptureRig(card(150))
    try rig.run(.seconds(3))
    var next: Instant?
    try rig.run(.seconds(20)) { _, time, now in
      let off = abs((time - Instant.zero).nanoseconds % 10_000_000 - 5_000_000)
      #expect(off > 4_950_000, "a block begins \(5_000_000 - off) ns beside the grid")
      if let next { #expect(abs((time - next).milliseconds) < 0.05) }
      next = time + .milliseconds(10)
      // The block, the converter's 0.42 ms, and the millisecond between two looks.
      #expect((now - time).milliseconds < 11.6)
    }
    #expect(rig.blocks == 2_300 || rig.blocks == 2_299 || rig.blocks == 2_298)
  }

  @Test func aPointerThatMovesInJiffiesDelaysByAtMostOne() throws {
    let card = card(0, step: 192, lateness: .microseconds(200))
    let rig = try CaptureRig(card)
    try rig.run(.seconds(10))
    var worst = 0.0
    try rig.run(.seconds(30)) { _, time, now in worst = max(worst, (now - time).milliseconds) }
    // The stream cannot know which frames of a step are old: its times are off by half a step on average, which is not a delay.
    #expect(worst < 17, "\(worst) ms")
    #expect(rig.stream.figures.insertedFrames == 0 && rig.stream.figures.xruns == 0)
  }

  @Test func whoSleepsTooLongLosesSoundButNotTime() throws {
    let (tone, card) = (Tone(), card(100))
    card.voice = { tone($0) }
    let rig = try CaptureRig(card)
    try rig.run(.seconds(5))
    let before = rig.blocks
    var times: [Instant] = []
    var silent = 0
    card.now += .milliseconds(330)  // the ring holds 200
    try rig.run(.milliseconds(670)) { block, time, _ in
      times.append(time)
      if block.allSatisfy({ $0 == 0 }) { silent += 1 }
    }
    #expect(rig.stream.figures.xruns == 1)
    #expect((99...101).contains(rig.blocks - before), "a second has a hundred blocks")
    #expect(zip(times, times.dropFirst()).allSatisfy { abs(($1 - $0).milliseconds - 10) < 3 })
    #expect((30...35).contains(silent), "what was lost is silence, and no more: \(silent)")
    var fit = ToneFit(tone)
    try rig.run(.seconds(1)) { block, time, _ in
      for index in 0..<480 { fit.add(Double(block[index]) / 32_768, at: time + .nanoseconds(Int64(index) * 62_500 / 3)) }
    }
    #expect(fit.purity > 40 && abs(fit.lateness) < 0.1)
  }

  @Test func afterAVeryLongSleepBlocksBeginAnew() throws {
    let card = card()
    let rig = try CaptureRig(card)
    try rig.run(.seconds(1))
    card.now += .seconds(3_600)
    let before = rig.blocks
    try rig.run(.seconds(1))
    #expect(rig.blocks - before < 110)
  }

  @Test func shortDelaysOfTheThreadLoseNothing() throws {
    let card = card(0, lateness: .milliseconds(60))
    let rig = try CaptureRig(card)
    try rig.run(.seconds(20))
    #expect(rig.stream.figures.xruns == 0 && rig.stream.figures.insertedFrames == 0 && rig.stream.figures.discardedFrames == 0)
    #expect((1_985...2_000).contains(rig.blocks))
  }

  @Test func stereoKeepsItsSides() throws {
    var configuration = PCMConfiguration(channelCount: 2)
    configuration.format = .int32
    let tone = Tone()
    let card = SimulatedCard(direction: .capture, configuration: configuration)
    card.voice = { tone($0) }
    let rig = try CaptureRig(card, channelCount: 2)
    var loudest: Int16 = 0
    try rig.run(.seconds(1)) { block, _, _ in
      for index in 0..<480 {
        #expect(block[2 * index] == block[2 * index + 1])
        loudest = max(loudest, block[2 * index])
      }
    }
    #expect(abs(Int(loudest) - 16_384) < 200)
  }

  @Test func anUnpluggedMicrophoneIsAbsentAndASilentOneStalled() throws {
    let card = card()
    let rig = try CaptureRig(card)
    try rig.run(.seconds(1))
    card.unplug()
    let error = #expect(throws: SoundError.self) { try rig.run(.seconds(1)) }
    #expect(error?.deviceState.word == "absent")

    let hung = self.card()
    let other = try CaptureRig(hung)
    try other.run(.seconds(1))
    hung.isHung = true
    let stall = #expect(throws: SoundError.self) { try other.run(.seconds(2)) }
    #expect(stall?.deviceState.word == "failed")
    guard case .stalled(_, let milliseconds) = stall else {
      Issue.record("\(stall.map(String.init(describing:)) ?? "nothing")")
      return
    }
    #expect((500...520).contains(milliseconds))
  }
}
