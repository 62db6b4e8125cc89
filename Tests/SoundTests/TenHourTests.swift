import Base
import Testing

@testable import Sound

/// A working day of sound through whole streams, in virtual time. The rate is converted by straight lines, which takes minutes less and
/// changes nothing but the sound's quality.
struct TenHourTests {
  private static let hour = Interval.seconds(3_600)

  private func card(_ direction: SoundDirection, drift: Double) -> SimulatedCard {
    var behaviour = SimulatedCard.Behaviour()
    // A USB card, on a machine that is busy at times.
    (behaviour.drift, behaviour.pointerStep, behaviour.prefetchFrames) = (drift, 48, 864)
    (behaviour.interruptLateness, behaviour.wakeLateness) = (.microseconds(500), .milliseconds(2))
    let configuration = PCMConfiguration(channelCount: 1, periodFrames: 240, bufferFrames: 9_600, isBatch: true)
    return SimulatedCard(direction: direction, configuration: configuration, behaviour: behaviour)
  }

  /// The worst of both: the microphone's clock is 200 ppm ahead, the loudspeaker's as much behind.
  @Test func captureNeitherLosesNorDelays() throws {
    let drift = 200.0
    let card = card(.capture, drift: drift)
    let rig = try CaptureRig(card, quality: .linear)
    try rig.run(.seconds(30))
    var (first, last, firstDelay, lastDelay) = (Instant.zero, Instant.zero, 0.0, 0.0)
    try rig.run(.seconds(30)) { _, time, now in
      if first == .zero { first = time }
      firstDelay = max(firstDelay, (now - time).milliseconds)
    }
    let before = rig.blocks
    for _ in 1..<10 { try rig.run(TenHourTests.hour) }
    try rig.run(TenHourTests.hour - .seconds(30))
    try rig.run(.seconds(30)) { _, time, now in (last, lastDelay) = (time, max(lastDelay, (now - time).milliseconds)) }
    let figures = rig.stream.figures
    #expect(figures.xruns == 0 && figures.insertedFrames == 0 && figures.discardedFrames == 0)
    #expect(abs(lastDelay - firstDelay) < 0.5, "\(firstDelay) ms at first, \(lastDelay) ms in the end")
    #expect(lastDelay < 15)
    #expect(abs(rig.blocks - before - 3_600_000) <= 1, "\(rig.blocks - before) blocks")
    #expect(abs((last - first).seconds - 36_029.99) < 0.011)
    #expect(abs(figures.drift - drift) < 10)
  }

  @Test func playbackNeitherStumblesNorDelays() throws {
    let drift = -200.0
    let card = card(.playback, drift: drift)
    let rig = try PlaybackRig(card, quality: .linear)
    try rig.run(.seconds(30))
    var delays: [Double] = [0, 0]
    try rig.run(.seconds(30), each: { due, heard, _ in delays[0] = max(delays[0], (heard - due).milliseconds) })
    for _ in 1..<10 { try rig.run(TenHourTests.hour) }
    try rig.run(TenHourTests.hour - .seconds(30))
    try rig.run(.seconds(30), each: { due, heard, _ in delays[1] = max(delays[1], (heard - due).milliseconds) })
    let figures = rig.stream.figures
    #expect(figures.xruns == 0 && figures.insertedFrames == 0 && figures.discardedFrames == 0)
    #expect(delays[1] < delays[0] + 0.5, "\(delays[0]) ms at first, \(delays[1]) ms in the end")
    #expect(delays[1] < 35, "15 ms in the ring, 18 on their way over USB")
    #expect(abs(rig.blocks - 3_606_000) <= 1, "\(rig.blocks) blocks")
    #expect(abs(figures.drift - drift) < 10)
  }

  /// Rooms warm up, and crystals with them.
  @Test func aClockThatWandersIsFollowedAllDay() throws {
    let (microphone, loudspeaker) = (card(.capture, drift: 40), card(.playback, drift: 40))
    let (capture, playback) = (try CaptureRig(microphone, quality: .linear), try PlaybackRig(loudspeaker, quality: .linear))
    try capture.run(.seconds(30))
    try playback.run(.seconds(30))
    var worst = 0.0
    for minute in 0..<20 {
      let drift = minute % 2 == 0 ? 40.0 : -60
      (microphone.behaviour.drift, loudspeaker.behaviour.drift) = (drift, -drift)
      try capture.run(.seconds(60)) { _, time, now in worst = max(worst, (now - time).milliseconds) }
      try playback.run(.seconds(60), each: { due, heard, _ in worst = max(worst, (heard - due).milliseconds) })
    }
    #expect(worst < 36, "\(worst) ms")
    for figures in [capture.stream.figures, playback.stream.figures] {
      #expect(figures.xruns == 0 && figures.insertedFrames == 0 && figures.discardedFrames == 0)
    }
  }
}
