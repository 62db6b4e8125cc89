import Testing

@testable import DTLS

@Suite struct CertificateTests {
  @Test func survivesItsPEMText() throws {
    let certificate = try Certificate.generate(commonName: "kiosk", validDays: 7, now: 1_700_000_000)
    let copy = try Certificate(pem: certificate.pem)
    #expect(copy.der == certificate.der)
    #expect(copy.fingerprint() == certificate.fingerprint())
    #expect(copy.expires == 1_700_000_000 + 7 * 86_400)
    #expect(copy.expires == certificate.expires)
  }

  @Test func eachIsDifferent() throws {
    #expect(try Certificate.generate().fingerprint() != Certificate.generate().fingerprint())
  }

  @Test func fingerprintsHaveTheirDigestsLength() throws {
    for function in HashFunction.allCases {
      let fingerprint = Identity.client.fingerprint(function)
      #expect(fingerprint.bytes.count == function.digestCount)
      #expect(fingerprint.algorithm == function.rawValue)
    }
  }

  @Test func damagedPEMIsRefusedWithTheReason() throws {
    let certificate = try Certificate.generate()
    let pem = certificate.pem
    func error(_ text: String) -> DTLSError? {
      do throws(DTLSError) {
        _ = try Certificate(pem: text)
        return nil
      } catch { return error }
    }
    let keyStart = try #require(pem.firstRange(of: "-----BEGIN PRIVATE KEY"))
    #expect(error("") == .invalidCertificate("no certificate in the PEM text"))
    #expect(error(String(pem[..<keyStart.lowerBound])) == .invalidCertificate("no plain private key in the PEM text"))
    #expect(error(String(pem[keyStart.lowerBound...])) == .invalidCertificate("no certificate in the PEM text"))
    let otherKey = Identity.client.pem[try #require(Identity.client.pem.firstRange(of: "-----BEGIN PRIVATE KEY")).lowerBound...]
    #expect(
      error(String(pem[..<keyStart.lowerBound]) + otherKey) == .invalidCertificate("the private key belongs to another certificate"))
    #expect(error(pem.replacing("MII", with: "XXX")) != nil)
  }

  @Test func impossibleWishesAreRefused() {
    #expect(throws: DTLSError.self) { try Certificate.generate(commonName: "") }
    #expect(throws: DTLSError.self) { try Certificate.generate(commonName: String(repeating: "x", count: 65)) }
    #expect(throws: DTLSError.self) { try Certificate.generate(validDays: 0) }
    #expect(throws: DTLSError.self) { try Certificate.generate(expires: 99, now: 100) }
    #expect(throws: DTLSError.self) { try Certificate.generate(expires: .max, now: -1) }
  }

  @Test(arguments: [Certificate.KeyType.ecdsaP256, .rsa2048]) func anInstantOfExpiryIsKept(keyType: Certificate.KeyType) throws {
    for expires in [1_700_000_000, 1_700_000_001, 1_800_000_000] as [Int64] {
      #expect(try Certificate.generate(expires: expires, keyType: keyType, now: 1_700_000_000).expires == expires)
    }
  }
}
