import Base

/// SipHash-2-4 with a 64-bit result (Aumasson and Bernstein 2012): the message authentication code of state cookies.
struct SipHash: Sendable {
  private let key: (UInt64, UInt64)

  /// Keyed with two words.
  init(key: (UInt64, UInt64)) { self.key = key }

  /// The code of `bytes`.
  func callAsFunction(_ bytes: RawSpan) -> UInt64 {
    var v0 = key.0 ^ 0x736F_6D65_7073_6575
    var v1 = key.1 ^ 0x646F_7261_6E64_6F6D
    var v2 = key.0 ^ 0x6C79_6765_6E65_7261
    var v3 = key.1 ^ 0x7465_6462_7974_6573

    func rotated(_ x: UInt64, _ count: UInt64) -> UInt64 { x << count | x >> (64 - count) }
    func round() {
      v0 = v0 &+ v1
      v2 = v2 &+ v3
      v1 = rotated(v1, 13) ^ v0
      v3 = rotated(v3, 16) ^ v2
      v0 = rotated(v0, 32) &+ v3
      v2 = v2 &+ v1
      v1 = rotated(v1, 17) ^ v2
      v3 = rotated(v3, 21) ^ v0
      v2 = rotated(v2, 32)
    }
    func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    let count = bytes.byteCount
    var offset = 0
    while offset + 8 <= count {
      absorb(unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    var last = UInt64(count & 0xFF) << 56
    for index in offset..<count {
      last |= UInt64(unsafe bytes.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)) << UInt64(8 * (index - offset))
    }
    absorb(last)
    v2 ^= 0xFF
    for _ in 0..<4 { round() }
    return v0 ^ v1 ^ v2 ^ v3
  }
}
