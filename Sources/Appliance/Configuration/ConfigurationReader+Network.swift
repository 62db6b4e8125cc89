import Base

extension ConfigurationReader {
  func readNetwork() -> Configuration.Network {
    var network = Configuration.Network()
    guard let table = root.table("network") else { return network }
    var names: [[UInt8]] = []
    network.callInterfaces = table.strings("interfaces")
    network.hostName = readHostName(in: table)
    network.country = readCountry(in: table)
    network.ethernet = readEthernet(in: table)
    network.wifi = table.tables("wifi").compactMap { entry in
      guard let wifi = readWiFi(entry) else { return nil }
      defer { names.append(wifi.name) }
      if names.contains(wifi.name) { entry.warn(entry.has("ssid") ? "ssid" : "ssid_hex", "has an entry already") }
      return wifi
    }
    if table.has("wifi"), !table.has("country") {
      table.fail(
        "country", "is missing: Wi-Fi is switched off until it is known where the box stands",
        accepted: table.accepted("country"))
    }
    if let proxy = table.table("proxy") { network.proxy = readProxy(proxy) }
    table.finish()
    return network
  }

  private func readHostName(in table: TableReader) -> String? {
    let key = "hostname"
    guard let name = readExpanded(key, in: table, encode: { $0 }) else { return nil }
    if HostName.isValid(name), name.utf8.count <= 64 { return name }
    table.fail(key, "\"\(name)\" is no host name", accepted: table.accepted(key))
    return nil
  }

  private func readCountry(in table: TableReader) -> String? {
    let key = "country"
    guard let text = table.string(key) else { return nil }
    let code = text.uppercased()
    if CountryCode.isKnown(code) { return code }
    let meant = CountryCode.mistakes[code].map { "; did you mean \($0)?" } ?? ""
    table.fail(key, "\"\(text)\" is no country" + meant, accepted: table.accepted(key))
    return nil
  }

  private func readEthernet(in table: TableReader) -> [Configuration.Network.Ethernet] {
    var names: Set<String?> = []
    return table.tables("ethernet").map { entry in
      var ethernet = Configuration.Network.Ethernet()
      ethernet.interface = entry.value("interface") { text in
        text.utf8.count <= 15 && !text.contains { "/: ".contains($0) } ? text : nil
      }
      ethernet.addressing = readAddressing(in: entry)
      ethernet.authentication = readAuthentication(in: entry)
      entry.finish()
      for key in ["password", "password_file"] where entry.has(key) && !entry.has("eap") { entry.fail(key, "needs eap beside it") }
      if !names.insert(ethernet.interface).inserted, !entry.has("interface") || ethernet.interface != nil {
        let which = ethernet.interface.map { "\($0) has" } ?? "all wired interfaces have"
        entry.fail("interface", "\(which) an entry already")
      }
      return ethernet
    }
  }

  // MARK: Addresses

  private func readAddressing(in table: TableReader) -> Configuration.Network.Addressing {
    var addressing = Configuration.Network.Addressing()
    addressing.addresses = table.values("address") { Configuration.Network.Address($0) } ?? []
    addressing.gateways = table.values("gateway") { IPAddress($0) } ?? []
    addressing.nameServers = table.values("dns") { IPAddress($0) } ?? []
    if table.has("gateway"), !table.has("address") {
      table.fail("gateway", "needs address beside it; without one the gateway comes from the network")
      return addressing
    }
    guard !addressing.addresses.isEmpty else { return addressing }
    for (index, gateway) in addressing.gateways.enumerated() {
      if addressing.gateways[..<index].contains(where: { $0.family == gateway.family }) {
        table.fail("gateway", "\(gateway) is the second of its kind", accepted: ["one gateway for IPv4, one for IPv6"])
      } else if !gateway.isLinkLocal, !addressing.addresses.contains(where: { $0.reaches(gateway) }) {
        table.fail("gateway", "\(gateway) is not in the network of " + addressing.addresses.map(\.description).joined(separator: " or "))
      }
    }
    if addressing.gateways.isEmpty { table.warn("address", "without gateway beside it, only neighbours are reached by this address") }
    return addressing
  }

  // MARK: Wi-Fi

  private func readWiFi(_ table: TableReader) -> Configuration.Network.WiFi? {
    let name = readSSID(in: table)
    var wifi = Configuration.Network.WiFi(name: name ?? [])
    if let authentication = readAuthentication(in: table) {
      wifi.access = .enterprise(authentication)
    } else if !table.has("eap"), let password = readPassword(in: table) {
      wifi.access = .password(password)
    }
    wifi.isHidden = table.boolean("hidden") ?? false
    wifi.priority = table.integer("priority") ?? 0
    wifi.addressing = readAddressing(in: table)
    table.finish()
    return name == nil ? nil : wifi
  }

