import Base
import Testing

@testable import JitterBuffer

struct VideoScheduleTests {
  private struct Shown {
    var captured: Instant
    var ready: Instant
    var shown: Instant
    var position: PlayoutPosition

    var delay: Double { (shown - captured).milliseconds }
  }

  /// Frames at 30 per second that are ready so many milliseconds after their capture.
  private func run(
    _ schedule: VideoSchedule, seconds: Int64, ready: (Int64) -> Int64, requested: (Double) -> Int64? = { _ in nil },
    synchronization: (Double) -> Int64? = { _ in nil }
  ) -> [Shown] {
    var schedule = schedule
    var shown: [Shown] = []
    for frame in 0..<seconds * 30 {
      let captured = Instant.zero + .milliseconds(frame * 100 / 3)
      if let delay = requested(Double(frame) / 30) { schedule.requestedDelay = .milliseconds(delay) }
      if let delay = synchronization(Double(frame) / 30) { schedule.synchronizationDelay = .milliseconds(delay) }
      let time = captured + .milliseconds(ready(frame))
      let placement = schedule.place(timestamp: UInt32(truncatingIfNeeded: 4_294_900_000 + frame * 3_000), ready: time)
      if let due = placement.due { #expect(due > time) }
      shown.append(Shown(captured: captured, ready: time, shown: placement.due ?? time, position: placement.position))
    }
    return shown
  }

  @Test func unlessSomethingIsAskedForEveryFrameIsShownAtOnce() {
    var random = RandomSource(seed: 1)
    for frame in run(VideoSchedule(), seconds: 30, ready: { _ in 50 + .random(in: 0...80, using: &random) }) {
      #expect(frame.shown == frame.ready)
      #expect(frame.position.delay == frame.position.naturalDelay)
    }
  }

  @Test func heldFramesAreShownAtTheirOwnDistances() {
    var random = RandomSource(seed: 2)
    var schedule = VideoSchedule()
    schedule.synchronizationDelay = .milliseconds(150)
    let shown = run(schedule, seconds: 30, ready: { _ in 50 + .random(in: 0...80, using: &random) })
    for frame in shown.suffix(600) {
      // The fastest way is that of the fastest frame in three seconds; time stamps are rounded.
      #expect(abs(frame.delay - 200) < 7)
      #expect(frame.position.time == frame.shown + schedule.displayDelay)
      #expect(frame.position.naturalDelay < .milliseconds(80) + schedule.displayDelay + .milliseconds(4))
    }
  }

  @Test func aLateFrameIsShownAtOnceAndMovesNoOther() {
    var schedule = VideoSchedule()
    schedule.synchronizationDelay = .milliseconds(100)
    let shown = run(schedule, seconds: 20, ready: { $0 == 500 ? 400 : 50 })
    #expect(shown[500].shown == shown[500].ready)
    #expect(shown[300...].allSatisfy { abs($0.delay - shown[300].delay) < 1 || $0.captured == shown[500].captured })
  }

  @Test func theDelayComesAndGoesGently() {
    let shown = run(VideoSchedule(), seconds: 30, ready: { _ in 50 }, synchronization: { (5.0..<15).contains($0) ? 300 : 0 })
    for (before, after) in zip(shown, shown.dropFirst()) {
      // A tenth of a frame's time, with time stamps and capture times rounded.
      #expect(abs(after.delay - before.delay) <= 3.4 + 1)
    }
    #expect(shown.filter { (349.0...352).contains($0.delay) }.count > 150)
    #expect(shown.last!.shown == shown.last!.ready)
  }

  @Test func fourSecondsThatAnApplicationAsksForTakeNoHalfMinute() {
    let shown = run(VideoSchedule(), seconds: 60, ready: { _ in 50 }, requested: { (5.0..<30).contains($0) ? 4_000 : 0 })
    #expect(abs(shown[30 * 25].delay - 4_050) < 2)
    #expect(shown.last!.shown == shown.last!.ready)
    #expect(shown[30 * 25].position.naturalDelay == shown[30 * 25].position.delay, "it is not lip sync that asks for it")
  }

  @Test(arguments: [90_000 * 60, -90_000 * 60, 1 << 31] as [Int64])
  func timeStampsThatJumpDoNotStopThePicture(by ticks: Int64) {
    var schedule = VideoSchedule()
    schedule.synchronizationDelay = .milliseconds(200)
    var latest = 0.0
    for frame in Int64(0)..<900 {
      let captured = Instant.zero + .milliseconds(frame * 100 / 3)
      let stamp = frame * 3_000 + (frame > 450 ? ticks : 0)
      let ready = captured + .milliseconds(50)
      let placement = schedule.place(timestamp: UInt32(truncatingIfNeeded: stamp), ready: ready)
      let shown = placement.due ?? ready
      #expect(shown - captured < .milliseconds(260))
      latest = (shown - captured).milliseconds
    }
    #expect(abs(latest - 250) < 2, "and it is held again")
  }

  @Test(arguments: [1 << 31 - 1, 400 * 90, 1 << 32] as [Int64])
  func noTimeStampsHoldAFrameForEver(step: Int64) {
    // Ahead by so much with every frame, or anywhere.
    var random = RandomSource(seed: 9)
    var schedule = VideoSchedule()
    schedule.synchronizationDelay = .milliseconds(100)
    var stamp = Int64(0)
    for frame in Int64(0)..<20_000 {
      let ready = Instant.zero + .milliseconds(frame * 33)
      stamp += step == 1 << 32 ? .random(in: 0..<step, using: &random) : step
      let placement = schedule.place(timestamp: UInt32(truncatingIfNeeded: stamp), ready: ready)
      guard let due = placement.due else { continue }
      guard due - ready <= .seconds(5) else {
        Issue.record("held for \((due - ready).seconds) s")
        return
      }
    }
  }
}
