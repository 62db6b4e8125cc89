/// The CRC-32 of ITU-T V.42, which FINGERPRINT uses.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }

  /// The checksum of `bytes`.
  static func checksum(_ bytes: RawSpan) -> UInt32 {
    let table = table
    return bytes.withUnsafeBytes { buffer in
      ~buffer.reduce(UInt32.max) { value, byte in table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    }
  }
}
