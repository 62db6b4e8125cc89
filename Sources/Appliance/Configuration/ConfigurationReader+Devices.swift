import Camera

extension ConfigurationReader {
  func readCamera(_ reader: TableReader) -> Configuration.Camera {
    var table = reader
    var camera = Configuration.Camera()
    camera.device = readDevice("device", in: &table, .camera) ?? camera.device
    camera.width = table.integer("width", in: 160...4_096) ?? camera.width
    camera.height = table.integer("height", in: 120...4_096) ?? camera.height
    camera.rate = table.number("rate", in: 1...120) ?? camera.rate
    camera.brightness = table.number("brightness", in: 0...100)
    camera.zoom = table.number("zoom", in: 0...100)
    camera.powerLineFrequency = readPowerLineFrequency(in: &table)
    camera.isMirrored = table.boolean("mirror") ?? false
    table.finish()
    if camera.settings == nil {
      for key in ["brightness", "zoom", "power_line_frequency", "mirror"] where table.has(key) {
        table.warn(key, "has no effect on \(camera.device), which is no camera of the machine")
      }
    }
    return camera
  }

  private func readPowerLineFrequency(in table: inout TableReader) -> CameraSettings.PowerLineFrequency? {
    let key = "power_line_frequency"
    let accepted = ["50", "60", "\"auto\"", "\"off\""]
    if table.isInteger(key) {
      guard let value = table.integer(key, in: Int.min...Int.max) else { return nil }
      if value == 50 { return .hertz50 }
      if value == 60 { return .hertz60 }
      table.fail(key, "\(value) is not accepted", accepted: accepted)
      return nil
    }
    guard let text = table.string(key) else { return nil }
    if text == "auto" { return .automatic }
    if text == "off" { return .off }
    table.fail(key, "\"\(text)\" is not accepted", accepted: accepted)
    return nil
  }

  mutating func readSound() -> Configuration.Sound {
    var sound = Configuration.Sound()
    guard var table = root.table("sound") else { return sound }
    sound.capture = readDevice("capture", in: &table, .capture) ?? sound.capture
    sound.playback = readDevice("playback", in: &table, .playback) ?? sound.playback
    sound.cancelsEcho = table.boolean("echo_cancellation") ?? sound.cancelsEcho
    sound.suppressesNoise = table.boolean("noise_suppression") ?? sound.suppressesNoise
    sound.controlsGain = table.boolean("automatic_gain") ?? sound.controlsGain
    sound.volume = table.integer("volume", in: 0...100) ?? sound.volume
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

  private func readDevice(_ key: String, in table: inout TableReader, _ kind: DeviceKind) -> Configuration.Device? {
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
