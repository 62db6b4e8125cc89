import Base
import Call
import Frames
import Sound
import Synchronization

/// A microphone and a loudspeaker on the threads that calls have them on.
final class SoundTrial {
  private let playout: PlayoutThread?
  private let microphone: MicrophoneThread?
  private let processing: VoiceProcessing
  /// What is played, and its number with the playout thread.
  private var played: (source: any PlayoutSource, identifier: Int)?
  private var sinks: [Int] = []
  private let heard = Heard()
  private var recordingPath = ""

  init(_ options: Options) {
    processing = options.processing
    let playout = options.playback.map { PlayoutThread(selection: $0) }
    microphone = options.capture.map { MicrophoneThread(selection: $0, processing: options.processing, reference: playout?.reference) }
    self.playout = playout
    if let microphone { sinks.append(microphone.sound.add { [heard] block in heard.take(block) }) }
  }

  /// What comes of a line; nil: it is not one for sound.
  func answer(_ command: String, _ value: String) throws -> [String: Any]? {
    switch command {
    case "loop":
      removePlayed()
      while sinks.count > 1 { microphone?.sound.remove(sinks.removeLast()) }
      guard value == "on", let microphone, let playout else { break }
      let source = BlockSource()
      played = (source, playout.add(source, as: PlayedSound()))
      sinks.append(microphone.sound.add { block in source.put(block) })
    case "play":
      removePlayed()
      guard value != "off", let playout else { break }
      let source = PlayedFile(try WAVFile(path: value))
      played = (source, playout.add(source, as: PlayedSound()))
    case "record":
      recordingPath = value
      heard.recording.withLock { $0 = [] }
    case "recorded":
      let samples = heard.recording.withLock { samples in
        defer { samples = nil }
        return samples ?? []
      }
      var writer = try WAVWriter(path: recordingPath)
      for start in stride(from: 0, to: samples.count, by: AudioBlock.sampleCount) {
        try writer.write(AudioBlock(samples: Array(samples[start..<start + AudioBlock.sampleCount])))
      }
    default: return nil
    }
    return status
  }

  private func removePlayed() {
    if let played { playout?.remove(played.identifier) }
    played = nil
  }

  /// How both stand.
  var status: [String: Any] {
    var status: [String: Any] = [:]
    if let microphone {
      let figures = microphone.figures
      status["capture"] = describe(microphone.watch.state, figures.stream, peak: figures.capturedPeak)
      status["blocks"] = heard.blockCount.load(ordering: .relaxed)
    }
    if let playout { status["playback"] = describe(playout.watch.state, playout.figures.stream, peak: playout.figures.peak) }
    return status
  }

  private func describe(_ state: DeviceState, _ figures: StreamFigures, peak: Double) -> [String: Any] {
    var name = ""
    if case .running(let running) = state { name = running }
    return [
      "state": state.word, "name": name, "reason": state.reason ?? "", "xruns": figures.xruns, "frames": figures.frames,
      "discarded": figures.discardedFrames, "inserted": figures.insertedFrames, "fill_ms": figures.fill, "delay_ms": figures.delay,
      "drift_ppm": figures.drift, "period_ms": figures.period, "buffer_ms": figures.buffer, "peak": peak,
    ]
  }

  func stop() {
    removePlayed()
    microphone?.stop()
    playout?.stop()
  }
}

/// A file that is heard over and over.
private final class PlayedFile: PlayoutSource, @unchecked Sendable {
  // Unchecked: `next` belongs to the playout thread.
  let channelCount: Int
  private let blocks: [AudioBlock]
  private var next = 0

  init(_ file: WAVFile) {
    channelCount = file.channelCount
    blocks = (0..<file.blockCount).map { file.block(at: $0, captureTime: nil) }
  }

  func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
    let block = blocks[next]
    next = (next + 1) % blocks.count
    for index in block.samples.indices { samples[index] = block.samples[index] }
    return true
  }
}

/// What the microphone has heard.
private final class Heard: Sendable {
  let recording = Mutex<[Int16]?>(nil)
  let blockCount = Atomic(0)

  func take(_ block: AudioBlock) {
    blockCount.add(1, ordering: .relaxed)
    recording.withLock { $0?.append(contentsOf: block.samples) }
  }
}
