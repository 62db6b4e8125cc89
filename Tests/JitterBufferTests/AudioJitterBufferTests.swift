import Base
import Codecs
import Frames
import Sound
import Testing

@testable import JitterBuffer

struct AudioJitterBufferTests {
  struct Network {
    var loss = 0.0
    /// Up to this many milliseconds on top of 40.
    var jitter = 0
    /// From when to when packets are held back, to arrive together.
    var stall: Range<Int>?
    /// Parts per million by which the sender's clock runs fast.
    var skew = 0
    var codec = AudioCodec.opus
  }

  struct Outcome {
    var samples: [Int16] = []
    var counters = AudioJitterBuffer.Counters()
    var delays: [Double] = []
    var targets: [Double] = []
  }

  /// A call of `seconds` with the synthetic microphone at its other end.
  private func run(_ network: Network, seconds: Int, seed: UInt64 = 5) throws -> Outcome {
    var random = RandomSource(seed: seed)
    let microphone = SyntheticMicrophone()
    let encoder = try CodecFactory.audioEncoder(network.codec)
    try encoder.setPacketLoss(network.loss)
    var buffer = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(network.codec), clockRate: network.codec.clockRate)
    var arrivals: [Int: [(sequence: UInt16, timestamp: UInt32, payload: [UInt8])]] = [:]
    var (sequence, timestamp): (UInt16, UInt32) = (65_500, 4_294_900_000)
    for index in 0..<seconds * 100 {
      guard let payload = try encoder.encode(microphone.block(at: index)) else { continue }
      var time =
        index * 10 - index * 10 * network.skew / 1_000_000 + 40
        + (network.jitter > 0 ? Int.random(in: 0...network.jitter, using: &random) : 0)
      if let stall = network.stall, stall.contains(time) { time = stall.upperBound }
      if Double.random(in: 0..<1, using: &random) >= network.loss { arrivals[time, default: []].append((sequence, timestamp, payload)) }
      sequence &+= 1
      timestamp &+= encoder.timestampStep
    }
    var outcome = Outcome()
    for now in 0..<seconds * 1_000 {
      for packet in arrivals[now] ?? [] {
        buffer.insert(payload: packet.payload.span.bytes, sequence: packet.sequence, timestamp: packet.timestamp, arrival: instant(now))
      }
      if now % 10 == 5 {
        outcome.samples += buffer.nextBlock(now: instant(now)).samples
        if let delay = buffer.currentDelay(now: instant(now + 10)) { outcome.delays.append(delay.milliseconds) }
        outcome.targets.append(buffer.targetDelay.milliseconds)
      }
    }
    outcome.counters = buffer.counters
    return outcome
  }

  private func steepestStep(_ samples: ArraySlice<Int16>) -> Int {
    zip(samples, samples.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
  }

  @Test(arguments: AudioCodec.allCases)
  func aCleanLinkIsHeardWithoutInventionAndSoon(codec: AudioCodec) throws {
    let outcome = try run(Network(codec: codec), seconds: 4)
    #expect(outcome.counters.concealedSamples == 0)
    #expect(outcome.counters.packetsDiscarded == 0)
    #expect(outcome.delays.suffix(100).max()! <= 40)
    #expect(outcome.counters.totalSamplesReceived > 4 * 48_000 - 5_000)
    #expect(abs(outcome.counters.totalSamplesDuration - Double(outcome.counters.totalSamplesReceived) / 48_000) < 1e-6)
    #expect(outcome.counters.audioLevel > 0.05)
    // A tone of amplitude 3000 has the mean square (3000 / 32767)² / 2.
    let energy = outcome.counters.totalAudioEnergy / outcome.counters.totalSamplesDuration
    #expect((0.003...0.006).contains(energy))
  }

  @Test func theDelayFollowsTheJitter() throws {
    let calm = try run(Network(jitter: 5), seconds: 6)
    let rough = try run(Network(jitter: 80), seconds: 6)
    #expect(calm.targets.last! <= 30)
    #expect((80...110).contains(rough.targets.last!))
    #expect((60...130).contains(rough.delays.suffix(100).reduce(0, +) / 100))
    #expect(rough.counters.insertedSamplesForDeceleration > 0)
    // Once the delay has settled nearly every packet is in time.
    #expect(Double(rough.counters.concealedSamples) < 0.06 * Double(rough.counters.totalSamplesReceived))
  }

  @Test(arguments: AudioCodec.allCases)
  func lossIsConcealedAndTimeGoesOn(codec: AudioCodec) throws {
    let outcome = try run(Network(loss: 0.05, jitter: 10, codec: codec), seconds: 6)
    let lost = Double(outcome.counters.concealedSamples) / Double(outcome.counters.totalSamplesReceived)
    #expect((0.002..<0.09).contains(lost) || outcome.counters.packetsRecovered > 5)
    #expect(outcome.counters.concealmentEvents > 0)
    #expect(outcome.counters.silentConcealedSamples == 0)
    // The tone's own steepest step is 173, the click's 4200: between clicks no step may be much more than the tone's.
    for second in 2..<5 { #expect(steepestStep(outcome.samples[(second * 48_000 + 14_400)..<(second * 48_000 + 45_000)]) < 900) }
  }

  @Test func afterAStallTheDelayComesDownAgain() throws {
    let outcome = try run(Network(stall: 2_000..<2_300), seconds: 12)
    #expect(outcome.delays.max()! > 200, "the packets that were held back are played, not thrown away")
    #expect(outcome.delays.suffix(50).max()! < 60)
    #expect(outcome.counters.removedSamplesForAcceleration > 5_000)
    #expect((5_000...20_000).contains(outcome.counters.concealedSamples))
    #expect(outcome.counters.concealmentEvents <= 3)
  }

  @Test(arguments: [-900, 900])
  func aClockThatRunsWrongIsFollowed(skew: Int) throws {
    let outcome = try run(Network(skew: skew), seconds: 20)
    #expect(outcome.delays.suffix(500).max()! < 60)
    #expect(Double(outcome.counters.concealedSamples) < 0.005 * Double(outcome.counters.totalSamplesReceived))
  }

  @Test func silenceBetweenWordsIsNoLoss() throws {
    var buffer = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(.opus), clockRate: 48_000)
    var settings = AudioEncoderSettings()
    settings.usesDiscontinuousTransmission = true
    let encoder = try CodecFactory.audioEncoder(.opus, settings: settings)
    let microphone = SyntheticMicrophone()
    var sequence: UInt16 = 0
    for index in 0..<600 {
      let isSilent = (150..<400).contains(index)
      if let payload = try encoder.encode(isSilent ? .silence() : microphone.block(at: index)) {
        buffer.insert(payload: payload.span.bytes, sequence: sequence, timestamp: UInt32(index / 2) * 960, arrival: instant(index * 10))
        sequence += 1
      }
      _ = buffer.nextBlock(now: instant(index * 10 + 5))
    }
    #expect(buffer.counters.silentConcealedSamples > 20_000)
    #expect(buffer.counters.concealedSamples - buffer.counters.silentConcealedSamples <= 3 * 9_600)
    #expect(buffer.currentDelay(now: instant(6_000))!.milliseconds < 80)
  }

  @Test func aPausedStreamIsSilentAndBeginsAgain() throws {
    var buffer = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(.pcmu), clockRate: 8_000)
    let payload = [UInt8](repeating: 0x20, count: 160)
    func play(_ range: Range<Int>, sends: Bool, shift: UInt32) -> Int {
      var loudest = 0
      for index in range {
        if sends && index % 2 == 0 {
          buffer.insert(
            payload: payload.span.bytes, sequence: UInt16(index / 2), timestamp: UInt32(index / 2) * 160 &+ shift,
            arrival: instant(index * 10))
        }
        loudest = max(loudest, buffer.nextBlock(now: instant(index * 10 + 5)).samples.map { abs(Int($0)) }.max()!)
      }
      return loudest
    }
    #expect(play(0..<100, sends: true, shift: 0) > 5_000)
    _ = play(100..<150, sends: false, shift: 0)
    #expect(play(150..<500, sends: false, shift: 0) == 0)
    let concealed = buffer.counters.concealedSamples
    #expect(concealed < 2 * 48_000 + 2_000, "a pause is not concealed for ever")
    // The sender's clock stood still meanwhile, and its time stamps went elsewhere.
    #expect(play(500..<600, sends: true, shift: 3_000_000_000) > 5_000)
    #expect(buffer.counters.concealedSamples == concealed)
  }

  @Test func beforeTheFirstPacketThereIsSilenceThatIsNotCounted() throws {
    var buffer = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(.opus), clockRate: 48_000)
    let block = buffer.nextBlock(now: instant(0))
    #expect(block == .silence())
    #expect(buffer.counters == AudioJitterBuffer.Counters())
    #expect(buffer.playoutTimestamp == nil)
  }

  @Test func wildTimeStampsBeforePlayoutBeginsDoNoHarm() throws {
    var buffer = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(.pcmu), clockRate: 8_000)
    let payload = [UInt8](repeating: 0x20, count: 160)
    for index in 0..<5_000 {
      buffer.insert(
        payload: payload.span.bytes, sequence: UInt16(index), timestamp: UInt32(truncatingIfNeeded: index * 2_000_000_000),
        arrival: instant(0))
    }
    var loudest = 0
    for index in 0..<100 {
      if index % 2 == 0 {
        buffer.insert(
          payload: payload.span.bytes, sequence: UInt16(5_000 + index / 2), timestamp: UInt32(index / 2) * 160, arrival: instant(index * 10)
        )
      }
      loudest = max(loudest, buffer.nextBlock(now: instant(index * 10 + 5)).samples.map { abs(Int($0)) }.max()!)
    }
    #expect(loudest > 5_000)
  }

  @Test func anyPacketsInAnyOrderLeaveTheBufferUsable() throws {
    var random = RandomSource(seed: 8)
    for codec in AudioCodec.allCases {
      var buffer = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(codec), clockRate: codec.clockRate)
      for round in 0..<3_000 {
        if random.next() & 1 == 0 {
          let payload = random.bytes(Int.random(in: 0..<60, using: &random))
          let isWild = random.next() & 31 == 0
          buffer.insert(
            payload: payload.span.bytes, sequence: UInt16(truncatingIfNeeded: isWild ? random.next() : UInt64(round / 2)),
            timestamp: UInt32(truncatingIfNeeded: isWild ? random.next() : UInt64(round * 480)), arrival: instant(round * 10))
        }
        let block = buffer.nextBlock(now: instant(round * 10 + 5))
        #expect(block.samples.count == 480)
      }
      #expect(buffer.counters.packetsMalformed > 0)
    }
  }
}
