/// What went wrong in an encoder or decoder. None of these ends the codec: the next good input works.
public enum CodecError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A setting is out of its range; the text names it and what is accepted.
  case invalidSetting(String)
  /// The codec library refused to start; the text is the library's.
  case unavailable(String)
  /// The encoder failed on a frame; the text is the library's.
  case encodingFailed(String)
  /// The encoded bytes cannot be decoded; the text says what was wrong.
  case malformed(String)
  /// The decoder has nothing that this frame could refer to: it needs a key frame first.
  case keyFrameRequired

  public var description: String {
    switch self {
    case .invalidSetting(let what): "invalid setting: \(what)"
    case .unavailable(let what): "codec unavailable: \(what)"
    case .encodingFailed(let what): "encoding failed: \(what)"
    case .malformed(let what): "malformed frame: \(what)"
    case .keyFrameRequired: "a key frame is required first"
    }
  }
}
