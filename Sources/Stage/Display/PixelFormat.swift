/// How the pixels of a buffer lie in memory: a `DRM_FORMAT_…` code of `drm_fourcc.h`.
struct PixelFormat: Hashable, Sendable, CustomStringConvertible {
  /// Four characters, the first in the lowest byte.
  let rawValue: UInt32

  /// The format with this code.
  init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ code: StaticString) {
    var value: UInt32 = 0
    for (index, byte) in "\(code)".utf8.enumerated() { value |= UInt32(byte) << UInt32(8 * index) }
    rawValue = value
  }

  /// 32 bits: unused, red, green, blue from the highest byte.
  static let xrgb8888 = PixelFormat("XR24")
  /// 32 bits: alpha, red, green, blue from the highest byte.
  static let argb8888 = PixelFormat("AR24")
  /// Planes of Y, U and V, both chroma planes halved in both directions.
  static let yuv420 = PixelFormat("YU12")
  /// Planes of Y, V and U, both chroma planes halved in both directions.
  static let yvu420 = PixelFormat("YV12")
  /// A plane of Y and one of U and V in turn, halved in both directions.
  static let nv12 = PixelFormat("NV12")

  /// Whether colours are luma and chroma, which a plane converts.
  var isLumaChroma: Bool {
    [.yuv420, .yvu420, .nv12].contains(self) || ["NV21", "NV16", "NV61", "YUYV", "YVYU", "UYVY", "VYUY", "P010"].contains(description)
  }

  /// The code's four characters.
  var description: String {
    String(String.UnicodeScalarView((0..<4).map { Unicode.Scalar(UInt8(truncatingIfNeeded: rawValue >> (8 * $0))) }))
  }
}

/// A format with the layouts in memory that a plane takes it in.
struct FormatOffer: Hashable, Sendable {
  /// Rows one after the other (`DRM_FORMAT_MOD_LINEAR`).
  static let linear: UInt64 = 0

  /// The format.
  var format: PixelFormat
  /// `DRM_FORMAT_MOD_…` codes; `linear` alone where the driver names none.
  var modifiers: [UInt64] = [FormatOffer.linear]
}
