import Base
import Frames

/// Where sound comes from, other than a device: each 10 ms block is asked for by its number, so that whoever asks sets the pace.
public protocol AudioSource: AnyObject, Sendable {
  /// 1 or 2.
  var channelCount: Int { get }

  /// Block number `index` (from 0, without end), its first sample captured at `captureTime`.
  func block(at index: Int, captureTime: Instant?) -> AudioBlock
}

extension AudioSource {
  /// Block number `index`, without a capture time.
  public func block(at index: Int) -> AudioBlock { block(at: index, captureTime: nil) }
}

/// What can be wrong with a source of sound.
public enum SoundError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A file cannot be opened, read or written; `reason` is the system's.
  case file(path: String, reason: String)
  /// A file is not what it should be; `reason` says what is accepted.
  case malformed(path: String, reason: String)
  /// Two sample rates that cannot be converted into each other.
  case unsupportedRate(Int)

  public var description: String {
    switch self {
    case .file(let path, let reason), .malformed(let path, let reason): "\(path): \(reason)"
    case .unsupportedRate(let rate): "sample rate \(rate) Hz, accepted are 4000 to 192000"
    }
  }
}
