import Base
import Frames
import Testing

@testable import Sound

@Suite struct VoiceProcessorTests {
  private static let echoOnly = VoiceProcessing(echoCancellation: true, noiseSuppression: false, autoGainControl: false)

  /// Plays and captures for so many blocks. Returns how much louder the microphone was than what came out, in dB, in the second half.
  private func reduction(
    _ processor: VoiceProcessor, _ room: inout NoisyRoom, blocks: Int, voice: Float = 0, isSilent: Bool = false, delay: Interval = .zero
  ) -> Double {
    var (before, after): ([Double], [Double]) = ([], [])
    for number in 0..<blocks {
      processor.analyze(played: room.playedBlock(isSilent: isSilent).samples.span)
      var block = room.heardBlock(voice: voice)
      if number >= blocks / 2 { before.append(block.meanSquare) }
      processor.process(captured: &block, delay: delay)
      if number >= blocks / 2 { after.append(block.meanSquare) }
    }
    return before.decibels - after.decibels
  }

  @Test("What is played is not heard by the other side, also when it comes back 150 ms later, and after the path changed")
  func echo() {
    let processor = VoiceProcessor(VoiceProcessorTests.echoOnly)
    var room = NoisyRoom(delay: 7_200)
    #expect(reduction(processor, &room, blocks: 300) > 30)
    #expect(abs(processor.figures.delay!.milliseconds - 150) <= 5)
    #expect(abs(processor.figures.echoReturnLoss! - 5) < 4, "a direct sound at half the amplitude, and what follows it")
    room.delay = 2_400
    room.gain = -0.3
    #expect(reduction(processor, &room, blocks: 400) > 25)
    #expect(abs(processor.figures.delay!.milliseconds - 50) <= 5)
    #expect(processor.figures.pathChangeCount == 1)
  }

  @Test("Who talks near the microphone is heard: alone, and while something is played")
  func nearVoice() {
    let processor = VoiceProcessor(VoiceProcessorTests.echoOnly)
    var room = NoisyRoom(delay: 960)
    #expect(abs(reduction(processor, &room, blocks: 100, voice: 0.2, isSilent: true)) < 1)
    _ = reduction(processor, &room, blocks: 200)
    // Echo and voice are as loud as each other.
    #expect(reduction(processor, &room, blocks: 100, voice: 0.12) < 8)
  }

  @Test("Who talks is not harmed by what is played where the microphone does not hear it")
  func headphones() {
    let processor = VoiceProcessor(VoiceProcessorTests.echoOnly)
    var room = NoisyRoom(delay: 960)
    room.gain = 0
    _ = reduction(processor, &room, blocks: 400)
    #expect(abs(reduction(processor, &room, blocks: 100, voice: 0.1)) < 1)
    #expect(processor.figures.delay == nil)
  }

  @Test("A microphone that is muted for a while forgets nothing")
  func muted() {
    let processor = VoiceProcessor(VoiceProcessorTests.echoOnly)
    var room = NoisyRoom(delay: 960)
    _ = reduction(processor, &room, blocks: 300)
    for _ in 0..<300 {
      processor.analyze(played: room.playedBlock().samples.span)
      _ = room.heardBlock()
      var silence = AudioBlock.silence()
      processor.process(captured: &silence)
    }
    #expect(reduction(processor, &room, blocks: 20) > 30, "within a fifth of a second, too short to learn anything anew")
    #expect(processor.figures.pathChangeCount == 0)
  }

  @Test("Delays of the devices that are known need not be found out, and may change")
  func knownDelay() {
    let processor = VoiceProcessor(VoiceProcessorTests.echoOnly)
    var room = NoisyRoom(delay: 480 + 14_400)
    let first = reduction(processor, &room, blocks: 100, delay: .milliseconds(300))
    #expect(first > 20, "within a second, which finding the delay alone takes")
    room.delay = 480 + 9_600
    #expect(reduction(processor, &room, blocks: 60, delay: .milliseconds(200)) > 20, "the path from device to device has stayed")
    #expect(processor.figures.pathChangeCount == 0)
  }

  @Test("Both channels of a stereo microphone are cleaned, and stay apart")
  func stereo() {
    let processor = VoiceProcessor(VoiceProcessorTests.echoOnly, channelCount: 2)
    var rooms = (NoisyRoom(delay: 480), NoisyRoom(delay: 720))
    rooms.1.gain = -0.4
    var (before, after): ([Double], [Double]) = ([], [])
    for number in 0..<150 {
      let played = rooms.0.playedBlock()
      _ = rooms.1.playedBlock()
      processor.analyze(played: played.converted(toChannelCount: 2).samples.span)
      let (left, right) = (rooms.0.heardBlock(), rooms.1.heardBlock())
      var block = AudioBlock(samples: (0..<AudioBlock.sampleCount).flatMap { [left.samples[$0], right.samples[$0]] }, channelCount: 2)
      if number >= 100 { before.append(block.meanSquare) }
      processor.process(captured: &block)
      if number >= 100 { after.append(block.meanSquare) }
    }
    #expect(before.decibels - after.decibels > 25)
  }

