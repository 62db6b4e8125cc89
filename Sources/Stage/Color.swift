import Glibc

/// An opaque colour, 8 bits a channel.
public struct Color: Sendable, Hashable {
  /// Red, 0 to 255.
  public var red: UInt8
  /// Green, 0 to 255.
  public var green: UInt8
  /// Blue, 0 to 255.
  public var blue: UInt8

  /// The colour with these channels.
  public init(red: UInt8, green: UInt8, blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

  /// Reads `#rrggbb`; nil for anything else.
  public init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 7, digits[0] == UInt8(ascii: "#") else { return nil }
    var channels: [UInt8] = []
    for start in stride(from: 1, to: 7, by: 2) {
      guard digits[start] != UInt8(ascii: "+"), digits[start] != UInt8(ascii: "-"),
        let channel = UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16)
      else { return nil }
      channels.append(channel)
    }
    self.init(red: channels[0], green: channels[1], blue: channels[2])
  }

  /// Alpha (255), red, green, blue from the highest byte.
  var opaqueValue: UInt32 { 0xFF00_0000 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue) }

  /// Black.
  public static let black = Color(red: 0, green: 0, blue: 0)
  /// White.
  public static let white = Color(red: 255, green: 255, blue: 255)
}

extension Color {
  /// How bright it looks: 0 (black) to 1 (white). Relative luminance of WCAG 2.1.
  var luminance: Double {
    func linear(_ channel: UInt8) -> Double {
      let value = Double(channel) / 255
      return value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  }
}

extension Notice.Theme {
  /// How well the letters stand out: 1 (not at all) to 21. Contrast ratio of WCAG 2.1.
  public var contrast: Double {
    let (a, b) = (foreground.luminance, background.luminance)
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
  }
}
