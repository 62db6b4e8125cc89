import Foundation
import Testing

@testable import Appliance

/// Texts as editors write them, and secrets that are taken out and put back.
@Suite struct ConfigurationTextTests {
  private static let text = """
    # Ours.
    [call]
    url = "https://calls.example.org/"   # the lobby
    ice_servers = [ { urls = "turn:a", username = "u", credential = "one" }, { urls = ["turn:b"], username = "u", credential = 'two$"\\' } ]
    [tls]
    ca_files = ["site.pem", "/etc/other.pem"]
    client_certificate = "box.pem"
    client_key = "box.key"
    [network]
    country = "DE"
    [[network.wifi]]
    ssid = "Café"
    password = '''it's "three"'''
    [[network.wifi]]
    ssid = "Attic"
    password = \"""
    multiline\\
      \\\"""password\"""
    hidden = true
    [[network.wifi]]
    ssid = "Cellar"
    password_file = "cellar"
    [network.proxy]
    url = "http://p"
    username = "u"
    password = "ä\\u0041ö"
    """
  private static let secrets = [
    "call.ice_servers[0].credential", "call.ice_servers[1].credential", "network.wifi[0].password", "network.wifi[1].password",
    "network.proxy.password",
  ]

  private func text(_ text: String) throws -> ConfigurationText { try ConfigurationText(Array(text.utf8), file: "/media/parlor.toml") }

  private func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func secretsAndFilesAreFound() throws {
    let text = try text(ConfigurationTextTests.text)
    #expect(text.secrets == ConfigurationTextTests.secrets)
    #expect(
      text.files == [
        .init(key: "tls.ca_files[0]", path: "site.pem", absolutePath: "/media/site.pem", isSecret: false),
        .init(key: "tls.ca_files[1]", path: "/etc/other.pem", absolutePath: "/etc/other.pem", isSecret: false),
        .init(key: "tls.client_certificate", path: "box.pem", absolutePath: "/media/box.pem", isSecret: false),
        .init(key: "tls.client_key", path: "box.key", absolutePath: "/media/box.key", isSecret: true),
        .init(key: "network.wifi[2].password_file", path: "cellar", absolutePath: "/media/cellar", isSecret: true),
      ])
  }

  @Test(arguments: ["\n", "\r\n"]) func nothingButSecretsIsTakenOut(lineEnd: String) throws {
    let original = try text(ConfigurationTextTests.text.replacing("\n", with: lineEnd))
    let shown = try text(string(original.withoutSecrets()))
    #expect(shown.secrets.isEmpty && shown.files == original.files)
    let mark = "\"\(ConfigurationText.mark)\""
    let expected = ConfigurationTextTests.text.replacing("\"one\"", with: mark).replacing("'two$\"\\'", with: mark)
      .replacing("'''it's \"three\"'''", with: mark).replacing("\"\"\"\nmultiline\\\n  \\\"\"\"password\"\"\"", with: mark)
      .replacing("\"ä\\u0041ö\"", with: mark)
    #expect(string(shown.bytes) == expected.replacing("\n", with: lineEnd))
    for secret in ["one", "two", "three", "multiline", "ö"] { #expect(!string(shown.bytes).contains(secret + "\"")) }
  }

  @Test func secretsComeBackWhereTheyBelong() throws {
    let original = try text(ConfigurationTextTests.text)
    let shown = try text(string(original.withoutSecrets()))
    let filled = try shown.fillingIn(from: original)
    #expect(filled.secrets == ConfigurationTextTests.secrets)
    // The same values, whatever their quotation marks.
    let (one, other) = (try Configuration(original.bytes, file: "x"), try Configuration(filled.bytes, file: "x"))
    #expect(one == other)
    // Without a mark there is nothing to do.
    #expect(try filled.fillingIn(from: nil).bytes == filled.bytes)
  }

  @Test func entriesThatMovedKeepTheirSecrets() throws {
    let kept = try text(
      "[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \"a\"\npassword = \"password of a\"\n[[network.wifi]]\nssid = \"b\"\npassword = \"password of b\"\n"
    )
    let mark = ConfigurationText.mark
    let moved = try text(
      "[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \"new\"\npassword = \"password of new\"\n[[network.wifi]]\nssid = \"b\"\npassword = \"\(mark)\"\n[[network.wifi]]\nssid = \"a\"\npassword = \"\(mark)\"\n"
    )
    let wifi = try Configuration(try moved.fillingIn(from: kept).bytes, file: "x").network.wifi
    #expect(wifi.map(\.access) == ["password of new", "password of b", "password of a"].map { .password(.text($0)) })
  }

  @Test func secretThatIsNotKeptIsNamed() throws {
    let mark = ConfigurationText.mark
    let marked = try text("[network]\n[[network.wifi]]\nssid = \"b\"\npassword = \"\(mark)\"\n")
    for kept in [nil, try text(""), try text("[[network.wifi]]\nssid = \"a\"\npassword = \"12345678\"\n"), marked] {
      do throws(ConfigurationError) {
        _ = try marked.fillingIn(from: kept)
        Issue.record("filled in")
      } catch {
        #expect("\(error)" == "/media/parlor.toml:4:12: network.wifi[0].password: is not kept on the box: write it here once more")
      }
    }
  }

  @Test func everyCharacterSurvivesTakingOutAndPuttingBack() throws {
    for scalar in (1...0x2FF).compactMap(Unicode.Scalar.init) + ["€", "😀"] {
      let secret = "a\(scalar)b\"\"\"\\'''"
      let original = try text("[call]\ntoken = \(ConfigurationText.quoted(secret))\n")
      let filled = try text(string(original.withoutSecrets())).fillingIn(from: original)
      #expect(filled.bytes == original.bytes)
      #expect(original.secrets == ["call.token"])
    }
  }

  // Report: DietPi#390 (edited on Windows). Notepad's encodings: UTF-8 with and without a mark, UTF-16 of both kinds.
  @Test func whateverWindowsWritesIsRead() throws {
    let text = "[identity]\r\nname = \"Café €😀\"\r\nserial = '$\"'\r\n"
    let units = Array(text.utf16)
    let texts: [[UInt8]] = [
      Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
      [0xFE, 0xFF] + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] },
    ]
    for bytes in texts {
      #expect(try Configuration(bytes, file: "x").identity == Configuration.Identity(name: "Café €😀", serial: "$\""))
      #expect(try ConfigurationText(bytes, file: "x").bytes == Array(text.utf8))
    }
    for bytes in [texts[2].dropFirst(2), texts[3].dropFirst(2)] {
      do throws(ConfigurationError) {
        _ = try Configuration(Array(bytes), file: "x")
        Issue.record("accepted")
      } catch {
        #expect("\(error)" == "x:1:1: is text in UTF-16 without a byte order mark; save it as UTF-8")
      }
    }
    // Half a character.
    #expect(throws: ConfigurationError.self) { try Configuration([0xFF, 0xFE, 0x00, 0xD8], file: "x") }
  }
}
