import Base
import Frames
import Sound
import Testing

@testable import Codecs

/// What the audio codecs owe a call.
struct AudioCodecTests {
  /// Amplitude of the microphone's tone in the middle of some samples: by correlation, so that nothing but the tone counts.
  private func toneAmplitude(_ samples: ArraySlice<Int16>) -> Double { amplitude(of: 440, in: samples) }

  private func packets(_ codec: AudioCodec, blocks: Range<Int>, settings: AudioEncoderSettings = AudioEncoderSettings(), loss: Double = 0)
    throws
    -> [[UInt8]]
  {
    let microphone = SyntheticMicrophone()
    let encoder = try CodecFactory.audioEncoder(codec, settings: settings)
    try encoder.setPacketLoss(loss)
    return try blocks.compactMap { try encoder.encode(microphone.block(at: $0)) }
  }

  @Test(arguments: AudioCodec.allCases)
  func theToneSentIsTheToneHeard(codec: AudioCodec) throws {
    let packets = try packets(codec, blocks: 1..<81)
    #expect(packets.count == 40, "20 ms each")
    let decoder = try CodecFactory.audioDecoder(codec)
    let heard = try packets.flatMap { try decoder.decode($0) }
    #expect(heard.count == 40 * 960)
    let amplitude = toneAmplitude(heard[9_600..<28_800])
    #expect((2_500...3_500).contains(amplitude))
  }

  @Test(arguments: AudioCodec.allCases)
  func aClickIsHeardWhereItWasMadeButForTheCodecsDelay(codec: AudioCodec) throws {
    let packets = try packets(codec, blocks: 0..<220)
    let decoder = try CodecFactory.audioDecoder(codec)
    let heard = try packets.flatMap { try decoder.decode($0) }
    var detector = ClickDetector()
    var found: [Interval] = []
    for index in 0..<heard.count / 480 {
      let time = Instant.zero + .milliseconds(Int64(index) * 10)
      if let click = detector.process(AudioBlock(samples: Array(heard[index * 480..<(index + 1) * 480])), at: time) {
        found.append(click - .zero)
      }
    }
    #expect(found.count == 3)
    for (second, time) in found.enumerated() {
      #expect((0.0...10.0).contains(time.milliseconds - Double(second) * 1_000))
    }
  }

  @Test(arguments: AudioCodec.allCases)
  func oneLostPacketIsConcealedWithoutAGap(codec: AudioCodec) throws {
    let packets = try packets(codec, blocks: 1..<61)
    let decoder = try CodecFactory.audioDecoder(codec)
    var heard: [Int16] = []
    for (index, packet) in packets.enumerated() {
      heard += index == 15 ? decoder.conceal(sampleCount: 960) : try decoder.decode(packet)
    }
    let lost = toneAmplitude(heard[15 * 960..<16 * 960])
    #expect(lost > 1_200, "the tone goes on")
    // A click would show as a step between two samples far larger than the tone's own: 3000 · 2π · 440 / 48000 = 173.
    let steepest = zip(heard[14_000...], heard[14_001..<17_000]).map { abs(Int($0) - Int($1)) }.max()!
    #expect(steepest < 450)
  }

  @Test(arguments: AudioCodec.allCases)
  func aLongGapFadesToSilence(codec: AudioCodec) throws {
    let packets = try packets(codec, blocks: 1..<41)
    let decoder = try CodecFactory.audioDecoder(codec)
    for packet in packets { _ = try decoder.decode(packet) }
    var gap: [Int16] = []
    for _ in 0..<25 { gap += decoder.conceal(sampleCount: 960) }
    #expect(gap.suffix(4_800).map { abs(Int($0)) }.max()! < 600)
  }

  @Test func opusRecoversALostFrameFromTheNextOne() throws {
    let encoder = try CodecFactory.audioEncoder(.opus)
    try encoder.setPacketLoss(0.2)
    let packets = try (0..<100).compactMap { try encoder.encode(voice(block: $0)) }
    let decoder = try CodecFactory.audioDecoder(.opus)
    for packet in packets[..<30] { _ = try decoder.decode(packet) }
    let recovered = try #require(try decoder.recover(from: packets[31]))
    #expect(recovered.count == 960)

    let complete = try CodecFactory.audioDecoder(.opus)
    let original = try packets[...30].map { try complete.decode($0) }.last!
    let (product, a, b) = zip(recovered, original).reduce((0.0, 1.0, 1.0)) { sums, pair in
      let (x, y) = (Double(pair.0), Double(pair.1))
      return (sums.0 + x * y, sums.1 + x * x, sums.2 + y * y)
    }
    #expect(product / (a * b).squareRoot() > 0.8, "it sounds as the lost one did")
  }

