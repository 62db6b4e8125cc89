import Foundation
import Testing

@testable import Appliance

/// What is described is what is read.
@Suite struct ConfigurationDescriptionTests {
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
  private func text(_ table: ConfigurationTable, _ key: ConfigurationKey, _ value: String?) -> String {
    let name = "\(table.path).\(key.name)"
    var others: [String: String?] = (ConfigurationDescriptionTests.beside[table.path] ?? [:]).mapValues { $0 }
    for other in table.keys where other.isRequired { others[other.name] = other.example }
    var changes = ConfigurationDescriptionTests.with[name] ?? [:]
    if table.path.hasPrefix("network."), ["client_certificate", "client_key"].contains(key.name) {
      changes = ConfigurationDescriptionTests.certificate
    } else if ["eap", "identity", "anonymous_identity", "inner", "ca_file", "server_domain"].contains(key.name)
      || (table.path == "network.ethernet[]" && key.name.hasPrefix("password"))
    {
      changes = ConfigurationDescriptionTests.user
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

  private func problems(_ text: String) -> [ConfigurationProblem] {
    do throws(ConfigurationError) { return try load(text).warnings } catch { return error.problems }
  }

  private func load(_ text: String) throws(ConfigurationError) -> Configuration {
    try Configuration(Array(text.utf8), file: "/etc/parlor/parlor.toml", machine: Machine(hardwareAddress: "02005e1000ab"))
  }

  private func name(_ table: ConfigurationTable, _ key: ConfigurationKey) -> String {
    "\(table.path).\(key.name)".replacing("[]", with: "[0]")
  }

  /// Whether a problem is about the key, or an entry of its list.
  private func isAbout(_ problem: ConfigurationProblem, _ name: String) -> Bool {
    problem.key == name || problem.key.hasPrefix("\(name)[")
  }

  /// Values that stand for what a site makes itself.
  private func example(_ table: ConfigurationTable, _ key: ConfigurationKey) -> String? {
    switch (table.path, key.name) {
    case ("access", "ssh_keys"): "[\"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f anna\"]"
    case ("notices", "logo"), ("notices", "idle"): nil
    case ("network.wifi[]", "password"): "'pa$$ \"word\"'"
    default: key.example ?? key.standard
    }
  }

  @Test func everyDescribedKeyIsRead() {
    for (table, key) in ConfigurationDescriptionTests.all {
      let name = name(table, key)
      let problems = problems(text(table, key, "1979-05-27"))
      #expect(problems.contains { isAbout($0, name) && $0.message.hasSuffix("found a date or time") }, "\(name): \(problems)")
    }
  }

  @Test func everyExampleIsAccepted() {
    for (table, key) in ConfigurationDescriptionTests.all {
      guard let example = example(table, key) else { continue }
      let problems = problems(text(table, key, example)).filter { $0.severity == .error }
      #expect(problems.isEmpty, "\(name(table, key)): \(problems)")
    }
  }

  @Test func describedStandardIsWhatHoldsWithoutTheKey() throws {
    for (table, key) in ConfigurationDescriptionTests.all {
      guard let standard = key.standard else { continue }
      var (shown, plain) = (try load(text(table, key, standard)), try load(text(table, key, nil)))
      (shown.warnings, plain.warnings) = ([], [])
      #expect(shown == plain, "\(name(table, key))")
    }
  }

  @Test func describedRangesAreThoseThatHold() {
    func check(_ table: ConfigurationTable, _ key: ConfigurationKey, _ value: String, isInside: Bool) {
      let name = name(table, key)
      let errors = problems(text(table, key, value)).filter { $0.severity == .error && isAbout($0, name) }
      #expect(errors.isEmpty == isInside, "\(name) = \(value): \(errors)")
      if !isInside { #expect(errors.first?.accepted == key.value.accepted.suffix(1), "\(name)") }
    }
    for (table, key) in ConfigurationDescriptionTests.all {
      if let range = key.value.integerRange {
        for value in [range.lowerBound, range.upperBound] { check(table, key, "\(value)", isInside: true) }
        for value in [range.lowerBound - 1, range.upperBound + 1] { check(table, key, "\(value)", isInside: false) }
      } else if case .number(let range) = key.value {
        for value in [range.lowerBound, range.upperBound] { check(table, key, "\(value)", isInside: true) }
        for value in [range.lowerBound - 0.001, range.upperBound + 0.001] { check(table, key, "\(value)", isInside: false) }
      }
    }
  }

  @Test func describedWordsAreThoseThatAreTaken() {
    for (table, key) in ConfigurationDescriptionTests.all {
      guard case .words(let words) = key.value else { continue }
      let name = name(table, key)
      for word in words {
        let errors = problems(text(table, key, "\"\(word)\"")).filter { isAbout($0, name) && $0.message.contains("is not accepted") }
        #expect(errors.isEmpty, "\(name) = \(word): \(errors)")
      }
      let errors = problems(text(table, key, "\"nonsense\""))
      #expect(errors.first { isAbout($0, name) }?.accepted == key.value.accepted, "\(name): \(errors)")
    }
  }

  @Test func everyMissingKeyThatMustBeThereIsNamed() {
    for (table, key) in ConfigurationDescriptionTests.all where key.isRequired {
      let errors = problems(text(table, key, nil))
      #expect(errors.contains { $0.key == name(table, key) && $0.message == "is missing" }, "\(name(table, key)): \(errors)")
    }
  }

  @Test func secretsAreMarked() {
    #expect(
      Configuration.secretKeys == [
        "call.token", "call.ice_servers[].credential", "network.ethernet[].password", "network.wifi[].password", "network.proxy.password",
      ])
    // Whatever sounds like a secret is one.
    for (table, key) in ConfigurationDescriptionTests.all where ["token", "password", "credential", "client_key"].contains(key.name) {
      #expect(key.isSecret, "\(table.path).\(key.name)")
    }
  }
}
