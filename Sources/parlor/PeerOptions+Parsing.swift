import Appliance
import Call
import Codecs

extension PeerOptions {
  /// Reads the options of `parlor peer`.
  init(_ line: ParsedLine) throws(VerbFailure) {
    self.init()
    if line.flags.contains("--offer"), line.flags.contains("--answer") {
      throw VerbFailure(.usage, "--offer and --answer exclude each other")
    }
    if line.flags.contains("--answer") { role = .answer }
    videoCodec = try line.word("--codec", VideoCodec.allCases)
    packetizationMode = try line.number("--packetization-mode", in: 0...1) ?? packetizationMode
    if line.values["--audio"] == "none" { hasAudio = false } else { audioCodec = try line.word("--audio", AudioCodec.allCases) }
    hasVideo = try line.isOn("--video") ?? hasVideo
    hasData = try line.isOn("--data") ?? hasData
    switch line.values["--direction"] {
    case nil, "sendrecv": break
    case "sendonly": receives = false
    case "recvonly": sends = false
    case let text?: throw VerbFailure(.usage, "--direction: \"\(text)\" is not accepted; accepted: sendrecv, sendonly, recvonly")
    }
    seconds = try line.number("--seconds", in: 0...86_400).map(Double.init) ?? seconds
    connectSeconds = try line.number("--timeout", in: 1...3_600).map(Double.init) ?? connectSeconds
    isRelayOnly = line.flags.contains("--relay-only")
    concealsAddresses = line.flags.contains("--conceal")
    authorities = line.lists["--ca"] ?? []
    for text in line.lists["--ice-server"] ?? [] {
      let parts = text.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 1 || parts.count == 3 else {
        throw VerbFailure(.usage, "--ice-server: \"\(text)\" is not accepted; accepted: URL or URL,USER,PASSWORD")
      }
      iceServers.append(
        ICEServer(url: parts[0], username: parts.count == 3 ? parts[1] : nil, credential: parts.count == 3 ? parts[2] : nil))
    }
    if let text = line.values["--size"] {
      let sides = text.split(separator: "x").compactMap { Int($0) }
      guard sides.count == 2, sides.allSatisfy({ (160...3_840).contains($0) && $0 % 2 == 0 }) else {
        throw VerbFailure(.usage, "--size: \"\(text)\" is not accepted; accepted: WxH, even, from 160 to 3840")
      }
      (width, height) = (sides[0], sides[1])
    }
    framesPerSecond = try line.number("--rate", in: 1...120).map(Double.init) ?? framesPerSecond
    bitrate = try line.number("--bitrate", in: 50_000...50_000_000) ?? bitrate
    recording = line.values["--record"]
  }
}

extension ParsedLine {
  /// The value of an option that names one of some words, whatever their case.
  func word<Word: RawRepresentable<String>>(_ name: String, _ words: [Word]) throws(VerbFailure) -> Word? {
    guard let text = values[name] else { return nil }
    guard let word = words.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
      throw VerbFailure(.usage, "\(name): \"\(text)\" is not accepted; accepted: " + words.map(\.rawValue).joined(separator: ", "))
    }
    return word
  }

  /// The value of an option that is a number.
  func number(_ name: String, in range: ClosedRange<Int>) throws(VerbFailure) -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw VerbFailure(.usage, "\(name): \"\(text)\" is not accepted; accepted: \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The value of an option that is `on` or `off`.
  func isOn(_ name: String) throws(VerbFailure) -> Bool? {
    guard let text = values[name] else { return nil }
    guard text == "on" || text == "off" else { throw VerbFailure(.usage, "\(name): \"\(text)\" is not accepted; accepted: on, off") }
    return text == "on"
  }
}
