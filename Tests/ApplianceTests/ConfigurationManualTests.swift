import Foundation
import Testing

@testable import Appliance

/// What is written about keys, in `Config` and the README, is what is described.
@Suite struct ConfigurationManualTests {
  private func file(_ name: String) -> String {
    var path = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    path.removeLast(3)
    return String(decoding: TemporaryFolder.bytes(of: path.joined(separator: "/") + "/" + name), as: UTF8.self)
  }

  @Test func writtenFilesAreCurrent() throws {
    let advice: Comment = "run Scripts/reference.sh"
    #expect(try file("Config/reference.md") == ConfigurationManual.reference.text, advice)
    #expect(try file("Config/parlor.schema.json") == ConfigurationManual.schema.text, advice)
    let table = file("README.md").components(separatedBy: "<!-- keys -->\n\n").last?.components(separatedBy: "\n<!-- end of keys -->").first
    #expect(try table == ConfigurationManual.table.text, advice)
  }

  @Test func everyKeyHasARow() throws {
    let (page, table) = (try ConfigurationManual.reference.text, try ConfigurationManual.table.text)
    for (described, key) in ConfigurationSamples.all {
      #expect(page.contains("| `\(key.name)` |"))
      if !key.name.hasSuffix("_file") || !key.isSecret { #expect(table.contains("| `\(described.path).\(key.name)` |")) }
    }
    // A cell must not end a row early.
    for line in (page + table).split(separator: "\n") where line.hasPrefix("| ") {
      let bars = line.replacing("\\|", with: "").count { $0 == "|" }
      #expect(bars == 4 || bars == 5, "\(line)")
    }
  }

  // MARK: Examples

  /// An example with all lines in force that only show a key.
  private func uncommented(_ name: String) -> String {
    file("Config/\(name)").split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let isShown = line.firstMatch(of: /^# (\[|\w+ = |  \{|\]$)/) != nil
      return isShown ? String(line.dropFirst(2)) : String(line)
    }.joined(separator: "\n")
  }

  /// Calls `body` with each key of a tree and its value.
  private func visit(_ node: TOMLDocument.Node, _ path: String, _ body: (String, TOMLDocument.Node) -> Void) {
    switch node.content {
    case .table(let members): for (name, member) in members { visit(member, path.isEmpty ? name : "\(path).\(name)", body) }
    case .array(let items):
      if ConfigurationDescription.table("\(path)[]") != nil {
        for item in items { visit(item, "\(path)[]", body) }
      } else {
        body(path, node)
      }
    default: body(path, node)
    }
  }

  @Test func examplesShowEveryKey() throws {
    var shown: Set<String> = []
    for name in ["parlor.toml", "page.toml"] {
      visit(try TOMLDocument(Array(uncommented(name).utf8)).root, "") { path, _ in shown.insert(path) }
    }
    let described = Set(ConfigurationSamples.all.map { "\($0.path).\($1.name)" })
    #expect(shown.subtracting(described) == [])
    // Secrets in files are shown where they are most useful.
    let missing = described.subtracting(shown).filter { !$0.hasSuffix("_file") }
    // What a cable and Wi-Fi have in common is shown for one of them.
    let common = described.filter { path in
      ["network.ethernet[].", "network.wifi[]."].contains { prefix in
        path.hasPrefix(prefix) && ["network.ethernet[].", "network.wifi[]."].contains { shown.contains($0 + path.dropFirst(prefix.count)) }
      }
    }
    #expect(missing.subtracting(common) == [])
  }

  @Test func valuesInCommentsAreThoseThatHoldWithoutThem() throws {
    for name in ["parlor.toml", "page.toml"] {
      visit(try TOMLDocument(Array(uncommented(name).utf8)).root, "") { path, node in
        guard let key = ConfigurationDescription.key(path), let standard = key.standard else { return }
        let values = [standard, key.example].compactMap { literal in
          literal.flatMap { try? TOMLDocument(Array("x = \($0)".utf8)) }.flatMap { document -> String? in
            guard case .table(let members) = document.root.content else { return nil }
            return members["x"].map { "\($0.content)" }
          }
        }
        #expect(values.contains("\(node.content)") || file("Config/\(name)").contains("\n\(key.name) = "), "\(name): \(path)")
      }
    }
  }

  @Test func whatExamplesShowIsAccepted() throws {
    for name in ["parlor.toml", "page.toml"] {
      do throws(ConfigurationError) {
        _ = try Configuration(Array(uncommented(name).utf8), file: name)
      } catch {
        let errors = error.problems.filter { $0.severity == .error }.map(\.key)
        // Shown side by side, though only one of them may stand there; or made by the site.
        let expected = [
          "call.token_file", "network.wifi[0].password_file", "network.proxy.password_file", "access.ssh_keys[0]", "notices.logo",
          "notices.idle", "network.wifi[0].address", "tls.pins[0]",
        ]
        #expect(errors.filter { !expected.contains($0) } == [], "\(name): \(error)")
      }
    }
  }

  // MARK: The schema

  /// Asks Python's validator which of these TOML texts the schema takes.
  private func accepted(_ texts: [String]) throws -> [Bool] {
    let program = """
      import json, sys, tomllib
      from jsonschema import Draft202012Validator
      schema, texts = json.load(sys.stdin)
      Draft202012Validator.check_schema(schema)
      validator = Draft202012Validator(schema)
      print(json.dumps([validator.is_valid(tomllib.loads(text)) for text in texts]))
      """
    let schema = try #require(JSON(text: Array(try ConfigurationManual.schema.text.utf8)))
    let folder = TemporaryFolder()
    let input = folder.write(
      String(decoding: try JSON.text(JSON.array([schema, .array(texts.map(JSON.string))])), as: UTF8.self), to: "input")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = ["-c", program]
    process.standardInput = try FileHandle(forReadingFrom: URL(filePath: input))
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let answer = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return try JSONDecoder().decode([Bool].self, from: answer)
  }

  @Test func schemaAndProgramAgree() throws {
    var cases: [(text: String, isValid: Bool)] = ["parlor.toml", "page.toml", "direct.toml"].map { (file("Config/\($0)"), true) }
    cases += [
      ("", true), ("[call]\n", false), ("[call]\nurl = \"https://a\"\nwhip = \"https://a\"\n", false), ("[colour]\n", false),
      ("[network]\n[[network.wifi]]\nssid = \"a\"\n", false),
      ("[network]\ncountry = \"DE\"\n[[network.wifi]]\nssid = \"a\"\npassword = \"12345678\"\npassword_file = \"f\"\n", false),
      ("[grants]\norigin = \"https://a\"\n", false),
    ]
    for (table, key) in ConfigurationSamples.all {
      if let example = ConfigurationSamples.example(table, key) { cases.append((ConfigurationSamples.text(table, key, example), true)) }
      cases.append((ConfigurationSamples.text(table, key, "{ a = 1 }"), false))
      cases.append((ConfigurationSamples.text(table, key, "\"é = \\u20ac\""), isAnyText(key.value)))
      if let range = key.value.integerRange { cases.append((ConfigurationSamples.text(table, key, "\(range.upperBound + 1)"), false)) }
    }
    let verdicts = try accepted(cases.map(\.text))
    for (index, sample) in cases.enumerated() {
      #expect(verdicts[index] == sample.isValid, "\(sample.text)")
      // What the program takes the schema takes: an editor must not complain of what is right.
      if (try? Configuration(Array(sample.text.utf8), file: "x", machine: Machine(hardwareAddress: "02005e1000ab"))) != nil {
        #expect(verdicts[index], "\(sample.text)")
      }
    }
  }

  /// Whether the schema cannot tell one text from another.
  private func isAnyText(_ value: ConfigurationKey.Value) -> Bool {
    switch value {
    case .text(_, let pattern): pattern == nil
    case .file: true
    case .oneOrList(let item): isAnyText(item)
    default: false
    }
  }
}
