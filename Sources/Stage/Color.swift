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
