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
