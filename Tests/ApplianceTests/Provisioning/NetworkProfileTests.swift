import CGLib
import Testing

@testable import Appliance

/// What NetworkManager reads, by the library that it reads with.
@Suite struct NetworkProfileTests {
  /// A key file as GLib understands it.
  private final class ParsedFile {
    private let file: OpaquePointer

    init(_ text: String) throws {
      file = unsafe g_key_file_new()
      let isRead = unsafe g_key_file_load_from_data(file, text, gsize(text.utf8.count), GKeyFileFlags(0), nil) != 0
      try #require(isRead, "GLib reads \(text)")
    }

    deinit { unsafe g_key_file_free(file) }

    func text(_ group: String, _ key: String) -> String? {
      guard let value = unsafe g_key_file_get_string(file, group, key, nil) else { return nil }
      defer { unsafe g_free(value) }
      return unsafe String(cString: value)
    }

    func numbers(_ group: String, _ key: String) -> [Int] {
      var count: gsize = 0
      guard let list = unsafe g_key_file_get_integer_list(file, group, key, &count, nil) else { return [] }
      defer { unsafe g_free(list) }
      return unsafe (0..<Int(count)).map { unsafe Int(list[$0]) }
    }
  }

  private func profiles(_ network: String) throws -> [ParsedFile] {
    let text = "[network]\ncountry = \"DE\"\n" + network
    let configuration = try Configuration(Array(text.utf8), file: "/boxes/parlor.toml")
    return try NetworkProfile.all(of: configuration.network).map { try ParsedFile($0.text) }
  }

  @Test(arguments: [
    #"plain password"#, #"$HOME and `id`"#, #""quoted""#, #"back\slash\n"#, #"  spaces  "#, #"semi;colon#hash=equals"#, #"[brackets]"#,
    String(decoding: (32...94).map { UInt8($0) }, as: UTF8.self), String(decoding: (95...126).map { UInt8($0) }, as: UTF8.self),
    String(repeating: "0123456789abcdef", count: 4),
  ]) func anyPassphraseSurvivesByteForByte(password: String) throws {
    let network = "[[network.wifi]]\nssid = \"Lobby\"\npassword = \(ConfigurationText.quoted(password))\n"
    let wifi = try #require(try profiles(network).last)
    #expect(wifi.text("wifi-security", "psk") == password)
    #expect(wifi.text("wifi-security", "key-mgmt") == "wpa-psk")
  }

  @Test(arguments: ["Lobby", "Café; \"Bar\" \\ $1", "  x  ", "日本"]) func anyNameSurvives(name: String) throws {
    let wifi = try #require(try profiles("[[network.wifi]]\nssid = \(ConfigurationText.quoted(name))\nhidden = true\n").last)
    #expect(wifi.numbers("wifi", "ssid") == name.utf8.map(Int.init))
    #expect(wifi.text("wifi", "hidden") == "true")
    #expect(wifi.text("wifi-security", "psk") == nil)
  }

  @Test func aCableHasAnAddressOfItsOwn() throws {
    let profiles = try profiles(
      """
      [[network.ethernet]]
      interface = "eth0"
      address = ["192.0.2.10/24", "2001:db8::10/64"]
      gateway = ["192.0.2.1", "2001:db8::1"]
      dns = ["192.0.2.53", "2001:db8::53"]
      """)
    let cable = try #require(profiles.first)
    #expect(cable.text("connection", "interface-name") == "eth0")
    #expect(cable.text("ipv4", "method") == "manual" && cable.text("ipv6", "method") == "manual")
    #expect(cable.text("ipv4", "address1") == "192.0.2.10/24,192.0.2.1" && cable.text("ipv6", "address1") == "2001:db8::10/64,2001:db8::1")
    #expect(cable.text("ipv4", "dns") == "192.0.2.53;" && cable.text("ipv6", "dns") == "2001:db8::53;")
    // Other cables go on asking.
    #expect(profiles.count == 2 && profiles[1].text("connection", "interface-name") == nil && profiles[1].text("ipv4", "method") == "auto")
  }

  @Test func whoTheBoxIsIsSaidBeforeTheNetworkMayBeUsed() throws {
    let profiles = try profiles(
      """
      [[network.ethernet]]
      eap = "tls"
      identity = "box"
      ca_file = "radius.pem"
      client_certificate = "box.pem"
      client_key = "box.key"
      [[network.wifi]]
      ssid = "Staff"
      eap = "peap"
      identity = "box"
      anonymous_identity = "anybody"
      password = "pa$$"
      ca_file = "radius.pem"
      """)
    let (cable, radio) = (profiles[0], profiles[1])
    #expect(cable.text("802-1x", "eap") == "tls;" && cable.text("802-1x", "private-key") == "/boxes/box.key")
    #expect(cable.text("802-1x", "ca-cert") == "/boxes/radius.pem")
    #expect(radio.text("wifi-security", "key-mgmt") == "wpa-eap" && radio.text("802-1x", "password") == "pa$$")
    #expect(radio.text("802-1x", "phase2-auth") == "mschapv2" && radio.text("802-1x", "anonymous-identity") == "anybody")
  }
}
