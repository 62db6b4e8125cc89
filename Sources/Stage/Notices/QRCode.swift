import CQREncode
import Glibc

/// A QR code (ISO/IEC 18004): which of its squares are dark.
struct QRCode: Equatable {
  /// Squares on each side, the light border left out.
  let size: Int
  private let modules: [Bool]

  /// The light border that scanners need, in squares (section 9.1).
  static let border = 4

  /// The smallest code that says `text`; nil when it is empty or longer than a code can be.
  init?(_ text: String) {
    guard !text.utf8.contains(0), let code = unsafe QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
    defer { unsafe QRcode_free(code) }
    size = unsafe Int(code.pointee.width)
    modules = (0..<size * size).map { unsafe code.pointee.data[$0] & 1 == 1 }
  }

  /// Whether the square in this column and row is dark.
  func isDark(_ column: Int, _ row: Int) -> Bool { modules[row * size + column] }
}
