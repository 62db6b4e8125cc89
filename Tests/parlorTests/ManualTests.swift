import Foundation
import Testing

@testable import parlor

@Suite struct ManualTests {
  private let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL.path

  @Test func filesAreWhatTheProgramSays() throws {
    for (file, form) in [("man/parlor.1", Manual.page), ("completion/parlor.bash", .bash)] {
      #expect(
        try String(contentsOfFile: "\(project)/Config/\(file)", encoding: .utf8) == form.text,
        "Scripts/manual.sh writes Config/\(file) anew")
    }
  }

  @Test func everyVerbAndOptionIsInThePage() {
    let page = Manual.page.text
    for verb in VerbSyntax.all {
      #expect(page.contains(".SS \(verb.name.replacing("-", with: "\\-"))"))
      for option in verb.options { #expect(page.contains(option.name.replacing("-", with: "\\-"))) }
    }
    // No line is lost to roff: each that begins with a dot is an order that man knows.
    let orders = [".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".BR", ".I", ".br", ".EX", ".EE", ".\\\""]
    for line in page.split(separator: "\n") where line.hasPrefix(".") {
      #expect(orders.contains { line == $0 || line.hasPrefix($0 + " ") }, "\(line)")
    }
  }

  /// What bash offers behind some words, of which the last is being written.
  private func offers(_ words: [String]) async throws -> [String] {
    let script = """
      source "\(project)/Config/completion/parlor.bash"
      COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " "))) COMP_CWORD=\(words.count - 1) COMPREPLY=()
      _parlor
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let result = try await Program.run("/bin/bash", ["--norc", "-c", script])
    #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init)
  }

  @Test func bashCompletesVerbsOptionsAndWords() async throws {
    #expect(try await offers(["parlor", "sta"]) == ["status", "stats"])
    #expect(try await offers(["parlor", "restart", ""]) == ["page", "call", "app", "box"])
    #expect(try await offers(["parlor", "blank", "--runtime", "/x", "o"]) == ["on", "off"])
    #expect(try await offers(["parlor", "logs", "--f"]) == ["--follow"])
    #expect(try await offers(["parlor", "config", "--json", "s"]) == ["set"])
    #expect(try await offers(["parlor", "help", "fac"]) == ["factory-reset"])
    #expect(try await offers(["parlor", "peer", "--video", "o"]) == ["on", "off"])
    #expect(try await offers(["parlor", "status", "--runtime", "/et"]).contains("/etc"))
  }
}
