import Testing

@testable import Appliance

/// What is described is what is read.
@Suite struct ConfigurationDescriptionTests {
  private static let all = ConfigurationSamples.all

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

  @Test func everyDescribedKeyIsRead() {
    for (table, key) in ConfigurationDescriptionTests.all {
      let name = name(table, key)
      let problems = problems(ConfigurationSamples.text(table, key, "1979-05-27"))
      #expect(problems.contains { isAbout($0, name) && $0.message.hasSuffix("found a date or time") }, "\(name): \(problems)")
    }
  }

  @Test func everyExampleIsAccepted() {
    for (table, key) in ConfigurationDescriptionTests.all {
      guard let example = ConfigurationSamples.example(table, key) else { continue }
      let problems = problems(ConfigurationSamples.text(table, key, example)).filter { $0.severity == .error }
      #expect(problems.isEmpty, "\(name(table, key)): \(problems)")
    }
  }

  @Test func describedStandardIsWhatHoldsWithoutTheKey() throws {
    for (table, key) in ConfigurationDescriptionTests.all {
      guard let standard = key.standard else { continue }
      var (shown, plain) = (try load(ConfigurationSamples.text(table, key, standard)), try load(ConfigurationSamples.text(table, key, nil)))
      (shown.warnings, plain.warnings) = ([], [])
      #expect(shown == plain, "\(name(table, key))")
    }
  }

  @Test func describedRangesAreThoseThatHold() {
    func check(_ table: ConfigurationTable, _ key: ConfigurationKey, _ value: String, isInside: Bool) {
      let name = name(table, key)
      let errors = problems(ConfigurationSamples.text(table, key, value)).filter { $0.severity == .error && isAbout($0, name) }
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
        let errors = problems(ConfigurationSamples.text(table, key, "\"\(word)\"")).filter {
          isAbout($0, name) && $0.message.contains("is not accepted")
        }
        #expect(errors.isEmpty, "\(name) = \(word): \(errors)")
      }
      let errors = problems(ConfigurationSamples.text(table, key, "\"nonsense\""))
      #expect(errors.first { isAbout($0, name) }?.accepted == key.value.accepted, "\(name): \(errors)")
    }
  }

  @Test func everyMissingKeyThatMustBeThereIsNamed() {
    for (table, key) in ConfigurationDescriptionTests.all where key.isRequired {
      let errors = problems(ConfigurationSamples.text(table, key, nil))
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
