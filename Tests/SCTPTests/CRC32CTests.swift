import Bytes
import Testing

@testable import SCTP

/// Vectors of RFC 3720 appendix B.4 and of the CRC's definition.
@Suite struct CRC32CTests {
  @Test func knownAnswers() {
    let ascending = (0..<32).map { UInt8($0) }
    let cases: [([UInt8], UInt32)] = [
      ([], 0), (Array("123456789".utf8), 0xE306_9283), (Array(repeating: 0, count: 32), 0x8A91_36AA),
      (Array(repeating: 0xFF, count: 32), 0x62A8_AB43), (ascending, 0x46DD_794E), (ascending.reversed(), 0x113F_DB5C),
    ]
    for (bytes, expected) in cases { #expect(CRC32C.checksum(bytes.span.bytes) == expected) }
  }

  @Test func aFieldCountsAsZero() {
    for field in 0..<20 {
      var bytes = pattern(24, seed: 5)
      let skipped = CRC32C.checksum(bytes.span.bytes, skippingField: field)
      for index in field..<field + 4 { bytes[index] = 0 }
      #expect(skipped == CRC32C.checksum(bytes.span.bytes))
    }
  }
}
