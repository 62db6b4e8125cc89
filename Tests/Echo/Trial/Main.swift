import CAllocations
import Frames
import Glibc
import Sound

/// `voice-trial FAR MICROPHONE OUT [noise] [gain]`: what a `VoiceProcessor` makes of two WAV files, with what it says of itself each second. Echo is cancelled in
/// any case; noise and gain are seen to when they are named. The last line says how often the processor allocated, freed and locked.
@main struct Main {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 3, arguments.dropFirst(3).allSatisfy({ ["noise", "gain"].contains($0) }) else {
      print("usage: voice-trial FAR MICROPHONE OUT [noise] [gain]")
      exit(64)
    }
    do throws(SoundError) {
      try process(arguments)
    } catch {
      print("voice-trial: \(error)")
      exit(66)
    }
  }

  private static func process(_ arguments: [String]) throws(SoundError) {
    let (far, microphone) = (try WAVFile(path: arguments[0]), try WAVFile(path: arguments[1]))
    var out = try WAVWriter(path: arguments[2], channelCount: microphone.channelCount)
    let settings = VoiceProcessing(
      echoCancellation: true, noiseSuppression: arguments.contains("noise"), autoGainControl: arguments.contains("gain"))
    let processor = VoiceProcessor(settings, channelCount: microphone.channelCount)
    var counts: (allocations: UInt64, frees: UInt64, locks: UInt64) = (0, 0, 0)
    for index in 0..<microphone.blockCount {
      let played = far.block(at: index)
      var block = microphone.block(at: index)
      // The block's samples become its own here, not in what is counted.
      block.samples[0] = block.samples[0]
      let before = (allocations_of_thread(), frees_of_thread(), locks_of_thread())
      processor.analyze(played: played.samples.span)
      processor.process(captured: &block)
      counts.allocations += allocations_of_thread() - before.0
      counts.frees += frees_of_thread() - before.1
      counts.locks += locks_of_thread() - before.2
      try out.write(block)
      if index % 100 == 99 {
        let figures = processor.figures
        print(
          (index + 1) / 100, figures.capturedLevel, figures.processedLevel, figures.echoReturnLoss ?? .nan,
          figures.echoReturnLossEnhancement ?? .nan,
          figures.delay?.milliseconds ?? .nan, figures.pathChangeCount)
      }
    }
    print("\(microphone.blockCount) blocks: \(counts.allocations) allocations, \(counts.frees) frees, \(counts.locks) locks")
  }
}