  @Test func nothingIsRecoveredFromAPacketWithoutACopy() throws {
    var settings = AudioEncoderSettings()
    settings.usesForwardErrorCorrection = false
    let packets = try packets(.opus, blocks: 1..<41, settings: settings)
    let decoder = try CodecFactory.audioDecoder(.opus)
    _ = try decoder.decode(packets[0])
    #expect(try decoder.recover(from: packets[2]) == nil)
    let telephone = try CodecFactory.audioDecoder(.pcmu)
    #expect(try telephone.recover(from: [UInt8](repeating: 0, count: 160)) == nil)
  }

  @Test func silenceIsHardlySentWithDiscontinuousTransmission() throws {
    var settings = AudioEncoderSettings()
    settings.usesDiscontinuousTransmission = true
    let encoder = try CodecFactory.audioEncoder(.opus, settings: settings)
    let sent = try (0..<400).compactMap { _ in try encoder.encode(.silence()) }
    #expect(sent.count < 60)
  }

  @Test func opusCarriesTwoChannelsApart() throws {
    var settings = AudioEncoderSettings()
    (settings.channelCount, settings.bitrate) = (2, 96_000)
    let encoder = try CodecFactory.audioEncoder(.opus, settings: settings)
    let decoder = try CodecFactory.audioDecoder(.opus, channelCount: 2)
    let microphone = SyntheticMicrophone()
    var heard: [Int16] = []
    for index in 1..<81 {
      let left = microphone.block(at: index).samples.flatMap { sample -> [Int16] in [sample, 0] }
      if let packet = try encoder.encode(AudioBlock(samples: left, channelCount: 2)) { heard += try decoder.decode(packet) }
    }
    let (left, right) = (
      stride(from: 0, to: heard.count, by: 2).map { heard[$0] }, stride(from: 1, to: heard.count, by: 2).map { heard[$0] }
    )
    #expect(toneAmplitude(left[9_600...]) > 2_500)
    #expect(toneAmplitude(right[9_600...]) < 300)
  }

  @Test func malformedPacketsAreErrorsAndTheDecoderGoesOn() throws {
    for codec in AudioCodec.allCases {
      let packets = try packets(codec, blocks: 1..<21)
      let decoder = try CodecFactory.audioDecoder(codec)
      #expect(throws: CodecError.self) { try decoder.decode([]) }
      #expect(decoder.sampleCount(of: [UInt8]().span.bytes) == nil)
      if codec == .opus {
        // RFC 6716 section 3.4: code 3 with no frames, and code 2 whose length runs over the end.
        #expect(throws: CodecError.self) { try decoder.decode([0x0B, 0x00]) }
        #expect(throws: CodecError.self) { try decoder.decode([0x0A, 0xFC]) }
      } else {
        #expect(throws: CodecError.self) { try decoder.decode([UInt8](repeating: 0, count: 961)) }
      }
      #expect(try packets.map { try decoder.decode($0).count } == Array(repeating: 960, count: 10))
    }
  }

  @Test(arguments: [AudioCodec.pcmu, .pcma])
  func concealmentOfTheLoudestSoundIsCutAtFullScale(codec: AudioCodec) throws {
    let decoder = try CodecFactory.audioDecoder(codec)
    var random = RandomSource(seed: 12)
    for _ in 0..<100 {
      // Full scale in one direction or the other, at random.
      let loud = (0..<160).map { _ in UInt8(random.next() & 1 == 0 ? 0x00 : 0x80) ^ (codec == .pcma ? 0x2A : 0) }
      #expect(try decoder.decode(loud).count == 960)
      // So short that the next packet is blended with the start of the invention.
      #expect(decoder.conceal(sampleCount: 120).count == 120)
    }
  }

  @Test func settingsOutOfRangeAreRefused() throws {
    let encoder = try CodecFactory.audioEncoder(.opus)
    #expect(throws: CodecError.self) { try encoder.setBitrate(1_000) }
    #expect(throws: CodecError.self) { try encoder.setPacketLoss(1.5) }
    #expect(throws: CodecError.self) { try CodecFactory.audioDecoder(.opus, channelCount: 3) }
  }
}
