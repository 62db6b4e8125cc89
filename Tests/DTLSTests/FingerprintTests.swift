import Testing

@testable import DTLS

@Suite struct FingerprintTests {
  @Test func readsAndWritesTheLineOfADescription() throws {
    let text =
      "sha-256 "
      + (0..<32).map { $0 < 16 ? "0\(String($0, radix: 16, uppercase: true))" : String($0, radix: 16, uppercase: true) }
      .joined(separator: ":")
    let fingerprint = try Fingerprint(parsing: text)
    #expect(fingerprint.bytes == Array(0..<32))
    #expect(fingerprint.description == text)
    #expect(try Fingerprint(parsing: text.lowercased()) == fingerprint)
    #expect(try Fingerprint(parsing: text.uppercased()) == fingerprint)
  }

  @Test func unknownFunctionsAreKept() throws {
    let fingerprint = try Fingerprint(parsing: "md5 01:02")
    #expect(fingerprint.hashFunction == nil)
    #expect(fingerprint.description == "md5 01:02")
  }

  @Test(arguments: ["", "sha-256", "sha-256 ", "sha-256 0", "sha-256 0G", "x 01:", "x 01::02", "x 01 02", "x +1", "x 0102"])
  func malformedTextIsRefused(_ text: String) {
    #expect(throws: FingerprintError.malformed(text)) { try Fingerprint(parsing: text) }
  }

  @Test func aTruncatedDigestIsRefused() {
    #expect(throws: FingerprintError.wrongLength(algorithm: "sha-256", expected: 32, actual: 2)) {
      try Fingerprint(parsing: "SHA-256 01:02")
    }
  }
}
