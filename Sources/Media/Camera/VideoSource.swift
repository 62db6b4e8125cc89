import Base
import Frames

/// Where pictures come from, other than a device: each frame is asked for by its number, so that whoever asks sets the pace.
public protocol VideoSource: AnyObject, Sendable {
  /// Width of every frame in pixels.
  var width: Int { get }
  /// Height of every frame in pixels.
  var height: Int { get }
  /// How many frames a second is made of.
  var framesPerSecond: Double { get }

  /// Frame number `index` (from 0, without end), its ledger's `.capture` stage set to `captureTime`.
  func frame(at index: Int, captureTime: Instant) throws(CameraError) -> VideoFrame
}

extension VideoSource {
  /// When frame `index` is due, on a clock that starts with frame 0.
  public func time(of index: Int) -> Instant { .zero + .seconds(Double(index) / framesPerSecond) }

  /// Frame number `index`, captured on time by a clock that starts with frame 0.
  public func frame(at index: Int) throws(CameraError) -> VideoFrame { try frame(at: index, captureTime: time(of: index)) }
}

/// What can be wrong with a source of pictures.
public enum CameraError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A file cannot be opened, read or written; `reason` is the system's.
  case file(path: String, reason: String)
  /// A file is not what it should be; `reason` says what is accepted.
  case malformed(path: String, reason: String)

  public var description: String {
    switch self {
    case .file(let path, let reason), .malformed(let path, let reason): "\(path): \(reason)"
    }
  }
}
