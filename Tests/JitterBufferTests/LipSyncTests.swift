import Base
import RTP
import Testing

@testable import JitterBuffer

struct LipSyncTests {
  /// A sender whose sound and picture take so long, in milliseconds, and what lip sync makes of it, in virtual time.
  private struct Call {
    var sound: (Instant) -> Int64?
    var picture: (Instant) -> Int64?
    /// What the picture takes over the fastest way.
    var fastestPicture: Int64 = 60
    /// By how much each sender's wall clock is off in its reports.
    var soundClock: (Instant) -> Interval = { _ in .zero }
    var pictureClock: (Instant) -> Interval = { _ in .zero }
    /// How often reports come.
    var reportInterval: Int64 = 1

    struct Moment {
      var seconds: Double
      /// How much later the sound is than its picture, in milliseconds.
      var lag: Double
      var delays: LipSync.Delays
    }

    func run(seconds: Int64) -> [Moment] {
      var sync = LipSync()
      var moments: [Moment] = []
      var clocks: (sound: SenderClock, picture: SenderClock)?
      for frame in 0..<seconds * 30 {
        let captured = Instant.zero + .milliseconds(1_000 + frame * 100 / 3)
        let wall = Int64(1_800_000_000_000_000_000) + captured.nanoseconds
        // Time stamps that begin anywhere, and wrap.
        let stamp = { (rate: Int64) in UInt32(truncatingIfNeeded: 4_294_000_000 + captured.nanoseconds / 1_000_000 * rate / 1_000) }
        if frame % (30 * reportInterval) == 0 {
          clocks = (
            SenderClock(
              ntpTime: NTPTime(unixNanoseconds: wall + soundClock(captured).nanoseconds), timestamp: stamp(48_000), clockRate: 48_000,
              arrival: captured + .milliseconds(60)),
            SenderClock(
              ntpTime: NTPTime(unixNanoseconds: wall + pictureClock(captured).nanoseconds), timestamp: stamp(90_000), clockRate: 90_000,
              arrival: captured + .milliseconds(75))
          )
        }
        guard let clocks else { continue }
        // Held media is played when it is due, and never before it is there.
        let (heard, seen) = (sound(captured), picture(captured))
        var (soundDelay, pictureDelay) = (0.0, 0.0)
        if let heard {
          let natural = Interval.milliseconds(heard - 60)
          let delay = max(natural, sync.delays.audio)
          soundDelay = (delay + .milliseconds(60)).milliseconds
          let position = PlayoutPosition(
            timestamp: stamp(48_000), time: captured + .milliseconds(60) + delay, delay: delay, naturalDelay: natural)
          sync.noteSound(position, clock: clocks.sound, now: captured + .milliseconds(100))
        }
        if let seen {
          let natural = Interval.milliseconds(seen - fastestPicture)
          let delay = max(natural, sync.delays.video)
          pictureDelay = (delay + .milliseconds(fastestPicture)).milliseconds
          let position = PlayoutPosition(
            timestamp: stamp(90_000), time: captured + .milliseconds(fastestPicture) + delay, delay: delay, naturalDelay: natural)
          sync.notePicture(position, clock: clocks.picture, now: captured + .milliseconds(100))
        }
        if frame % 3 == 0 { sync.update(now: captured + .milliseconds(100)) }
        moments.append(Moment(seconds: Double(frame) / 30, lag: soundDelay - pictureDelay, delays: sync.delays))
      }
      return moments
    }
  }

  private static let detectability = -45.0...125.0

  @Test(arguments: [(100, 100), (180, 90), (90, 110)] as [(Int64, Int64)])
  func whatIsNotNoticedIsNotHeld(sound: Int64, picture: Int64) {
    let moments = Call(sound: { _ in sound }, picture: { _ in picture }).run(seconds: 60)
    #expect(moments.allSatisfy { $0.delays == LipSync.Delays() && LipSyncTests.detectability.contains($0.lag) })
  }

  @Test(arguments: [300, 500] as [Int64])
  func aPictureThatRunsAheadWaitsForItsSound(sound: Int64) {
    let moments = Call(sound: { _ in sound }, picture: { _ in 100 }).run(seconds: 60)
    #expect(moments.last!.lag == 100 && moments.last!.delays.audio == .zero)
    #expect(moments.last!.delays.video == .milliseconds(sound - 100 - 60))
    #expect(moments.filter { $0.seconds > Double(sound) / 100 }.allSatisfy { LipSyncTests.detectability.contains($0.lag) })
  }

  @Test(arguments: [200, 400] as [Int64])
  func soundThatRunsAheadWaitsForItsPicture(picture: Int64) {
    let moments = Call(sound: { _ in 100 }, picture: { _ in picture }).run(seconds: 60)
    #expect(moments.last!.lag == -30 && moments.last!.delays.video == .zero)
    #expect(moments.last!.delays.audio == .milliseconds(picture - 30 - 60))
    #expect(moments.filter { $0.seconds > Double(picture) / 100 }.allSatisfy { LipSyncTests.detectability.contains($0.lag) })
  }

