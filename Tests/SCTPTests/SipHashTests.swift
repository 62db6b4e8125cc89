import Bytes
import Testing

@testable import SCTP

/// Vectors of the SipHash paper's reference implementation: key 00…0f, messages 00, 00 01, ….
@Suite struct SipHashTests {
  @Test func knownAnswers() {
    let hash = SipHash(key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
    let message = (0..<15).map { UInt8($0) }
    func code(_ bytes: [UInt8]) -> UInt64 { hash(bytes.span.bytes) }
    #expect(code([]) == 0x726F_DB47_DD0E_0E31)
    #expect(code([0]) == 0x74F8_39C5_93DC_67FD)
    #expect(code(message) == 0xA129_CA61_49BE_45E5)
  }
}
