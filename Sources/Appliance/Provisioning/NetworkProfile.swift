import Base

/// A connection as NetworkManager keeps it: a key file (nm-settings-keyfile(5)).
struct NetworkProfile: Sendable, Equatable {
  /// The file's name, which begins with `parlor-`.
  let name: String
  /// The file's text. It may hold passwords.
  let text: String

  /// All connections of `network`; none of its secrets may be missing.
  static func all(of network: Configuration.Network) throws(Secret.Failure) -> [NetworkProfile] {
    var profiles: [NetworkProfile] = []
    for (index, ethernet) in network.ethernet.enumerated() { profiles.append(try NetworkProfile(ethernet, number: index + 1)) }
    // Cables that nothing is said of.
    if !network.ethernet.contains(where: { $0.interface == nil }) {
      profiles.append(try NetworkProfile(Configuration.Network.Ethernet(), number: 0))
    }
    for (index, wifi) in network.wifi.enumerated() { profiles.append(try NetworkProfile(wifi, number: index + 1)) }
    return profiles
  }

  private init(_ ethernet: Configuration.Network.Ethernet, number: Int) throws(Secret.Failure) {
    name = "parlor-ethernet-\(number).nmconnection"
    var file = KeyFile()
    NetworkProfile.begin(&file, id: "Ethernet \(number)", type: "ethernet")
    if let interface = ethernet.interface {
      file.set("interface-name", interface)
    } else {
      // One connection for each interface that has none of its own; and less wanted than those.
      file.set("multi-connect", 3)
      file.set("autoconnect-priority", -10)
    }
    file.group("ethernet")
    if let authentication = ethernet.authentication { try NetworkProfile.write(authentication, to: &file) }
    NetworkProfile.write(ethernet.addressing, to: &file)
    text = file.text
  }

  private init(_ wifi: Configuration.Network.WiFi, number: Int) throws(Secret.Failure) {
    name = "parlor-wifi-\(number).nmconnection"
    var file = KeyFile()
    NetworkProfile.begin(&file, id: "Wi-Fi \(number)", type: "wifi")
    file.set("autoconnect-priority", wifi.priority)
    file.group("wifi")
    file.set("mode", "infrastructure")
    file.set("ssid", bytes: wifi.name)
    if wifi.isHidden { file.set("hidden", true) }
    // Sleep between beacons costs tens of milliseconds.
    file.set("powersave", 2)
    switch wifi.access {
    case .open: break
    case .password(let secret):
      file.group("wifi-security")
      file.set("key-mgmt", "wpa-psk")
      file.set("psk", try secret.read())
    case .enterprise(let authentication):
      file.group("wifi-security")
      file.set("key-mgmt", "wpa-eap")
      try NetworkProfile.write(authentication, to: &file)
    }
    NetworkProfile.write(wifi.addressing, to: &file)
    text = file.text
  }

  private static func begin(_ file: inout KeyFile, id: String, type: String) {
    file.group("connection")
    file.set("id", "Parlor \(id)")
    file.set("type", type)
    // Nobody is there to try again.
    file.set("autoconnect-retries", 0)
  }

  private static func write(_ authentication: Configuration.Network.Authentication, to file: inout KeyFile) throws(Secret.Failure) {
    file.group("802-1x")
    file.text(authentication)
    if let password = authentication.password { file.set("password", try password.read()) }
  }

  private static func write(_ addressing: Configuration.Network.Addressing, to file: inout KeyFile) {
    for family in [IPAddress.Family.v4, .v6] {
      file.group(family == .v4 ? "ipv4" : "ipv6")
      let addresses = addressing.addresses.filter { $0.ip.family == family }
      let gateway = addressing.gateways.first { $0.family == family }
      file.set("method", addresses.isEmpty ? "auto" : "manual")
      for (index, address) in addresses.enumerated() {
        file.set("address\(index + 1)", "\(address)" + (index == 0 ? gateway.map { ",\($0)" } ?? "" : ""))
      }
      let servers = addressing.nameServers.filter { $0.family == family }
      if !servers.isEmpty { file.set("dns", servers.map { "\($0);" }.joined()) }
    }
  }

  /// What is wrong with a connection that a site brings along as a file; nil: nothing that can be seen.
  static func failure(ofCompanion bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return "is no text in UTF-8" }
    let lines = text.split(whereSeparator: \.isNewline).map { $0.split(whereSeparator: \.isWhitespace).joined() }
    guard lines.contains("[connection]") else {
      return "has no group [connection]; nmcli connection export, or a file of NetworkManager's, is meant"
    }
    guard lines.contains("type=wifi") || lines.contains("type=802-11-wireless") else {
      return "is no Wi-Fi connection: type=wifi is missing"
    }
    return nil
  }
}

extension KeyFile {
  /// Everything of 802.1X but the password.
  fileprivate mutating func text(_ authentication: Configuration.Network.Authentication) {
    set("eap", authentication.method.rawValue + ";")
    set("identity", authentication.identity)
    if let name = authentication.anonymousIdentity { set("anonymous-identity", name) }
    if let file = authentication.certificateFile { set("ca-cert", file) } else { set("system-ca-certs", true) }
    if let domain = authentication.serverDomain { set("domain-suffix-match", domain) }
    switch authentication.method {
    case .tls:
      if let certificate = authentication.clientCertificate { set("client-cert", certificate) }
      if let key = authentication.clientKey { set("private-key", key) }
      // No password protects the key.
      set("private-key-password-flags", 4)
    case .peap, .ttls: set("phase2-auth", authentication.inner.rawValue)
    }
  }
}
