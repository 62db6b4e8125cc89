/// The two companding laws of ITU-T G.711.
enum G711 {
  /// Which law.
  enum Law { case mu, a }

  /// The linear values of a law's 256 codes.
  static func expansion(_ law: Law) -> [Int16] { (0...255).map { expand(UInt8($0), law) } }

  static func expand(_ code: UInt8, _ law: Law) -> Int16 {
    switch law {
    case .mu:
      let inverted = ~code
      let exponent = Int32(inverted >> 4 & 7)
      let magnitude = ((Int32(inverted & 0x0F) << 3 + 0x84) << exponent) - 0x84
      return Int16(inverted & 0x80 != 0 ? -magnitude : magnitude)
    case .a:
      let toggled = code ^ 0x55
      let exponent = Int32(toggled >> 4 & 7)
      let mantissa = Int32(toggled & 0x0F) << 4 + 8
      let magnitude = exponent == 0 ? mantissa : (mantissa + 0x100) << (exponent - 1)
      return Int16(toggled & 0x80 != 0 ? magnitude : -magnitude)
    }
  }

  static func compress(_ sample: Int16, _ law: Law) -> UInt8 {
    let value = Int32(sample)
    switch law {
    case .mu:
      let magnitude = min(abs(value), 32_635) + 0x84
      let exponent = Int32(31 - magnitude.leadingZeroBitCount - 7)
      let mantissa = magnitude >> (exponent + 3) & 0x0F
      return ~UInt8((value < 0 ? 0x80 : 0) | exponent << 4 | mantissa)
    case .a:
      let magnitude = (value < 0 ? ~value : value) >> 4
      let sign: Int32 = value < 0 ? 0 : 0x80
      if magnitude < 32 { return UInt8(sign | magnitude) ^ 0x55 }  // the first two segments are one straight line
      let exponent = Int32(31 - magnitude.leadingZeroBitCount - 3)
      let mantissa = magnitude >> (exponent - 1) & 0x0F
      return UInt8(sign | exponent << 4 | mantissa) ^ 0x55
    }
  }
}
