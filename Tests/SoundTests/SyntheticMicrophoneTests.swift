import Base
import Frames
import Testing

@testable import Sound

struct SyntheticMicrophoneTests {
  @Test func theToneGoesOnFromBlockToBlock() {
    let microphone = SyntheticMicrophone()
    let samples = (1..<100).flatMap { microphone.block(at: $0).samples }
    // One sample moves by at most 3000 · 2π · 440 / 48000 = 172.8.
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 174 })
    #expect(microphone.block(at: 3) == microphone.block(at: 103))
  }

  @Test func clicksAreFoundToHalfAMillisecond() {
    let microphone = SyntheticMicrophone()
    var detector = ClickDetector()
    let start = Instant.zero + .milliseconds(7)
    let found = (0..<510).compactMap { detector.process(microphone.block(at: $0), at: start + .milliseconds(Int64($0) * 10)) }
    #expect(found.count == 6)
    for (second, time) in found.enumerated() { #expect(abs((time - start).milliseconds - Double(second) * 1_000) < 0.5) }
  }

  @Test func aQuietClickIsFoundAndAToneAloneIsNot() {
    let microphone = SyntheticMicrophone()
    var detector = ClickDetector()
    let quiet = (0..<150).compactMap { index in
      detector.process(
        AudioBlock(samples: microphone.block(at: index).samples.map { $0 / 8 }), at: .zero + .milliseconds(Int64(index) * 10))
    }
    #expect(quiet.count == 2)
    var other = ClickDetector()
    #expect((1..<99).allSatisfy { other.process(microphone.block(at: $0), at: .zero) == nil })
  }
}
