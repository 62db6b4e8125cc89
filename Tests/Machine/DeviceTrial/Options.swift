import Sound

/// What the command line says; a device that it doesn't name isn't used.
struct Options {
  var capture: SoundSelection?
  var playback: SoundSelection?
  var processing = VoiceProcessing.none

  init?(_ words: ArraySlice<String>) {
    guard words.count.isMultiple(of: 2) else { return nil }
    for index in stride(from: words.startIndex, to: words.endIndex, by: 2) {
      let value = words[index + 1]
      switch words[index] {
      case "--capture": capture = Options.selection(value)
      case "--playback": playback = Options.selection(value)
      case "--processing": processing = value == "on" ? VoiceProcessing() : .none
      default: return nil
      }
    }
  }

  private static func selection(_ name: String) -> SoundSelection {
    switch name {
    case "any": .any
    case "default": .standard
    default: .named(name)
    }
  }
}