  private func readSSID(in table: TableReader) -> [UInt8]? {
    let text = table.string("ssid")
    let hex = table.value("ssid_hex") { text -> [UInt8]? in
      let digits = Array(text.utf8)
      guard digits.count % 2 == 0, (2...64).contains(digits.count) else { return nil }
      let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16) }
      return digits.contains(UInt8(ascii: "+")) || bytes.contains(nil) ? nil : bytes.compactMap { $0 }
    }
    switch (table.has("ssid"), table.has("ssid_hex")) {
    case (false, false): table.fail("ssid", "is missing", accepted: table.accepted("ssid"))
    case (true, true): table.fail("ssid_hex", "ssid is given already", accepted: ["ssid or ssid_hex"])
    default: break
    }
    guard let text else { return hex }
    if text.utf8.count <= 32 { return Array(text.utf8) }
    table.fail("ssid", "is \(text.utf8.count) bytes long", accepted: table.accepted("ssid"))
    return nil
  }

  /// A network's password, looked at also when it lies in a file that can be read.
  private func readPassword(in table: TableReader) -> Secret? {
    guard let secret = readSecret("password", in: table) else { return nil }
    let key = secret.path == nil ? "password" : "password_file"
    guard let text = try? secret.read(), !Configuration.Network.WiFi.isPassword(text) else { return secret }
    // The password itself must not come into a message: it says what is wrong with it instead.
    let length = text.utf8.count
    let reason =
      if length == 64 {
        "has 64 characters, not all of them hexadecimal digits"
      } else if (8...63).contains(length) {
        "has characters that no password can have"
      } else {
        "has \(length) \(length == 1 ? "character" : "characters")"
      }
    table.fail(key, reason, accepted: ["8 to 63 printable ASCII characters", "64 hexadecimal digits"])
    return nil
  }

  // MARK: 802.1X

  private static let authenticationKeys = [
    "identity", "anonymous_identity", "inner", "ca_file", "server_domain", "client_certificate", "client_key",
  ]

  private func readAuthentication(in table: TableReader) -> Configuration.Network.Authentication? {
    let method = table.word("eap", as: Configuration.Network.Authentication.Method.self)
    var result = Configuration.Network.Authentication(method: method ?? .tls, identity: table.string("identity") ?? "")
    result.anonymousIdentity = table.string("anonymous_identity")
    result.inner = table.word("inner", as: Configuration.Network.Authentication.Inner.self) ?? .mschapv2
    result.certificateFile = table.string("ca_file").map(absolute)
    result.serverDomain = table.value("server_domain") { HostName.isValid($0) ? $0 : nil }
    result.clientCertificate = table.string("client_certificate").map(absolute)
    result.clientKey = table.string("client_key").map(absolute)
    guard table.has("eap") else {
      for key in ConfigurationReader.authenticationKeys where table.has(key) {
        table.fail(
          key, "needs eap beside it", accepted: Configuration.Network.Authentication.Method.allCases.map { "eap = \"\($0.rawValue)\"" })
      }
      return nil
    }
    result.password = readSecret("password", in: table)
    guard let method else { return nil }
    if !table.has("identity") { table.fail("identity", "is missing: \(method.rawValue) needs a user's name") }
    if !table.has("ca_file"), !table.has("server_domain") {
      table.fail("eap", "needs ca_file or server_domain beside it: without them any network could pose as this one and take the password")
    }
    let isTLS = method == .tls
    if !isTLS, !table.has("password"), !table.has("password_file") { table.fail("password", "is missing: \(method.rawValue) needs one") }
    for key in ["client_certificate", "client_key"] where isTLS != table.has(key) {
      if isTLS { table.fail(key, "is missing: tls needs it") } else { table.warn(key, "has no effect with \(method.rawValue)") }
    }
    for key in ["password", "password_file", "inner"] where isTLS && table.has(key) { table.warn(key, "has no effect with tls") }
    let unfit: Configuration.Network.Authentication.Inner? = method == .peap ? .pap : method == .ttls ? .gtc : nil
    if let unfit, result.inner == unfit {
      let others = Configuration.Network.Authentication.Inner.allCases.filter { $0 != unfit }.map { "\"\($0.rawValue)\"" }
      table.fail("inner", "\(unfit.rawValue) does not go with \(method.rawValue)", accepted: others)
    }
    return result
  }

  // MARK: Proxy

  private func readProxy(_ table: TableReader) -> Configuration.Network.Proxy? {
    let url = table.value("url") { text -> String? in
      guard let origin = Origin(text.hasSuffix("/") ? String(text.dropLast()) : text), origin.scheme == "http" else { return nil }
      return "http://\(origin.host):\(origin.port)"
    }
    var proxy = Configuration.Network.Proxy(url: url ?? "")
    proxy.username = table.string("username")
    proxy.password = readSecret("password", in: table)
    proxy.exceptions =
      table.values("no_proxy") { text in
        let isName = HostName.isHost(text.hasPrefix(".") ? String(text.dropFirst()) : text)
        return isName || Configuration.Network.Address(text) != nil ? text : nil
      } ?? []
    table.finish()
    if proxy.username == nil, proxy.password != nil { table.fail("username", "is missing: there is a password") }
    if table.has("username"), proxy.password == nil, !table.has("password"), !table.has("password_file") {
      table.fail("password", "is missing: there is a user name")
    }
    return url == nil ? nil : proxy
  }
}
