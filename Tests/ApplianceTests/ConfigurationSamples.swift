@testable import Appliance

/// Files in which one key of the description stands, with what must be beside it.
enum ConfigurationSamples {
  /// Every key beside its table, in order.
  static let all = ConfigurationDescription.tables.flatMap { table in table.keys.map { (table, $0) } }

  /// What else a table needs so that nothing is wrong but the key in question.
  private static let beside: [String: [String: String]] = [
    "call": ["url": "\"https://calls.example.org/\""],
    "call.ice_servers[]": ["username": "\"u\"", "credential": "\"c\""],
    "network.wifi[]": ["ssid": "\"a\""],
  ]
  /// Keys that make sense only with others, or without those that are there otherwise: nil.
  private static let with: [String: [String: String?]] = [
    "call.start": ["key": "\"KEY_F1\""],
    "call.whip": ["url": nil], "call.whep": ["url": nil],
    "tls.client_certificate": ["client_key": "\"k\""], "tls.client_key": ["client_certificate": "\"c\""],
    "call.ice_servers[].credential_file": ["credential": nil],
    "power.restart_days": ["restart_at": "\"04:00\""],
    "network.wifi[].ssid_hex": ["ssid": nil],
    "network.wifi[].password": [:], "network.wifi[].password_file": [:],
    "network.proxy.username": ["password": "\"p\""], "network.proxy.password": ["username": "\"u\""],
    "network.proxy.password_file": ["username": "\"u\""],
    "update.automatic": ["url": "\"https://u/\""],
  ]
  private static let user: [String: String?] = [
    "eap": "\"peap\"", "identity": "\"i\"", "password": "\"p\"", "ca_file": "\"c\"",
  ]
  private static let certificate: [String: String?] = [
    "eap": "\"tls\"", "identity": "\"i\"", "client_certificate": "\"c\"", "client_key": "\"k\"", "ca_file": "\"c\"",
  ]

  /// A file in which `key` of `table` has `value` (TOML), and everything that must be beside it.
  static func text(_ table: ConfigurationTable, _ key: ConfigurationKey, _ value: String?) -> String {
    let name = "\(table.path).\(key.name)"
    var others: [String: String?] = (beside[table.path] ?? [:]).mapValues { $0 }
    for other in table.keys where other.isRequired { others[other.name] = other.example }
    var changes = with[name] ?? [:]
    if table.path.hasPrefix("network."), ["client_certificate", "client_key"].contains(key.name) {
      changes = certificate
    } else if ["eap", "identity", "anonymous_identity", "inner", "ca_file", "server_domain"].contains(key.name)
      || (table.path == "network.ethernet[]" && key.name.hasPrefix("password"))
    {
      changes = user
    } else if key.name == "gateway" {
      changes = ["address": "\"192.0.2.9/24\""]
    } else if key.name == "address" {
      changes = ["gateway": "\"192.0.2.1\""]
    }
    if key.name == "password_file" { changes["password"] = .some(nil) }
    for (other, value) in changes { others.updateValue(value, forKey: other) }
    others.updateValue(value, forKey: key.name)
    let pairs = others.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\(name) = \($0)" } }
    var text = "[identity]\nname = \"n\"\nserial = \"1\"\n"
    if table.path == "identity" { text = "" }
    if table.path == "network.wifi[]" { text += "[network]\ncountry = \"DE\"\n" }
    if table.parent == "call" { text += "[call]\nwhip = \"https://a/\"\n" }
    if table.path == "update.window" { text += "[update]\nurl = \"https://u/\"\n" }
    return text + (table.isList ? "[[\(table.path.dropLast(2))]]\n" : "[\(table.path)]\n") + pairs.joined(separator: "\n") + "\n"
  }

  /// Values that stand for what a site makes itself.
  static func example(_ table: ConfigurationTable, _ key: ConfigurationKey) -> String? {
    switch (table.path, key.name) {
    case ("access", "ssh_keys"): "[\"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f anna\"]"
    case ("notices", "logo"), ("notices", "idle"): nil
    case ("network.wifi[]", "password"): "'pa$$ \"word\"'"
    default: key.example ?? key.standard
    }
  }
}
