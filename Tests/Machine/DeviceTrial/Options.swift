import Camera
import Sound

/// What the command line says; a device that it doesn't name isn't used.
struct Options {
  var camera: CameraSettings?
  var capture: SoundSelection?
  var playback: SoundSelection?
  var processing = VoiceProcessing.none

  init?(_ words: ArraySlice<String>) {
    guard words.count.isMultiple(of: 2) else { return nil }
    var settings = CameraSettings()
    (settings.width, settings.height) = (640, 360)
    var usesCamera = false
    for index in stride(from: words.startIndex, to: words.endIndex, by: 2) {
      let value = words[index + 1]
      switch words[index] {
      case "--camera":
        usesCamera = true
        settings.selection = value == "any" ? .any : .named(value)
      case "--size":
        let sizes = value.split(separator: "x").compactMap { Int($0) }
        guard sizes.count == 2 else { return nil }
        (settings.width, settings.height) = (sizes[0], sizes[1])
      case "--rate":
        guard let rate = Double(value), rate > 0 else { return nil }
        settings.framesPerSecond = rate
      case "--brightness":
        guard let share = Double(value) else { return nil }
        settings.brightness = share
      case "--own-h264": settings.ownH264 = value == "always" ? .always : value == "never" ? .never : .automatic
      case "--capture": capture = Options.selection(value)
      case "--playback": playback = Options.selection(value)
      case "--processing": processing = value == "on" ? VoiceProcessing() : .none
      default: return nil
      }
    }
    if usesCamera { camera = settings }
  }

  private static func selection(_ name: String) -> SoundSelection {
    switch name {
    case "any": .any
    case "default": .standard
    default: .named(name)
    }
  }
}
