import Appliance
import Testing

@testable import parlor

@Suite struct OperatorShellTests {
  @Test(arguments: [
    ("", []), ("  ", []), ("status", ["status"]), (" status \t --json ", ["status", "--json"]),
    ("type 'two  words'", ["type", "two  words"]), (#"type "a \"b\" \$c \d""#, ["type", #"a "b" $c \d"#]),
    (#"type a\ b\'c"#, ["type", "a b'c"]), ("type ''", ["type", ""]), (#"type 'a'"b"c"#, ["type", "abc"]),
    ("config set k '$HOME `id` \\'", ["config", "set", "k", "$HOME `id` \\"]),
    // Nothing is expanded, and what a page's address is made of stands for itself.
    ("open https://a/?b=1&c=$HOME*~;d", ["open", "https://a/?b=1&c=$HOME*~;d"]), ("type ';' \"|\" \\&", ["type", ";", "|", "&"]),
    ("type a\\\nb", ["type", "ab"]), ("status\n", ["status"]), ("type #1", ["type", "#1"]),
  ])
  func linesAreSplitAsAShellSplitsThem(line: String, words: [String]) throws {
    #expect(try ShellWords.split(line) == words)
  }

  @Test(arguments: [
    "status; reboot", "status ; reboot", "status | cat", "status > /etc/passwd", "status && reboot", "status & reboot", "status || x",
    "status\nreboot", "type 'open", "type \"open", "type \\",
  ])
  func whatAsksForMoreThanOneVerbIsRefused(line: String) {
    do throws(VerbFailure) {
      let words = try ShellWords.split(line)
      Issue.record("accepted: \(words)")
    } catch { #expect(error.exitCode == .usage) }
  }

  @Test func operatorsHaveTheirVerbs() throws {
    func command(_ line: String) throws(VerbFailure) -> Command { try OperatorShell.command(line, environment: ["PARLOR_RUNTIME": "/r"]) }
    #expect(try command("status --json") == .status(runtime: "/r", isJSON: true))
    #expect(try command("parlor status") == .status(runtime: "/r", isJSON: false))
    #expect(try command("screenshot -") == .screenshot(runtime: "/r", file: "-"))
    #expect(try command("help") == .help(verb: nil))
    #expect(try command("--version") == .version(isJSON: false))
    #expect(
      try command("type 'it is $5; thanks'")
        == .order(runtime: "/r", ControlRequest(verb: "type", arguments: ["text": "it is $5; thanks"])))
  }

  @Test(arguments: [
    ("sh", "only verbs"), ("/usr/lib/openssh/sftp-server", "only verbs"), ("scp -t /tmp", "only verbs"), ("rsync --server .", "only verbs"),
    ("staus", "did you mean status?"), ("run --stage headless", "run is not for operators"), ("demo", "not for operators"),
    ("peer", "not for operators"), ("screenshot /etc/passwd", "/etc/passwd: no file of the box"), ("screenshot -- --x", "--x: no file"),
    ("check --config /etc/shadow", "/etc/shadow: no file"), ("check --config=/etc/shadow", "/etc/shadow: no file"),
    ("status --runtime /tmp/x", "--runtime is not for operators"),
  ])
  func nothingElseIsTheirs(line: String, message: String) {
    do throws(VerbFailure) {
      let command = try OperatorShell.command(line, environment: [:])
      Issue.record("accepted: \(command)")
    } catch {
      #expect(error.exitCode == .notPermitted && error.description.contains(message), "\(error)")
    }
  }

  @Test func shellIsKnownByItsName() {
    for name in ["parlor-shell", "-parlor-shell", "/usr/bin/parlor-shell"] { #expect(OperatorShell.isCalled(name)) }
    for name in ["parlor", "/usr/bin/parlor", "parlor-shell/parlor", ""] { #expect(!OperatorShell.isCalled(name)) }
  }

  @Test func helpOfTheShellNamesItsVerbsAlone() {
    #expect(VerbSyntax.shellOverview.contains("screenshot") && !VerbSyntax.shellOverview.contains("\n  demo"))
  }
}
