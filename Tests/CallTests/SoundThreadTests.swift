import Base
import Frames
import Glibc
import Net
import Sound
import Synchronization
import Testing

@testable import Call

/// The audio threads on sound cards that are not there, in real time. What is asserted comes to pass sooner or later, however busy the machine is.
@Suite struct SoundThreadTests {
  /// A card that the test can take away.
  private final class Card: PCM {
    private let card: SimulatedCard
    private let isUnplugged: Flag

    init(_ direction: SoundDirection, channelCount: Int, isUnplugged: Flag) {
      card = SimulatedCard(direction: direction, configuration: PCMConfiguration(channelCount: channelCount))
      card.voice = { _ in 0.25 }
      self.isUnplugged = isUnplugged
    }

    private var present: SimulatedCard {
      card.now = MonotonicClock.now()
      if isUnplugged.isSet { card.unplug() }
      return card
    }

    var label: String { card.label }
    var direction: SoundDirection { card.direction }
    var configuration: PCMConfiguration { card.configuration }
    func start() -> Int32 { present.start() }
    func recover(from error: Int32) -> Int32 { present.recover(from: error) }
    func available() -> Int { present.available() }
    func delay() -> Int { present.delay() }
    func lastUpdate() -> PCMUpdate { present.lastUpdate() }
    func read(into frames: UnsafeMutableRawPointer, count: Int) -> Int { unsafe present.read(into: frames, count: count) }
    func write(_ frames: UnsafeRawPointer, count: Int) -> Int { unsafe present.write(frames, count: count) }
    func wait(until deadline: Instant) { MonotonicClock.sleep(until: deadline) }
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set(_ value: Bool) { self.value.store(value, ordering: .releasing) }
  }

  private final class States: Sendable {
    private let words = Mutex<[String]>([])
    func add(_ state: DeviceState) { words.withLock { $0.append(state.word) } }
    var all: [String] { words.withLock { $0 } }
  }