  @Test func nothingMovesByMoreThanATenthOfTheTime() {
    // The sound's delay goes up and down by half a second, at once.
    let moments = Call(sound: { ($0 - Instant.zero).seconds.truncatingRemainder(dividingBy: 20) < 10 ? 100 : 600 }, picture: { _ in 100 })
      .run(seconds: 120)
    for (before, after) in zip(moments, moments.dropFirst()) where before.delays.video > .zero && after.delays.video > .zero {
      #expect(abs((after.delays.video - before.delays.video).milliseconds) <= 10.1)
    }
    // What was held for the one reason is let go when it has gone.
    #expect(moments.contains { $0.delays.video > .milliseconds(400) })
    #expect(moments.filter { (15.0..<20).contains($0.seconds.truncatingRemainder(dividingBy: 20)) }.count > 100)
    #expect(moments.filter { (6.0..<9).contains($0.seconds.truncatingRemainder(dividingBy: 20)) }.allSatisfy { $0.delays.video == .zero })
  }

  @Test func inAnHourOfJitterNothingGrows() {
    // Pictures that take between 60 and 160 ms, and sound whose delay follows the network's moods.
    var random = RandomSource(seed: 6)
    let call = Call(
      sound: { 100 + Int64(($0 - Instant.zero).seconds / 7) % 4 * 40 }, picture: { _ in 60 + Int64.random(in: 0...100, using: &random) })
    let moments = call.run(seconds: 3_600)
    #expect(moments.allSatisfy { $0.delays.audio == .zero || $0.delays.video == .zero }, "one never waits for the other's waiting")
    #expect(moments.allSatisfy { $0.delays.audio <= .milliseconds(100) && $0.delays.video <= .milliseconds(150) })
  }

  @Test func aFewLargePicturesDoNotHoldTheSound() {
    let call = Call(sound: { _ in 100 }, picture: { ($0 - Instant.zero).nanoseconds / 33_000_000 % 10 == 0 ? 300 : 80 })
    #expect(call.run(seconds: 30).allSatisfy { $0.delays == LipSync.Delays() })
  }

  @Test func withoutSoundThePictureIsLetGo() {
    let moments = Call(sound: { $0 < Instant.zero + .seconds(20) ? 400 : nil }, picture: { _ in 100 }).run(seconds: 40)
    #expect(moments.contains { $0.delays.video == .milliseconds(240) })
    #expect(moments.filter { $0.seconds > 28 }.allSatisfy { $0.delays == LipSync.Delays() })
  }

  @Test func withoutAPictureTheSoundIsLetGo() {
    let moments = Call(sound: { _ in 100 }, picture: { $0 < Instant.zero + .seconds(20) ? 400 : nil }).run(seconds: 40)
    #expect(moments.contains { $0.delays.audio == .milliseconds(310) })
    #expect(moments.filter { $0.seconds > 29 }.allSatisfy { $0.delays == LipSync.Delays() })
  }

  @Test(arguments: [-3_000, 700, 3_000] as [Int64])
  func aWallClockThatIsSetInMidCallDisturbsNothing(step: Int64) {
    // The one stream's next report tells of it four seconds before the other's.
    var call = Call(sound: { _ in 300 }, picture: { _ in 100 })
    call.soundClock = { $0 > Instant.zero + .seconds(30) ? .milliseconds(step) : .zero }
    call.pictureClock = { $0 > Instant.zero + .seconds(34) ? .milliseconds(step) : .zero }
    let moments = call.run(seconds: 60)
    #expect(moments.filter { $0.seconds > 10 }.allSatisfy { abs($0.delays.video.milliseconds - 140) < 0.01 && $0.delays.audio == .zero })
  }

  @Test func clocksThatDifferForGoodAreOfNoUse() {
    var call = Call(sound: { _ in 300 }, picture: { _ in 100 })
    call.pictureClock = { $0 > Instant.zero + .seconds(30) ? .seconds(7) : .zero }
    let moments = call.run(seconds: 60)
    #expect(moments.first { $0.seconds > 29 }!.delays.video == .milliseconds(140))
    #expect(moments.last!.delays == LipSync.Delays())
  }

  @Test func whatAnApplicationAsksForOfTheOneTheOtherFollows() {
    // Two seconds of sound (`jitterBufferTarget`): more than any network would make of it.
    let moments = Call(sound: { _ in 2_060 }, picture: { _ in 100 }).run(seconds: 60)
    #expect(moments.last!.delays.video == .milliseconds(1_900) && moments.last!.lag == 100)
  }

  @Test func streamsThatCannotLieSoFarApartAreNotSynchronised() {
    var call = Call(sound: { _ in 100 }, picture: { _ in 100 })
    // The time stamps of one stream are off, while the clocks agree.
    call.picture = { _ in 5_000 }
    call.fastestPicture = 4_960
    #expect(call.run(seconds: 30).allSatisfy { $0.delays == LipSync.Delays() })
  }
}
