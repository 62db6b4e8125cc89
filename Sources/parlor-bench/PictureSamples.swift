/// Encoded pictures that are none, but are cut, sent and joined like any.
enum PictureSamples {
  /// `count` bytes that begin as a VP8 key frame or another frame does.
  static func vp8(isKeyFrame: Bool, count: Int) -> [UInt8] {
    let tag: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xB4, 0x00] : [0x11, 0, 0]
    return tag + (0..<max(0, count - tag.count)).map { UInt8(truncatingIfNeeded: $0 &* 37) }
  }
}
