import Base

/// A picture on its way through the media path: pixels, orientation, and the ledger of when it passed where.
public struct VideoFrame: Sendable {
  /// Clockwise turn that the display must apply (the `urn:3gpp:video-orientation` header extension's meaning).
  public enum Rotation: Int, Sendable {
    case none = 0
    case quarter = 90
    case half = 180
    case threeQuarters = 270
  }

  /// The pixels. Other ones are not in a device's memory: `deviceBuffer` goes with those that were.
  public var buffer: VideoBuffer { didSet { deviceBuffer = nil } }
  /// Clockwise turn that the display must apply.
  public var rotation: Rotation
  /// When the frame passed each stage.
  public var ledger: Ledger
  /// The same picture in a device's memory, for a display that can show it from there; nil: there is none.
  public var deviceBuffer: DeviceBuffer?

  /// A frame of `buffer`'s pixels.
  public init(buffer: VideoBuffer, rotation: Rotation = .none, ledger: Ledger = Ledger(), deviceBuffer: DeviceBuffer? = nil) {
    (self.buffer, self.rotation, self.ledger, self.deviceBuffer) = (buffer, rotation, ledger, deviceBuffer)
  }

  /// Width in pixels before rotation.
  public var width: Int { buffer.width }
  /// Height in pixels before rotation.
  public var height: Int { buffer.height }
}
