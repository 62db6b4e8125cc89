import Frames
import Sound

/// The test of microphone and loudspeaker: how they stand and what was heard go in, what that says comes out.
struct SoundCheck: Sendable {
  /// A device, by what it is called and how it stands.
  struct Device: Sendable {
    var name: String
    var state: DeviceState
  }

  /// Quieter than this is no room but a switch.
  private static let digitalSilence = -100.0
  /// Louder than this is distorted.
  private static let tooLoud = -3.0
  /// Cancellation takes so many dB at least, or leaves less than the room's own noise.
  private static let leastReduction = 12.0

  /// nil: the configuration has none.
  var microphone: Device?
  /// nil: the configuration has none, or a file in its place.
  var speaker: Device?
  /// How loud the box is.
  var volume: Volume
  /// What was heard; nil: no test was made.
  var result: SoundLoopTest.Result?

  /// Whether there is anything to be played and heard.
  var isPossible: Bool { microphone?.state.isRunning == true && speaker?.state.isRunning == true && volume.gain > 0 }

  /// What was found.
  var items: [CheckItem] { [microphoneItem, speakerItem, echoItem] }

  private var microphoneItem: CheckItem {
    guard let microphone else { return CheckItem("microphone", .skipped, "the configuration has none") }
    func found(_ verdict: CheckItem.Verdict, _ text: String) -> CheckItem {
      var figures: [String: Double] = [:]
      figures["noise_db"] = result?.noise
      return CheckItem("microphone", device: microphone.name, verdict, text, figures: figures)
    }
    if let failure = SoundCheck.failure(microphone.state) { return found(.failed, failure) }
    guard let result else { return found(.ok, "it gives sound") }
    if result.noise < SoundCheck.digitalSilence, result.level == nil {
      return found(.failed, "it gives nothing but zeros: is it switched off, by a switch on it or in its mixer?")
    }
    return found(.ok, "it gives sound; the room is \(SoundCheck.decibels(result.noise)) loud")
  }

  private var speakerItem: CheckItem {
    guard let speaker else { return CheckItem("speaker", .skipped, "the configuration has none") }
    func found(_ verdict: CheckItem.Verdict, _ text: String) -> CheckItem {
      var figures: [String: Double] = [:]
      figures["level_db"] = result?.level
      figures["delay_ms"] = result?.delay.map { $0.seconds * 1_000 }
      return CheckItem("speaker", device: speaker.name, verdict, text, figures: figures)
    }
    if let failure = SoundCheck.failure(speaker.state) { return found(.failed, failure) }
    if volume.gain == 0 { return found(.failed, "the box is at \(volume.text): nothing can be heard; see parlor volume") }
    guard let result else { return found(.ok, "it takes sound; whether it is heard, only a microphone can tell") }
    guard let delay = result.delay, let level = result.level else {
      return found(
        .failed,
        "the chirp was not heard: is the loudspeaker switched on, turned up, and this one? (the room is \(SoundCheck.decibels(result.noise)) loud)"
      )
    }
    let heard = "a chirp was heard after \(Int((delay.seconds * 1_000).rounded())) ms, \(SoundCheck.decibels(level)) loud"
    if level > SoundCheck.tooLoud { return found(.failed, "too loud: \(heard); turn the loudspeaker or the microphone down") }
    return found(.ok, heard)
  }

  private var echoItem: CheckItem {
    guard let result, result.level != nil else { return CheckItem("echo", .skipped, "no chirp was heard") }
    guard let left = result.echo, let reduction = result.reduction else {
      return CheckItem("echo", .skipped, "this microphone's sound is not processed")
    }
    let isGone = reduction >= SoundCheck.leastReduction || left <= result.noise + 3
    let text = "\(SoundCheck.decibels(left)) are left after cancellation, \(Int(reduction.rounded())) dB less than came"
    return CheckItem(
      "echo", isGone ? .ok : .failed,
      isGone ? text : "others hear themselves: \(text); turn the loudspeaker down, or move the microphone away from it",
      figures: ["left_db": left, "reduction_db": reduction])
  }

  private static func failure(_ state: DeviceState) -> String? {
    if let reason = state.reason { return "\(state.word): \(reason)" }
    return state.isRunning ? nil : "it did not start in time"
  }

  private static func decibels(_ value: Double) -> String { "\(Int(value.rounded())) dB" }
}
