import Base
import Frames
import Testing

@testable import Sound

@Suite struct EchoDelayEstimatorTests {
  /// What goes through a room, hop by hop.
  private struct Run {
    var estimator = EchoDelayEstimator()
    let transform = EchoTransform()
    var reference = EchoReference()
    var microphone = EchoReference()

    mutating func pass(_ room: inout NoisyRoom, blocks: Int, voice: Float = 0, isSilent: Bool = false) {
      for _ in 0..<blocks {
        let played = room.playedBlock(isSilent: isSilent).samples.map { Float($0) / 32_768 }
        let heard = room.heardBlock(voice: voice).samples.map { Float($0) / 32_768 }
        for start in [0, EchoHop.sampleCount] {
          unsafe played.withUnsafeBufferPointer { unsafe reference.append($0.baseAddress! + start, transform) }
          unsafe heard.withUnsafeBufferPointer { unsafe microphone.append($0.baseAddress! + start, transform) }
          let offset = EchoReference.offset(of: reference.count - 1)
          unsafe reference.withSpectra { played in
            unsafe microphone.withSpectra { unsafe estimator.process(played: played + offset, captured: $0 + offset) }
          }
        }
      }
    }
  }

  @Test("The delay is found within a second, to 5 ms, whoever talks meanwhile", arguments: [480, 2_500, 7_200, 12_000, 26_400])
  func found(delay: Int) {
    var run = Run()
    var room = NoisyRoom(delay: delay)
    run.pass(&room, blocks: 100 + delay / 480, voice: 0.1)
    let found = run.estimator.delay.map { $0 * EchoHop.sampleCount }
    #expect(found != nil && abs(found! - delay) <= EchoHop.sampleCount)
  }

  @Test("A delay that changes is found again within two seconds")
  func changed() {
    var run = Run()
    var room = NoisyRoom(delay: 7_200)
    run.pass(&room, blocks: 150)
    #expect(run.estimator.delay == 30)
    room.delay = 1_200
    run.pass(&room, blocks: 200)
    #expect(run.estimator.delay == 5)
  }

  @Test("A microphone that hears no loudspeaker gives no delay")
  func unrelated() {
    var run = Run()
    var room = NoisyRoom(delay: 960)
    room.gain = 0
    run.pass(&room, blocks: 300, voice: 0.1)
    #expect(run.estimator.delay == nil)
  }

  @Test("A delay that is known is kept through silence")
  func silence() {
    var run = Run()
    var room = NoisyRoom(delay: 3_600)
    run.pass(&room, blocks: 120)
    #expect(run.estimator.delay == 15)
    run.pass(&room, blocks: 300, voice: 0.1, isSilent: true)
    #expect(run.estimator.delay == 15)
  }
}
