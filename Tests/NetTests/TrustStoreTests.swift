import Glibc
import Net
import Testing

@Suite struct TrustStoreTests {
  @Test func aMissingFileIsNamed() {
    #expect(throws: TrustStoreError(file: "/nowhere/ca.pem", reason: "No such file or directory")) {
      try TrustStore(files: ["/nowhere/ca.pem"])
    }
  }

  @Test func aFileWithoutCertificatesIsNamed() {
    #expect(throws: TrustStoreError(file: "/etc/passwd", reason: "holds no certificate in PEM form")) {
      try TrustStore(files: ["/etc/passwd"])
    }
  }

  @Test func theNameMismatchReadsAsASentence() {
    #expect(
      "\(TLSError.nameMismatch(expected: "192.0.2.1", names: ["example.org"]))" == "the certificate of 192.0.2.1 names example.org only")
    #expect("\(TLSError.notYetValid)".contains("the clock may be wrong"))
  }
}
