import Base
import Foundation
import Testing

@testable import Appliance

/// What is read for the system: network, time, access, updates, logs, limits.
@Suite struct SystemConfigurationTests {
  private func load(_ text: String) throws(ConfigurationError) -> Configuration {
    let machine = Machine(hardwareAddress: "02005e1000ab", timeZoneList: "/usr/share/zoneinfo/tzdata.zi")
    return try Configuration(Array(text.utf8), file: "/etc/parlor/parlor.toml", machine: machine)
  }

  private func messages(_ text: String) -> [String] {
    var problems: [ConfigurationProblem] = []
    do throws(ConfigurationError) { problems = try load(text).warnings } catch { problems = error.problems }
    return problems.map { $0.description.replacing("/etc/parlor/parlor.toml:", with: "") }
  }

  private static let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"

  @Test func everythingOfTheSystemIsRead() throws {
    let configuration = try load(
      """
      [identity]
      serial = "7"
      name = "Lobby desk"
      [network]
      hostname = "kiosk-${serial}"
      country = "de"
      [[network.ethernet]]
      interface = "eth0"
      address = ["192.0.2.10/24", "2001:db8::10/64"]
      gateway = ["192.0.2.1", "fe80::1"]
      dns = "192.0.2.53"
      [[network.ethernet]]
      eap = "tls"
      identity = "box"
      ca_file = "radius.pem"
      client_certificate = "box.pem"
      client_key = "box.key"
      [[network.wifi]]
      ssid = "Café"
      password_file = "wifi-password"
      hidden = true
      priority = 5
      address = "198.51.100.2/25"
      gateway = "198.51.100.1"
      [[network.wifi]]
      ssid_hex = "00ff41"
      eap = "peap"
      identity = "box"
      anonymous_identity = "anonymous"
      password = "secret"
      server_domain = "radius.example.org"
      [[network.wifi]]
      ssid = "open"
      [network.proxy]
      url = "http://proxy.example.org:3128/"
      username = "box"
      password = "p"
      no_proxy = [".example.org", "localhost", "192.0.2.0/24"]
      [time]
      servers = ["ntp.example.org", "192.0.2.123"]
      zone = "Europe/Berlin"
      [access]
      ssh_keys = ["\(SystemConfigurationTests.key) anna@desk"]
      screenshots = false
      metrics = "[::]:9100"
      [update]
      url = "http://updates.example.org/${mac}.raucb"
      automatic = false
      window = { from = "02:00", to = "04:30", days = ["sun"] }
      keyring_file = "updates.pem"
      allow_downgrade = true
      [power]
      restart_at = "04:00"
      restart_days = ["mon", "thu"]
      [logs]
      syslog = "tls://[2001:db8::514]"
      journal_upload = "https://logs.example.org/${name}"
      [limits]
      app_memory_mb = 400
      page_memory_mb = 1500
      app_cpu_percent = 150
      page_cpu_percent = 90
      journal_mb = 64
      """)
    #expect(configuration.warnings.isEmpty)
    let network = configuration.network
    #expect(network.hostName == "kiosk-7" && network.country == "DE")
    #expect(network.ethernet.map(\.interface) == ["eth0", nil])
    #expect(network.ethernet[0].addressing.addresses.map(\.description) == ["192.0.2.10/24", "2001:db8::10/64"])
    #expect(network.ethernet[0].addressing.gateways.map(\.description) == ["192.0.2.1", "fe80::1"])
    #expect(network.ethernet[0].addressing.nameServers.map(\.description) == ["192.0.2.53"])
    var certificate = Configuration.Network.Authentication(method: .tls, identity: "box")
    certificate.certificateFile = "/etc/parlor/radius.pem"
    (certificate.clientCertificate, certificate.clientKey) = ("/etc/parlor/box.pem", "/etc/parlor/box.key")
    #expect(network.ethernet[1].authentication == certificate)
    #expect(network.wifi.map(\.name) == [Array("Café".utf8), [0, 255, 65], Array("open".utf8)])
    #expect(network.wifi[0].access == .password(.file("/etc/parlor/wifi-password")))
    #expect(network.wifi[0].isHidden && network.wifi[0].priority == 5 && network.wifi[0].addressing.addresses.count == 1)
    var user = Configuration.Network.Authentication(method: .peap, identity: "box")
    (user.anonymousIdentity, user.password, user.serverDomain) = ("anonymous", .text("secret"), "radius.example.org")
    #expect(network.wifi[1].access == .enterprise(user) && network.wifi[2].access == .open)
    #expect(network.proxy?.url == "http://proxy.example.org:3128" && network.proxy?.username == "box")
    #expect(network.proxy?.password == .text("p") && network.proxy?.exceptions.count == 3)
    #expect(configuration.time.servers == ["ntp.example.org", "192.0.2.123"] && configuration.time.zone == "Europe/Berlin")
    #expect(configuration.access.keys.map(\.comment) == ["anna@desk"] && !configuration.access.allowsScreenshots)
    #expect(configuration.access.keys[0].description == "\(SystemConfigurationTests.key) anna@desk")
    #expect(configuration.access.metrics?.description == "[::]:9100")
    let update = configuration.update
    #expect(update.url == "http://updates.example.org/02005e1000ab.raucb" && !update.isAutomatic && update.allowsDowngrade)
    #expect(update.window == WeeklyPeriod(from: DailyTime("02:00")!, to: DailyTime("04:30")!, days: [.sunday]))
    #expect(update.keyringFile == "/etc/parlor/updates.pem")
    #expect(configuration.power.restartAt == DailyTime("04:00") && configuration.power.restartDays == [.monday, .thursday])
    #expect(configuration.logs.syslog?.description == "tls://[2001:db8::514]:6514")
    #expect(configuration.logs.journalUpload == "https://logs.example.org/Lobby%20desk")
    let limits = configuration.limits
    #expect(limits.appMemory == 400 && limits.pageMemory == 1_500 && limits.appProcessor == 150 && limits.pageProcessor == 90)
    #expect(limits.journalSize == 64)
  }