  @Test("Without any processing the sound is as it was, yet its level is known")
  func nothing() {
    let processor = VoiceProcessor(.none)
    var room = NoisyRoom(delay: 480)
    for _ in 0..<5 {
      processor.analyze(played: room.playedBlock().samples.span)
      let heard = room.heardBlock(voice: 0.1)
      var block = heard
      processor.process(captured: &block)
      #expect(block == heard)
      #expect(abs(Double(processor.figures.capturedLevel) - [heard.meanSquare].decibels) < 0.1)
      #expect(processor.figures.processedLevel == processor.figures.capturedLevel)
    }
    #expect(!VoiceProcessing.none.isNeeded)
  }

  @Test("Steady noise gets weaker with noise suppression, and quiet voices louder with gain control")
  func noiseAndGain() {
    let quiet = VoiceProcessor(VoiceProcessing(echoCancellation: false, noiseSuppression: true, autoGainControl: false))
    var room = NoisyRoom(delay: 480)
    room.noise = 0.01
    #expect(reduction(quiet, &room, blocks: 300, isSilent: true) > 10)
    let loud = VoiceProcessor(VoiceProcessing(echoCancellation: false, noiseSuppression: false, autoGainControl: true))
    room = NoisyRoom(delay: 480)
    room.gain = 0.1
    #expect(reduction(loud, &room, blocks: 300) < -6, "words of noise at -45 dB of full scale")
  }

  @Test("Sound is not kept waiting: not at all for echo and noise, 1 ms for gain control", arguments: [false, true])
  func delay(gainControl: Bool) {
    let processor = VoiceProcessor(VoiceProcessing(echoCancellation: true, noiseSuppression: true, autoGainControl: gainControl))
    var room = NoisyRoom(delay: 960)
    room.gain = 0
    var random = RandomSource(seed: 2)
    var (before, after): ([Float], [Float]) = ([], [])
    for number in 0..<200 {
      processor.analyze(played: room.playedBlock(isSilent: number % 4 != 0).samples.span)
      let loudness: Int16 = number % 40 < 30 ? 6_000 : 0
      var block = AudioBlock(samples: (0..<AudioBlock.sampleCount).map { _ in Int16.random(in: -loudness...loudness, using: &random) })
      before += block.samples.map { Float($0) }
      processor.process(captured: &block)
      after += block.samples.map { Float($0) }
    }
    // By how many samples the one has to be moved to be like the other.
    let likeness = (0..<480).map { delay in (48_000..<after.count).reduce(Float(0)) { $0 + before[$1 - delay] * after[$1] } }
    let delay = likeness.indices.max { likeness[$0] < likeness[$1] }!
    #expect(delay <= (gainControl ? 48 : 0), "\(delay) samples")
  }

  @Test("What is learnt after a block is on its way serves the next one as well as what is learnt before it")
  func learning() {
    let processors = (VoiceProcessor(VoiceProcessorTests.echoOnly), VoiceProcessor(VoiceProcessorTests.echoOnly))
    var room = NoisyRoom(delay: 1_440)
    for _ in 0..<50 {
      let played = room.playedBlock()
      let heard = room.heardBlock(voice: 0.01)
      var blocks = (heard, heard)
      processors.0.analyze(played: played.samples.span)
      processors.0.process(captured: &blocks.0)
      processors.0.learn()
      processors.1.analyze(played: played.samples.span)
      processors.1.process(captured: &blocks.1)
      #expect(blocks.0 == blocks.1)
    }
  }

  @Test("Blocks that were not played in time are counted and do no harm, and too many neither")
  func irregular() {
    let processor = VoiceProcessor(VoiceProcessorTests.echoOnly)
    var room = NoisyRoom(delay: 960)
    var block = room.heardBlock()
    for _ in 0..<3 { processor.process(captured: &block) }
    #expect(processor.figures.missingCount == 3)
    for _ in 0..<20 { processor.analyze(played: room.playedBlock().samples.span) }
    processor.process(captured: &block)
    #expect(processor.figures.surplusCount == 19)
    #expect(reduction(processor, &room, blocks: 200) > 30)
  }
}
