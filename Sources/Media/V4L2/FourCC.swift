/// How pixels or coded pictures lie in memory: a V4L2 four-character code (Linux, userspace-api/media/v4l/pixfmt).
public struct FourCC: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The first character in the lowest byte; bit 31 says big-endian.
  public var rawValue: UInt32

  /// The code with this value.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The code of four ASCII characters.
  public init(_ text: StaticString) {
    precondition(text.utf8CodeUnitCount == 4 && text.isASCII, "a code has four characters")
    rawValue = (0..<4).reduce(0) { unsafe $0 | UInt32(text.utf8Start[$1]) << (8 * UInt32($1)) }
  }

  public static let yuyv = FourCC("YUYV")
  public static let uyvy = FourCC("UYVY")
  public static let nv12 = FourCC("NV12")
  public static let yuv420 = FourCC("YU12")
  public static let mjpeg = FourCC("MJPG")
  public static let jpeg = FourCC("JPEG")
  public static let h264 = FourCC("H264")
  public static let vp8 = FourCC("VP80")
  public static let fwht = FourCC("FWHT")

  public var description: String {
    let characters = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> (8 * UInt32($0))) & 0x7F }
    return String(decoding: characters, as: UTF8.self).filter { $0 != " " } + (rawValue >> 31 == 1 ? " (big-endian)" : "")
  }
}
