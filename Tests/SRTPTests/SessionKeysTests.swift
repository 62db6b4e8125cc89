import Testing

@testable import SRTP

@Suite struct SessionKeysTests {
  @Test func areDerivedAsInAppendixB3OfRFC3711() throws {
    let keys = try SessionKeys(
      .rtp, profile: .aes128CMHMACSHA1, masterKey: Vector.bytes("e1f97a0d3e018be0d64fa32c06de4139"),
      masterSalt: Vector.bytes("0ec675ad498afeebb6960b3aabe6"))
    #expect(keys.encryption == Vector.bytes("c61e7a93744f39ee10734afe3ff7a087"))
    #expect(keys.salt == Vector.bytes("30cbbc08863d8c85d49db34a9ae1"))
    #expect(keys.authentication == Vector.bytes("cebe321f6ff7716b6fd4ab49af256a156d38baa4"))
  }

  /// RFC 7714 sections 16 and 17 begin with session keys: 00 01 02 …, and the salt “Quid pro quo”.
  private static let cases = [
    (
      Profile.aeadAES128GCM, "f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833899d7f27beb16a9152cf765ee4390cce",
      "63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade800005d4"
    ),
    (
      Profile.aeadAES256GCM, "32b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f1ba63799b87b7aa3db36dfffd6b0f9bb7878d7a76c13",
      "d50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5c1110555be8415f658c61de0476f1b6fad1d1eb30c4446839f57ff6f6cb26ac3be800005d4"
    ),
  ]

  @Test(arguments: cases) func protectThePacketsOfRFC7714(_ profile: Profile, _ rtp: String, _ rtcp: String) throws {
    let keys = SessionKeys(encryption: Array(0..<UInt8(profile.keyCount)), authentication: [], salt: Array("Quid pro quo".utf8))
    var outbound = try Context(profile: profile, rtp: keys, rtcp: keys, direction: .outbound)
    var inbound = try Context(profile: profile, rtp: keys, rtcp: keys, direction: .inbound)

    let plain = Vector.bytes("8040f17b8041f8d35501a0b2") + Array("Gallia est omnis divisa in partes tres".utf8)
    let protected = Array(plain[..<12]) + Vector.bytes(rtp)
    #expect(try outbound.protect(plain) == protected)
    #expect(try inbound.unprotect(protected) == plain)

    let plainRTCP = Vector.bytes("81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef")
    let protectedRTCP = Array(plainRTCP[..<8]) + Vector.bytes(rtcp)
    #expect(try inbound.unprotectRTCP(protectedRTCP) == plainRTCP)
    // The RFC's packet has the index 0x5D4, and ours begin with 1.
    for _ in 1..<0x5D4 { _ = try outbound.protectRTCP(plainRTCP) }
    #expect(try outbound.protectRTCP(plainRTCP) == protectedRTCP)
  }
}