  private func eventually(_ what: Comment, _ condition: () -> Bool) async {
    let end = MonotonicClock.now() + .seconds(300)
    while !condition() {
      guard MonotonicClock.now() < end else {
        Issue.record(what)
        return
      }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  @Test func aMicrophoneIsHeardWhenItIsThereAndSilentMeanwhile() async {
    let (unplugged, states) = (Flag(), States())
    unplugged.set(true)
    let microphone = MicrophoneThread(processing: .none, reference: nil) { () throws(SoundError) in
      if unplugged.isSet { throw .absent(device: "any", reason: "there is no microphone") }
      let card = Card(.capture, channelCount: 1, isUnplugged: unplugged)
      return .init(try CaptureStream(card), label: card.label, cardNumber: nil)
    }
    defer { microphone.stop() }
    _ = microphone.watch.add { states.add($0) }
    let loudness = Mutex((count: 0, peak: 0.0))
    let sink = microphone.sound.add { block in loudness.withLock { $0 = ($0.count + 1, block.peak) } }
    await eventually("silence comes while there is no microphone") { loudness.withLock { $0.count > 5 && $0.peak == 0 } }
    unplugged.set(false)
    await eventually("it is heard when it is plugged in") { loudness.withLock { $0.peak > 0.2 } }
    #expect(microphone.watch.state == .running(name: "simulated card"))
    microphone.setMuted(true)
    await eventually("muted") { loudness.withLock { $0.peak == 0 } }
    microphone.setMuted(false)
    await eventually("no longer muted") { loudness.withLock { $0.peak > 0.2 } }
    unplugged.set(true)
    await eventually("silence comes when it is unplugged") { loudness.withLock { $0.peak == 0 } }
    unplugged.set(false)
    await eventually("and sound when it is back") { loudness.withLock { $0.peak > 0.2 } }
    microphone.sound.remove(sink)
    #expect(states.all.filter { $0 == "running" }.count == 2 && states.all.contains("absent"))
    #expect(microphone.figures.capturedPeak > 0.2)
  }

  @Test func eachGetsTheProcessingThatHeAskedFor() async {
    let flag = Flag()
    let microphone = MicrophoneThread(processing: VoiceProcessing(), reference: nil) { () throws(SoundError) in
      let card = Card(.capture, channelCount: 1, isUnplugged: flag)
      return .init(try CaptureStream(card), label: card.label, cardNumber: nil)
    }
    defer { microphone.stop() }
    let peaks = Mutex((raw: 0.0, processed: 1.0))
    let raw = microphone.sound(.none).add { block in peaks.withLock { $0.raw = block.peak } }
    let processed = microphone.sound.add { block in peaks.withLock { $0.processed = block.peak } }
    // A steady offset is no voice: the library's high-pass filter takes it out.
    await eventually("one is processed, the other is not") { peaks.withLock { $0.raw > 0.2 && $0.processed < 0.05 } }
    #expect(microphone.sound(.none) !== microphone.sound)
    microphone.sound(.none).remove(raw)
    microphone.sound.remove(processed)
  }

  @Test func whatIsPlayedGoesOnWithoutALoudspeaker() async {
    let (unplugged, states) = (Flag(), States())
    let playout = PlayoutThread { () throws(SoundError) in
      if unplugged.isSet { throw .busy(device: "any") }
      let card = Card(.playback, channelCount: 2, isUnplugged: unplugged)
      return .init(try PlaybackStream(card, channelCount: 2), label: card.label, cardNumber: nil)
    }
    defer { playout.stop() }
    _ = playout.watch.add { states.add($0) }
    playout.reference.setWanted(true)
    let source = Source()
    let heard = PlayedSound()
    let tapped = Mutex(0)
    let tap = heard.sound.add { _ in tapped.withLock { $0 += 1 } }
    let identifier = playout.add(source, as: heard)
    await eventually("it runs") { playout.watch.state.isRunning && playout.figures.stream.frames > 4_800 }
    await eventually("the canceller is told") {
      var timeline = EchoTimeline()
      playout.reference.move(to: &timeline)
      var samples = [Int16](repeating: 0, count: 480)
      return timeline.read(into: &samples, at: MonotonicClock.now())
    }
    unplugged.set(true)
    await eventually("it is missed") { states.all.contains("absent") || states.all.contains("busy") }
    let before = source.count.load(ordering: .relaxed)
    await eventually("the source is asked all the same") { source.count.load(ordering: .relaxed) > before + 10 }
    unplugged.set(false)
    await eventually("it is back") { playout.watch.state.isRunning && playout.figures.stream.frames > 4_800 }
    #expect(tapped.withLock { $0 } > 0)
    playout.remove(identifier)
    heard.sound.remove(tap)
    var asked = -1
    await eventually("a source that was removed is asked no more") {
      defer { asked = source.count.load(ordering: .relaxed) }
      usleep(20_000)
      return asked == source.count.load(ordering: .relaxed)
    }
  }

  private final class Source: PlayoutSource {
    let channelCount = 1
    let count = Atomic(0)

    func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
      count.add(1, ordering: .relaxed)
      for index in 0..<AudioBlock.sampleCount { unsafe samples[index] = 8_000 }
      return true
    }
  }

  @Test func soundsAreMixedAndCutAtFullScale() async {
    let last = Mutex<AudioBlock?>(nil)
    let playout = PlayoutThread { block, _ in last.withLock { $0 = block } }
    defer { playout.stop() }
    let sounds = (0..<3).map { _ in PlayedSound() }
    let identifiers = sounds.map { playout.add(Source(), as: $0) }
    await eventually("three of 8,000 are 24,000") { last.withLock { $0?.samples.allSatisfy { $0 == 24_000 } ?? false } }
    sounds[0].setGain(0.5)
    await eventually("one of them at half its loudness") { last.withLock { $0?.samples.allSatisfy { $0 == 20_000 } ?? false } }
    sounds[0].setGain(9)
    await eventually("cut at full scale") { last.withLock { $0?.samples.allSatisfy { $0 == 32_767 } ?? false } }
    playout.setGain(0)
    await eventually("silent") { last.withLock { $0?.samples.allSatisfy { $0 == 0 } ?? false } }
    playout.setGain(1)
    playout.remove(identifiers[0])
    await eventually("two of 8,000 are 16,000") { last.withLock { $0?.samples.allSatisfy { $0 == 16_000 } ?? false } }
  }
}
