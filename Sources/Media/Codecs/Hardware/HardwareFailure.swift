/// Why hardware was given up in mid-call, or was not taken.
enum HardwareFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// It cannot serve this stream, and may serve the next: it has no room, or not what was negotiated.
  case unsuitable(String)
  /// It does not do what it should.
  case failed(String)
  /// It did not answer in time.
  case hung(String)

  /// What an error of a device's encoder or decoder means.
  init(_ error: CodecError) {
    switch error {
    case .unavailable(let what), .invalidSetting(let what): self = .unsuitable(what)
    case .encodingFailed(let what), .malformed(let what): self = .failed(what)
    case .keyFrameRequired: self = .failed("asks for a key frame again and again")
    }
  }

  /// Whether the device is left alone until the process starts anew.
  var isLasting: Bool { if case .unsuitable = self { false } else { true } }

  var description: String {
    switch self {
    case .unsuitable(let what): "cannot serve: \(what)"
    case .failed(let what): "failed: \(what)"
    case .hung(let what): "hung: \(what)"
    }
  }
}
