/// What a control of a card's mixer does, by its name: drivers use the same names, more or less.
enum MixerControl: Equatable {
  /// Lets sound to the loudspeaker.
  case output
  /// Lets a microphone or another socket straight to the loudspeaker.
  case sidetone
  /// Lets sound in from a microphone.
  case microphone
  /// None of these.
  case other

  private static let sockets = ["beep", "loopback", "cd", "aux", "line in", "mix", "video", "phono"]
  private static let inputs = ["mic", "capture", "adc", "input", "sidetone"]

  /// What the part for playback of the control called `name` does.
  static func playback(_ name: String) -> MixerControl {
    let name = name.lowercased()
    if name.contains("boost") { return .other }
    return name == "line" || (inputs + sockets).contains(where: name.contains) ? .sidetone : .output
  }

  /// What the part for capture of the control called `name` does.
  static func capture(_ name: String) -> MixerControl {
    let name = name.lowercased()
    if name == "line" || sockets.contains(where: name.contains) { return .other }
    return (inputs + ["headset", "internal"]).contains(where: name.contains) ? .microphone : .other
  }

  /// Where a volume for playback goes, in hundredths of a decibel: to 0 dB, or as near as it gets. Nil where a range cannot be true: the
  /// raw scale has to do.
  static func playbackGain(range: ClosedRange<Int>) -> Int? { range.lowerBound < -100 ? min(range.upperBound, 0) : nil }

  /// Where a volume for capture goes: to 0 dB; one that only amplifies to its middle.
  static func captureGain(range: ClosedRange<Int>) -> Int {
    range.lowerBound >= 0 ? (range.lowerBound + range.upperBound) / 2 : min(range.upperBound, 0)
  }
}
