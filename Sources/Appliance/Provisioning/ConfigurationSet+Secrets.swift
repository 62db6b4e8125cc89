extension ConfigurationSet {
  /// The files that only the box may keep: those that `text` calls secret, and those that are by their nature.
  private static func secretFiles(_ text: ConfigurationText) -> [String] {
    text.files.filter(\.isSecret).map(\.path) + [wifiFile, ProvisioningKey.file]
  }

  private static let markLine = Array((ConfigurationText.mark + "\r\n").utf8)

  private static func isMark(_ bytes: [UInt8]) -> Bool {
    bytes.count < 100
      && String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ") == ConfigurationText.mark
  }

  /// Whether anything in it is for the box alone. False as well when the configuration is no TOML: then nobody can tell.
  var hasSecrets: Bool { (try? withoutSecrets()).map { $0 != self } ?? false }

  /// The files with a mark in the place of each secret, for where others can read them. Throws when the configuration is no TOML.
  func withoutSecrets() throws(ConfigurationError) -> ConfigurationSet {
    let text = try ConfigurationText(text, file: ConfigurationSet.mainFile)
    var set = self
    if !text.secrets.isEmpty { set.files[ConfigurationSet.mainFile] = text.withoutSecrets() }
    for name in ConfigurationSet.secretFiles(text) {
      if let bytes = set.files[name], !ConfigurationSet.isMark(bytes) { set.files[name] = ConfigurationSet.markLine }
    }
    return set
  }

  /// The files with what the box kept in the place of each mark. Throws, with the places, when something is marked that the box does not have, and when the
  /// configuration is no TOML.
  func fillingIn(from kept: ConfigurationSet?) throws(ConfigurationError) -> ConfigurationSet {
    let text = try ConfigurationText(text, file: ConfigurationSet.mainFile)
    let keptText = kept.flatMap { try? ConfigurationText($0.text, file: ConfigurationSet.mainFile) }
    var set = self
    set.files[ConfigurationSet.mainFile] = try text.fillingIn(from: keptText).bytes
    var problems: [ConfigurationProblem] = []
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) where ConfigurationSet.isMark(bytes) {
      if let value = kept?.files[name] {
        set.files[name] = value
      } else {
        problems.append(
          ConfigurationProblem(
            severity: .error, file: name, line: 1, column: 1, key: "", message: "is not kept on the box: put the file here once more",
            accepted: []))
      }
    }
    if !problems.isEmpty { throw ConfigurationError(problems: problems) }
    return set
  }
}
