import Appliance

/// What is written down about the verbs, made from their own description.
enum Manual: String, CaseIterable {
  /// The manual page parlor(1), for man.
  case page
  /// Completion for bash.
  case bash

  var text: String {
    switch self {
    case .page: Manual.pageText
    case .bash: Manual.completionText
    }
  }

  // MARK: The page

  private static let exitCodes: [(ExitCode, String)] = [
    (.ok, "All went well."), (.usage, "The command line is wrong."), (.badData, "The input is wrong."),
    (.unavailable, "What was asked for is not there now."), (.internalError, "A fault in parlor itself."),
    (.cannotCreate, "A file cannot be written."), (.notPermitted, "Not permitted to this user, or switched off."),
    (.badConfiguration, "The configuration is wrong; nothing was changed."),
  ]

  private static var pageText: String {
    var lines = [
      ".\\\" Made by `parlor manual`; changes belong into Sources/parlor/VerbSyntax.swift.",
      ".TH PARLOR 1 \"\" \"parlor \(Version.current)\" \"Parlor\"", ".SH NAME",
      "parlor \\- the video-call kiosk, and the tool to look after it", ".SH SYNOPSIS", ".B parlor", ".I VERB", "[OPTIONS] ...", ".br",
      ".B ssh operator@BOX",
      ".I VERB", "[OPTIONS] ...", ".SH DESCRIPTION",
      roff(
        "A box is looked after by verbs. The login shell of its user operator, parlor-shell, knows those under VERBS FOR OPERATORS and nothing else."
      ),
      roff(
        "It splits a line as a POSIX shell does, expands nothing, and runs one verb; without a line it asks for them at a prompt. There a FILE is always -, the standard input or output."
      ),
      ".PP", roff("Who took a picture of the screen or changed something is written down in the log: the user, the key and the address."),
    ]
    for (title, audience) in [("VERBS FOR OPERATORS", VerbSyntax.Audience.operators), ("OTHER VERBS", .administrators)] {
      lines.append(".SH \(title)")
      for syntax in VerbSyntax.all where syntax.audience == audience {
        lines += [".SS " + roff(syntax.usage.dropFirst("parlor ".count)), roff(syntax.summary)]
        for paragraph in syntax.details { lines += [".PP", roff(paragraph)] }
        for option in syntax.options {
          lines += [".TP", ".B " + roff(option.name + (option.value.map { " \($0)" } ?? "")), roff(option.help)]
        }
      }
    }
    lines.append(".SH EXIT STATUS")
    for (code, meaning) in exitCodes { lines += [".TP", ".B \(code.rawValue)", meaning] }
    lines += [
      ".SH ENVIRONMENT", ".TP", ".B PARLOR_RUNTIME", roff("The folder of control.sock, where --runtime does not say it."), ".SH FILES",
      ".TP",
      ".I " + roff(RunOptions.defaultConfiguration), "The configuration.", ".TP",
      ".I " + roff(ControlClient.defaultFolder + "/control.sock"),
      "What the verbs talk to.", ".SH EXAMPLES", ".EX", "ssh operator@box status", "ssh operator@box screenshot \\- > screen.png",
      "ssh operator@box config get > lobby.toml", "ssh operator@box config apply \\- < lobby.toml",
      "ssh operator@box update https://updates.example.org/parlor.raucb", ".EE", ".SH SEE ALSO",
      ".BR ssh (1), \\&", ".BR journalctl (1), \\&", ".BR systemd.time (7)",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Text as roff takes it: hyphens stay, and no line begins with what roff would take for an order.
  private static func roff(_ text: some StringProtocol) -> String {
    let escaped = text.map { $0 == "\\" ? "\\e" : $0 == "-" ? "\\-" : String($0) }.joined()
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }

  // MARK: Completion

  private static var completionText: String {
    func words(_ syntax: VerbSyntax) -> String { (syntax.options + [VerbSyntax.help]).map(\.name).joined(separator: " ") }
    /// What can stand for an operand or a value, where its name says it.
    func choices(_ name: String) -> [String] {
      name.split(separator: "|").map(String.init).filter { $0.allSatisfy { $0.isLowercase } }
    }
    var cases: [String] = []
    for syntax in VerbSyntax.all {
      let operands = syntax.operands.enumerated().map { index, name in
        let list = name == "VERB" ? VerbSyntax.all.map(\.name) : choices(name)
        return list.isEmpty ? nil : "      \(index)) words=\"\(list.joined(separator: " "))\" ;;"
      }
      cases.append("    \(syntax.name))\n      options=\"\(words(syntax))\"")
      let known = operands.compactMap { $0 }
      if !known.isEmpty { cases.append("      case $operand in\n" + known.joined(separator: "\n") + "\n      esac") }
      cases.append("      ;;")
    }
    var values: [String: [String]] = [:]
    for option in VerbSyntax.all.flatMap(\.options) { if let value = option.value { values[option.name] = choices(value) } }
    let taking = values.keys.sorted().joined(separator: "|")
    let listed = values.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
      "    \($0.key)) COMPREPLY=($(compgen -W \"\($0.value.joined(separator: " "))\" -- \"$current\")); return ;;"
    }
    return """
      # Completion of parlor for bash. Made by `parlor manual --form bash`; changes belong into Sources/parlor/VerbSyntax.swift.
      _parlor() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options="" words="" operand=0 index
        if ((COMP_CWORD == 1)); then
          COMPREPLY=($(compgen -W "\(VerbSyntax.all.map(\.name).joined(separator: " "))" -- "$current"))
          return
        fi
        case $previous in
      \(listed.joined(separator: "\n"))
          \(taking)) COMPREPLY=($(compgen -f -- "$current")); return ;;
        esac
        for ((index = 2; index < COMP_CWORD; index++)); do
          case ${COMP_WORDS[index]} in
            \(taking)) index=$((index + 1)) ;;
            -?*) ;;
            *) operand=$((operand + 1)) ;;
          esac
        done
        case ${COMP_WORDS[1]} in
      \(cases.joined(separator: "\n"))
        esac
        if [[ $current == -* ]]; then
          COMPREPLY=($(compgen -W "$options" -- "$current"))
        elif [[ -n $words ]]; then
          COMPREPLY=($(compgen -W "$words" -- "$current"))
        else
          COMPREPLY=($(compgen -f -- "$current"))
        fi
      }
      complete -F _parlor parlor

      """
  }
}
