import FoundationEssentials
import Testing

@testable import Appliance

@Suite struct SecretMaskTests {
  private let secrets = ["correct horse/battery$\"staple\\", "p@ss+w0rd~é", "12345678"]

  private func isClean(_ text: String) -> Bool {
    let masked = String(decoding: SecretMask(secrets).masking(Array(text.utf8)), as: UTF8.self)
    return masked.contains("(removed)") && masked.hasPrefix("before ") && masked.hasSuffix(" after")
  }

  @Test(arguments: [
    "correct horse/battery$\"staple\\", #"{"psk":"correct horse/battery$\"staple\\"}"#, #"correct horse\/battery$\"staple\\"#,
    "https://h/?k=correct%20horse%2Fbattery%24%22staple%5C", "k=correct+horse%2fbattery%24%22staple%5c", "p%40ss%2Bw0rd~%C3%A9",
    "https://u:p%40ss+w0rd~%c3%a9@h/", "p@ss+w0rd~é", "<v>correct horse/battery$&quot;staple\\</v>", "70407373",
    "psk=12345678 (again 12345678)",
  ])
  func secretIsGoneInEachForm(text: String) {
    // A part of a longer word in hexadecimal is not a secret.
    if text == "70407373" {
      #expect(SecretMask(secrets).masking(Array(text.utf8)) == Array(text.utf8))
    } else {
      #expect(isClean("before \(text) after"), "\(text)")
    }
  }

  @Test func secretIsGoneFromBase64WhereverItBegins() {
    for secret in secrets {
      for before in 0..<6 {
        for after in 0..<4 {
          let whole = Data(
            Array(repeating: UInt8(ascii: "u"), count: before) + Array(secret.utf8) + Array(repeating: UInt8(ascii: "z"), count: after))
          for text in [whole.base64EncodedString(), String(whole.base64EncodedString().map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })] {
            let masked = SecretMask(secrets).masking(Array(text.utf8))
            // What is left does not give more than a character of each end away.
            #expect(
              masked.count - SecretMask.replacement.count <= text.utf8.count - secret.utf8.count * 4 / 3 + 2, "\(secret) \(before) \(after)"
            )
          }
        }
      }
    }
  }

  @Test func passwordsInAddressesAreNobodysBusiness() {
    let masked = SecretMask([]).masking(Array("GET https://fleet:hunter22@h/a?b=1 and \"http://u:p@1\" but https://h:80/@x, a://b@c".utf8))
    #expect(
      String(decoding: masked, as: UTF8.self)
        == "GET https://fleet:(removed)@h/a?b=1 and \"http://u:(removed)@1\" but https://h:80/@x, a://b@c")
  }

  @Test func hexadecimalDigitsAreSeenThrough() {
    let digits = secrets[1].utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(isClean("before \(digits) after") && isClean("before \(digits.uppercased()) after"))
  }

  @Test func whatIsNoSecretStays() {
    let bytes: [UInt8] = (0...255).reversed() + Array("psk=1234567".utf8)
    #expect(SecretMask(secrets).masking(bytes) == bytes)
    #expect(SecretMask([]).masking(bytes) == bytes && SecretMask(["", "abc"]).masking(Array("abc".utf8)) == Array("abc".utf8))
    // Of two secrets, one a part of the other, nothing of the longer is left.
    #expect(SecretMask(["secret", "secretive"]).masking(Array("secretive".utf8)) == SecretMask.replacement)
  }

  @Test func secretsOfAConfigurationAreFound() {
    let set = ConfigurationSet(files: [
      "parlor.toml": Array(
        """
        [call]
        whip = "http://127.0.0.1/whip"
        token = "bearer-token"
        [network]
        country = "DE"
        [[network.wifi]]
        ssid = "Guests"
        password = 'it$ "secret"'
        [tls]
        client_certificate = "box.pem"
        client_key = "box.key"
        [update]
        url = "https://fleet:hunter22@updates.example.org/parlor.raucb"
        """.utf8),
      "box.key": Array("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\n".utf8),
      "box.pem": Array("public".utf8),
      "wifi.nmconnection": Array("[wifi]\nssid=Guests\n[wifi-security]\nkey-mgmt=wpa-psk\npsk=other-secret\n".utf8),
    ])
    let found = Set(set.secretValues)
    #expect(found == ["bearer-token", "it$ \"secret\"", "MIIEvQIBADANBg", "kqhkiG9w0BAQ", "other-secret", "hunter22"])
  }
}
