import Base
import Call
import Frames
import Glibc
import Net
import Sound

/// Runs the audio threads on sound cards that are not there, in real time, and counts what they allocate, free and lock, and how often they wait, from their
/// second second on. Ends with 1 if they do what they must not do.
///
///     sound-trial [SECONDS]
@main struct Main {
  static func main() {
    let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 4
    let (microphoneCount, playoutCount) = (ThreadCount(), ThreadCount())
    let playout = PlayoutThread { () throws(SoundError) in
      let card = PresentCard(.playback, channelCount: 2, drift: 120, counts: playoutCount)
      return .init(try PlaybackStream(card, channelCount: 2), label: card.label, cardNumber: nil)
    }
    let microphone = MicrophoneThread(processing: VoiceProcessing(), reference: playout.reference) { () throws(SoundError) in
      let card = PresentCard(.capture, channelCount: 1, drift: -80, counts: microphoneCount)
      return .init(try CaptureStream(card), label: card.label, cardNumber: nil)
    }
    // The microphone is heard in two ways, one of them by the loudspeaker; others come and go while it is counted.
    let own = BlockSource()
    let sinks = [microphone.sound.add { own.put($0) }, microphone.sound(.none).add { _ in }]
    _ = playout.add(own, as: PlayedSound(gain: 0.5))
    let sounds = (0..<3).map { _ in PlayedSound() }
    var identifiers = sounds.map { playout.add(Tone(), as: $0) }
    let tap = sounds[0].sound.add { _ in }
    let end = MonotonicClock.now() + .seconds(seconds)
    while MonotonicClock.now() < end {
      usleep(100_000)
      playout.remove(identifiers[1])
      identifiers[1] = playout.add(Tone(), as: sounds[1])
      sounds[2].setGain(0.5)
    }
    sounds[0].sound.remove(tap)
    microphone.sound.remove(sinks[0])
    microphone.sound(.none).remove(sinks[1])
    let figures = (microphone.figures.stream, playout.figures.stream)
    microphone.stop()
    playout.stop()
    print(
      "capture: \(figures.0.xruns) xruns, delay \(figures.0.delay) ms; playback: \(figures.1.xruns) xruns, delay \(figures.1.delay) ms")
    // webrtc-audio-processing takes two of its own for each block, of which a turn may have more than one: no other thread ever does. The microphone's thread
    // sleeps a second time before it learns from a block.
    let isClean = [microphoneCount.report("microphone", locksPerTurn: 3, waitsPerTurn: 2), playoutCount.report("playout")]
    exit(isClean.contains(false) ? 1 : 0)
  }
}

/// A tone.
final class Tone: PlayoutSource {
  let channelCount = 1

  func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
    for index in 0..<AudioBlock.sampleCount { unsafe samples[index] = Int16(index % 48 * 100) }
    return true
  }
}
