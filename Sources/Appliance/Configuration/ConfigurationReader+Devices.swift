import Camera

extension ConfigurationReader {
  func readCamera(_ table: TableReader) -> Configuration.Camera {
    var camera = Configuration.Camera()
    camera.device = readDevice("device", in: table, .camera) ?? camera.device
    camera.width = table.integer("width") ?? camera.width
    camera.height = table.integer("height") ?? camera.height
    camera.rate = table.number("rate") ?? camera.rate
    camera.brightness = table.number("brightness")
    camera.zoom = table.number("zoom")
    camera.powerLineFrequency = readPowerLineFrequency(in: table)
    camera.isMirrored = table.boolean("mirror") ?? false
    camera.ownH264 = table.word("own_h264", as: CameraSettings.OwnH264.self) ?? camera.ownH264
    table.finish()
    if camera.settings == nil {
      for key in ["brightness", "zoom", "power_line_frequency", "mirror", "own_h264"] where table.has(key) {
        table.warn(key, "has no effect on \(camera.device), which is no camera of the machine")
      }
    }
    return camera
  }

  private func readPowerLineFrequency(in table: TableReader) -> CameraSettings.PowerLineFrequency? {
    let key = "power_line_frequency"
    if table.isInteger(key) {
      guard let value = table.integer(key) else { return nil }
      if value == 50 { return .hertz50 }
      if value == 60 { return .hertz60 }
      table.fail(key, "\(value) is not accepted", accepted: table.accepted(key))
      return nil
    }
    guard let text = table.string(key) else { return nil }
    if text == "auto" { return .automatic }
    if text == "off" { return .off }
    table.fail(key, "\"\(text)\" is not accepted", accepted: table.accepted(key))
    return nil
  }

  func readSound() -> Configuration.Sound {
    var sound = Configuration.Sound()
    guard let table = root.table("sound") else { return sound }
    sound.capture = readDevice("capture", in: table, .capture) ?? sound.capture
    sound.playback = readDevice("playback", in: table, .playback) ?? sound.playback
    sound.cancelsEcho = table.boolean("echo_cancellation") ?? sound.cancelsEcho
    sound.suppressesNoise = table.boolean("noise_suppression") ?? sound.suppressesNoise
    sound.controlsGain = table.boolean("automatic_gain") ?? sound.controlsGain
    sound.volume = table.integer("volume") ?? sound.volume
    table.finish()
    return sound
  }

  /// What a key may name.
  private enum DeviceKind {
    case camera, capture, playback

    var fileType: String { self == .camera ? "y4m" : "wav" }

    var words: [String: Configuration.Device] {
      switch self {
      case .camera: ["any": .any, "none": .none, "synthetic": .synthetic]
      case .capture: ["any": .any, "default": .standard, "none": .none, "synthetic": .synthetic]
      case .playback: ["any": .any, "default": .standard, "none": .none]
      }
    }

    /// What else names a device of the machine.
    var names: String {
      self == .camera
        ? "a camera's name, or that of its link below /dev/v4l, or /dev/videoN"
        : "a card's identifier (/proc/asound/cards), or an ALSA name as \"hw:CARD,0\""
    }

    /// Whether `text` can be such a name.
    func isName(_ text: String) -> Bool {
      if self == .camera { return !text.hasPrefix("file:") && (!text.hasPrefix("/") || text.hasPrefix("/dev/")) }
      if text.contains(":") { return !text.hasPrefix("file:") && !text.contains(" ") }
      return text.utf8.count < 16 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
    }
  }

  private func readDevice(_ key: String, in table: TableReader, _ kind: DeviceKind) -> Configuration.Device? {
    guard let text = table.string(key) else { return nil }
    if text.hasPrefix("file:"), text.lowercased().hasSuffix(".\(kind.fileType)") { return .file(absolute(String(text.dropFirst(5)))) }
    if let device = kind.words[text] { return device }
    // What nobody makes must not look like a device that never comes.
    if kind.isName(text), !(kind == .playback && text == "synthetic") {
      if let word = NearestName.find(text, among: kind.words.keys) {
        table.warn(key, "\"\(text)\" is taken for a device's name; did you mean \"\(word)\"?")
      }
      return .named(text)
    }
    let words = kind.words.keys.sorted().map { "\"\($0)\"" }
    table.fail(key, "\"\(text)\" is not accepted", accepted: words + ["\"file:PATH.\(kind.fileType)\"", kind.names])
    return nil
  }
}
