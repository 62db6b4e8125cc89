/// The uncompressed data chunk at the start of a VP8 frame (RFC 6386 section 9.1).
public struct VP8FrameHeader: Sendable, Equatable {
  /// The largest picture that is decoded: 4096×2304.
  static let maximumPixelCount = 4_096 * 2_304

  /// Whether decoding can start here.
  public let isKeyFrame: Bool
  /// Whether the frame is meant to be displayed.
  public let isShown: Bool
  /// Width in pixels, for key frames; else 0.
  public let width: Int
  /// Height in pixels, for key frames; else 0.
  public let height: Int

  /// Reads the header; nil when the bytes cannot start a frame.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count >= 3 else { return nil }
    isKeyFrame = bytes[0] & 1 == 0
    isShown = bytes[0] & 0x10 != 0
    let firstPartitionCount = (Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16) >> 5
    guard isKeyFrame else {
      (width, height) = (0, 0)
      if 3 + firstPartitionCount > bytes.count { return nil }
      return
    }
    guard bytes.count >= 10, bytes[3] == 0x9D, bytes[4] == 0x01, bytes[5] == 0x2A, 10 + firstPartitionCount <= bytes.count else {
      return nil
    }
    // The two top bits of each side are a scale for the display, which WebRTC does not use.
    width = (Int(bytes[6]) | Int(bytes[7]) << 8) & 0x3FFF
    height = (Int(bytes[8]) | Int(bytes[9]) << 8) & 0x3FFF
  }
}
