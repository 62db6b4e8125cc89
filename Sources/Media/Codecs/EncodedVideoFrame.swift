import Frames

/// One compressed picture: a whole VP8 frame, or one H.264 access unit as an Annex B byte stream.
public struct EncodedVideoFrame: Sendable {
  /// The compressed bytes.
  public var bytes: [UInt8]
  /// Whether decoding can start here.
  public var isKeyFrame: Bool
  /// Width of the picture in pixels; 0 when the receiver has not looked.
  public var width: Int
  /// Height of the picture in pixels; 0 when the receiver has not looked.
  public var height: Int
  /// When the frame passed each stage.
  public var ledger: Ledger
  /// Clockwise turn that the display must apply.
  public var rotation: VideoFrame.Rotation
  /// The quantizer that the encoder used, in the codec's own scale (VP8 0…127, H.264 0…51), as W3C `qpSum` adds it up.
  public var quantizer: Int?

  /// A frame from its parts.
  public init(
    bytes: [UInt8], isKeyFrame: Bool, width: Int = 0, height: Int = 0, ledger: Ledger = Ledger(),
    rotation: VideoFrame.Rotation = .none, quantizer: Int? = nil
  ) {
    (self.bytes, self.isKeyFrame, self.width, self.height) = (bytes, isKeyFrame, width, height)
    (self.ledger, self.rotation, self.quantizer) = (ledger, rotation, quantizer)
  }
}
