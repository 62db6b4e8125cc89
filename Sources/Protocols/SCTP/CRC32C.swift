import Bytes

/// The CRC-32C (Castagnoli) checksum of SCTP packets (RFC 9260 section 6.8 and appendix A), eight bytes at a step.
enum CRC32C {
  /// Entry `256 * k + b` is the remainder of byte `b` followed by `k` zero bytes.
  private static let table: [UInt32] = {
    var table = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var remainder = UInt32(byte)
      for _ in 0..<8 { remainder = remainder & 1 == 1 ? (remainder >> 1) ^ 0x82F6_3B78 : remainder >> 1 }
      table[byte] = remainder
    }
    for index in 256..<table.count {
      let previous = table[index - 256]
      table[index] = (previous >> 8) ^ table[Int(previous & 0xFF)]
    }
    return table
  }()

  /// The checksum of `bytes`. With `skippingField` the four bytes from that offset on count as zero: the checksum field itself.
  static func checksum(_ bytes: RawSpan, skippingField field: Int? = nil) -> UInt32 {
    guard let field, field + 4 <= bytes.byteCount else { return ~update(~0, bytes) }
    var state = update(~0, bytes.extracting(0..<field))
    let table = self.table
    for _ in 0..<4 { state = (state >> 8) ^ table[Int(state & 0xFF)] }
    return ~update(state, bytes.extracting(field + 4..<bytes.byteCount))
  }

  private static func update(_ initial: UInt32, _ bytes: RawSpan) -> UInt32 {
    let table = self.table
    let entries = table.span
    var state = initial
    var offset = 0
    let end = bytes.byteCount
    // Indices are a byte plus a multiple of 256 below 2,048, which the table has.
    @inline(__always) func entry(_ lane: Int, _ byte: UInt64) -> UInt32 { unsafe entries[unchecked: lane &* 256 &+ Int(byte & 0xFF)] }
    while offset &+ 8 <= end {
      let word = unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)) ^ UInt64(state)
      let low = entry(7, word) ^ entry(6, word >> 8) ^ entry(5, word >> 16) ^ entry(4, word >> 24)
      let high = entry(3, word >> 32) ^ entry(2, word >> 40) ^ entry(1, word >> 48) ^ entry(0, word >> 56)
      state = low ^ high
      offset &+= 8
    }
    while offset < end {
      let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      state = (state >> 8) ^ entry(0, UInt64(state) ^ UInt64(byte))
      offset &+= 1
    }
    return state
  }
}