  // Reports: rpi-imager#255 (a dollar sign loses characters), rpi-imager#229 (a quotation mark breaks the file).
  @Test(arguments: [
    #"'pa$$word$1'"#, #"'a"b\c$d`e#f'"#, #""a\"b\\c$d`e#f""#, #"' leading and trailing '"#, #"'%s%n{}[]=;'"#, #"'''it's'''"#,
    #"'ssid=x psk=y'"#,
  ])
  func passwordSurvivesByteForByte(literal: String) throws {
    let bare: String
    switch literal.prefix(3) {
    case "'''": bare = String(literal.dropFirst(3).dropLast(3))
    case let start where start.hasPrefix("'"): bare = String(literal.dropFirst().dropLast())
    default: bare = "a\"b\\c$d`e#f"
    }
    let padded = bare.count < 8 ? nil : bare
    let text = "[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \(literal)\npassword = \(literal)\n"
    guard let padded else {
      #expect(
        messages(text) == [
          "5:12: network.wifi[0].password: has \(bare.count) characters; accepted: 8 to 63 printable ASCII characters, 64 hexadecimal digits"
        ])
      return
    }
    for line in [text, "\u{FEFF}" + text.replacing("\n", with: "\r\n")] {
      let wifi = try load(line).network.wifi
      #expect(wifi.map(\.name) == [Array(padded.utf8)] && wifi[0].access == .password(.text(padded)))
    }
  }

  @Test func everyPrintableCharacterCanStandInAPassword() throws {
    for start in stride(from: 32, to: 120, by: 20) {
      let password = String(decoding: (start..<min(127, start + 35)).map { UInt8($0) }, as: UTF8.self)
      let escaped = password.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      let wifi = try load("[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \"a\"\npassword = \"\(escaped)\"\n").network.wifi
      #expect(wifi[0].access == .password(.text(password)))
    }
  }

  // Report: raspberrypi/documentation#2487.
  @Test func wiFiWithoutACountryNamesTheKey() {
    #expect(
      messages("[network]\n[[network.wifi]]\nssid = \"a\"\n") == [
        "1:1: network.country: is missing: Wi-Fi is switched off until it is known where the box stands; accepted: two letters of ISO 3166, as \"DE\""
      ])
    #expect(
      messages("[network]\ncountry = \"UK\"\n") == [
        "2:11: network.country: \"UK\" is no country; did you mean GB?; accepted: two letters of ISO 3166, as \"DE\""
      ])
  }

  // Report: bookworm-feedback#72.
  @Test func unknownKeyIsReportedByNameAndLine() {
    #expect(
      messages("[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \"a\"\npsk = \"12345678\"\nhiden = true\n") == [
        "5:1: network.wifi[0].psk: unknown key; accepted: address, anonymous_identity, ca_file, client_certificate, client_key, dns, eap, gateway, hidden, identity, inner, password, password_file, priority, server_domain, ssid, ssid_hex",
        "6:1: network.wifi[0].hiden: unknown key; did you mean hidden?",
      ])
    #expect(messages("[acces]\nssh_keys = []\n").count == 1)
  }

  private static let wifi = "[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \"a\"\n"
  private static let wired = "[[network.ethernet]]\n"

  @Test(arguments: [
    ("[network]\nhostname = \"my box\"", "2:12: network.hostname: \"my box\" is no host name"),
    ("[network]\nhostname = \"-a\"", "2:12: network.hostname: \"-a\" is no host name"),
    ("[network]\nhostname = \"box-${serial}\"", "2:12: network.hostname: uses ${serial}, and identity.serial is not given"),
    ("[network]\nwifi = { ssid = \"a\" }\ncountry = \"DE\"", "2:8: network.wifi: expected a list of tables, found a table"),
    (wired + "address = \"192.0.2.10\"", "2:11: network.ethernet[0].address[0]: \"192.0.2.10\" is not accepted; accepted: an address and"),
    (wired + "address = \"192.0.2.10/33\"", "2:11: network.ethernet[0].address[0]"),
    (wired + "gateway = \"192.0.2.1\"", "2:11: network.ethernet[0].gateway: needs address beside it"),
    (
      wired + "address = \"192.0.2.10/24\"\ngateway = \"192.0.3.1\"",
      "3:11: network.ethernet[0].gateway: 192.0.3.1 is not in the network of 192.0.2.10/24"
    ),
    (
      wired + "address = \"192.0.2.10/24\"\ngateway = [\"192.0.2.1\", \"192.0.2.2\"]",
      "3:11: network.ethernet[0].gateway: 192.0.2.2 is the second of its kind"
    ),
    (wired + "address = \"192.0.2.10/24\"", "2:11: warning: network.ethernet[0].address: without gateway"),
    (wired + "dns = [\"192.0.2.1\", \"dns.example.org\"]", "2:21: network.ethernet[0].dns[1]: \"dns.example.org\" is not accepted"),
    (wired + wired, "2:1: network.ethernet[1].interface: all wired interfaces have an entry already"),
    (wired + "interface = \"eth0\"\n" + wired + "interface = \"eth0\"", "4:13: network.ethernet[1].interface: eth0 has an entry already"),
    (wired + "identity = \"box\"", "2:12: network.ethernet[0].identity: needs eap beside it; accepted: eap = \"tls\", eap"),
    (wired + "eap = \"leap\"", "2:7: network.ethernet[0].eap: \"leap\" is not accepted; accepted: \"tls\", \"peap\", \"ttls\""),
    (
      wired + "eap = \"ttls\"\nidentity = \"a\"\npassword = \"b\"",
      "2:7: network.ethernet[0].eap: needs ca_file or server_domain beside it"
    ),
    (wired + "eap = \"peap\"\nidentity = \"a\"\nca_file = \"c\"", "1:1: network.ethernet[0].password: is missing: peap needs one"),
    (wired + "eap = \"peap\"\npassword = \"a\"\nca_file = \"c\"", "1:1: network.ethernet[0].identity: is missing"),
    (
      wired + "eap = \"tls\"\nidentity = \"a\"\nca_file = \"c\"\nclient_certificate = \"d\"",
      "1:1: network.ethernet[0].client_key: is missing: tls needs it"
    ),
    (
      wired + "eap = \"peap\"\nidentity = \"a\"\npassword = \"p\"\nca_file = \"c\"\ninner = \"pap\"",
      "6:9: network.ethernet[0].inner: pap does not go with peap; accepted: \"mschapv2\", \"gtc\""
    ),
    (
      wired + "eap = \"peap\"\nidentity = \"a\"\npassword = \"p\"\npassword_file = \"f\"\nca_file = \"c\"",
      "5:17: network.ethernet[0].password_file: password is given already"
    ),
    (wifi + "password = \"1234567\"", "5:12: network.wifi[0].password: has 7 characters; accepted: 8 to 63 printable ASCII characters"),
    (wifi + "password = \"Käseglocke\"", "5:12: network.wifi[0].password: has characters that no password can have"),
    (wifi + "ssid_hex = \"41\"", "5:12: network.wifi[0].ssid_hex: ssid is given already"),
    (wifi + "priority = 1000", "5:12: network.wifi[0].priority: 1000 is out of range"),
    ("[network]\ncountry = \"DE\"\n[[network.wifi]]\nhidden = true", "3:1: network.wifi[0].ssid: is missing"),
    (
      "[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \"123456789012345678901234567890123\"",
      "4:8: network.wifi[0].ssid: is 33 bytes long; accepted: 1 to 32 bytes"
    ),
    ("[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid_hex = \"4\"", "4:12: network.wifi[0].ssid_hex: \"4\" is not accepted"),
    (wifi + "[[network.wifi]]\nssid = \"a\"", "6:8: warning: network.wifi[1].ssid: has an entry already"),
    ("[network.proxy]\nurl = \"https://proxy\"", "2:7: network.proxy.url: \"https://proxy\" is not accepted; accepted: http://HOST[:PORT]"),
    ("[network.proxy]\nurl = \"http://p\"\nusername = \"u\"", "1:1: network.proxy.password: is missing: there is a user name"),
    ("[time]\nservers = [\"ntp\", \"a b\"]", "2:19: time.servers[1]: \"a b\" is not accepted"),
    ("[time]\nservers = [\"192.0.2\"]", "2:12: time.servers[0]: \"192.0.2\" is not accepted"),
    ("[time]\nzone = \"Europe/Berln\"", "2:8: time.zone: \"Europe/Berln\" is no time zone; did you mean Europe/Berlin?; accepted"),
    ("[time]\nzone = \"../etc/passwd\"", "2:8: time.zone: \"../etc/passwd\" is not accepted"),
    ("[access]\nmetrics = \"9100\"", "2:11: access.metrics: \"9100\" is not accepted; accepted: ADDRESS:PORT"),
    ("[access]\nmetrics = true", "2:11: access.metrics: expected a text in quotes, found true or false"),
    ("[update]\nurl = \"updates.example.org\"", "2:7: update.url: \"updates.example.org\" is no URL"),
    ("[update]\nautomatic = false", "2:13: warning: update.automatic: has no effect without url beside it"),
    ("[update]\nurl = \"https://a\"\nwindow = { from = \"02:00\" }", "3:1: update.window.to: is missing; accepted: HH:MM"),
    ("[power]\nrestart_days = [\"mon\"]", "2:16: power.restart_days: needs restart_at beside it"),
    ("[power]\nrestart_at = \"4:00\"", "2:14: power.restart_at: \"4:00\" is not accepted; accepted: HH:MM"),
    ("[power]\nrestart_at = \"04:00\"\nrestart_days = [\"mon\", \"monday\"]", "3:24: power.restart_days[1]: \"monday\" is not accepted"),
    ("[logs]\nsyslog = \"logs.example.org\"", "2:10: logs.syslog: \"logs.example.org\" is not accepted; accepted: udp://HOST[:PORT]"),
    ("[logs]\nsyslog = \"udp://logs.example.org:0\"", "2:10: logs.syslog"),
    ("[logs]\njournal_upload = \"http://logs\"", "2:18: warning: logs.journal_upload: everybody on the way can read these logs; use https"),
    ("[limits]\napp_memory_mb = 1", "2:17: limits.app_memory_mb: 1 is out of range; accepted: 128 to 65536"),
    ("[limits]\npage_memory_mb = 512", "2:18: warning: limits.page_memory_mb: is less than page.memory_limit_mb, 1024"),
  ])
  func wrongValueIsPlacedAndExplained(text: String, message: String) {
    let messages = messages(text + "\n")
    #expect(messages.count == 1 && messages[0].hasPrefix(message), "\(messages)")
  }

  @Test(
    arguments: [
      (key, nil), (key + " with a comment", nil),
      (key.replacing("ssh-ed25519 ", with: "ssh-ed25518 "), "\"ssh-ed25518\" begins with no type of key; did you mean ssh-ed25519?"),
      (key.replacing("ssh-ed25519 ", with: "ssh-rsa "), "says ssh-rsa, and holds a key of type ssh-ed25519"),
      (String(key.dropLast(4)), "the key is cut off"), (String(key.dropLast(3)), "the key is cut off"),
      ("ssh-ed25519", "has no key behind its type"),
      ("ssh-ed25519 AAAA", "the key is cut off"), ("ssh-dss AAAAB3NzaC1kc3M=", "\"ssh-dss\" begins with no type of key"),
      ("command=\\\"x\\\" " + key, "begins with no type of key"),
      ("-----BEGIN OPENSSH PRIVATE KEY-----", "is a private key, which stays with its owner"),
      (key + "\\n" + key, "contains a control character"),
    ] as [(String, String?)])
  func publicKeysAreLookedAt(line: String, message: String?) throws {
    let messages = messages("[access]\nssh_keys = [\n  \"\(SystemConfigurationTests.key) first\",\n  \"\(line)\",\n]\n")
    guard let message else {
      #expect(messages == ["4:3: warning: access.ssh_keys[1]: is there already"])
      return
    }
    #expect(messages.count == 1 && messages[0].hasPrefix("4:3: access.ssh_keys[1]: ") && messages[0].contains(message), "\(messages)")
  }

  @Test func keysOfEveryKindAreTaken() throws {
    let folder = TemporaryFolder()
    for (type, bits, isTaken) in [
      ("ed25519", "", true), ("rsa", "2048", true), ("rsa", "1024", false), ("ecdsa", "256", true), ("ecdsa", "384", true),
      ("ecdsa", "521", true),
    ] {
      let file = "\(folder.path)/\(type)\(bits)"
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/ssh-keygen")
      process.arguments = ["-q", "-t", type, "-N", "", "-f", file, "-C", "anna"] + (bits.isEmpty ? [] : ["-b", bits])
      try process.run()
      process.waitUntilExit()
      let line = try String(contentsOfFile: file + ".pub", encoding: .utf8).trimmingCharacters(in: .newlines)
      if isTaken {
        #expect(try SSHKey(line).description == line)
      } else {
        #expect(throws: SSHKey.Failure(description: "an RSA key of 1024 bits is too weak", accepted: ["2048 bits or more"])) {
          try SSHKey(line)
        }
      }
    }
  }

  // MARK: Secrets

  @Test func secretInAFileIsItsFirstLine() throws {
    let folder = TemporaryFolder()
    for (content, secret) in [("pa$$ word \n", "pa$$ word "), ("p\r\n", "p"), ("\u{FEFF}p", "p"), ("a\nb\n", "a")] {
      try Data(content.utf8).write(to: URL(filePath: "\(folder.path)/secret"))
      #expect(try Secret.file("\(folder.path)/secret").read() == secret)
    }
    for content in ["", "\n", "\u{0}"] {
      try Data(content.utf8).write(to: URL(filePath: "\(folder.path)/secret"))
      #expect(throws: Secret.Failure.self) { try Secret.file("\(folder.path)/secret").read() }
    }
    #expect(throws: Secret.Failure(description: "the file /nowhere cannot be read")) { try Secret.file("/nowhere").read() }
  }

  @Test func secretNeverShows() throws {
    let configuration = try load(SystemConfigurationTests.wifi + "password = \"correct horse\"\n")
    #expect(!"\(configuration)".contains("horse"))
    var text = ""
    dump(configuration, to: &text)
    #expect(!text.contains("horse") && text.contains("(hidden)"))
    for password in ["horses", "horses and ä"] {
      #expect(!messages(SystemConfigurationTests.wifi + "password = \"\(password)\"\n").joined().contains("horse"))
    }
  }

  @Test func passwordInAFileIsLookedAtWhereItCanBe() throws {
    let folder = TemporaryFolder()
    func errors() -> [String] {
      let text = SystemConfigurationTests.wifi + "password_file = \"secret\"\n"
      do throws(ConfigurationError) {
        return try Configuration(Array(text.utf8), file: "\(folder.path)/parlor.toml").warnings.map(\.key)
      } catch {
        return error.problems.map(\.key)
      }
    }
    #expect(errors() == [])
    try Data("short\r\n".utf8).write(to: URL(filePath: "\(folder.path)/secret"))
    #expect(errors() == ["network.wifi[0].password_file"])
    try Data("long enough\r\n".utf8).write(to: URL(filePath: "\(folder.path)/secret"))
    #expect(errors() == [])
  }
}
