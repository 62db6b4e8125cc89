import Net
import Stage

extension Health {
  /// What the screen should say; nil when the picture speaks for itself. `interfaces` are looked at when there is no network; `retry` is in
  /// seconds from now.
  public func notice(name: String, language: Language, interfaces: () -> [NetworkInterface] = { [] }, retry: Int? = nil) -> Notice? {
    func text(_ wording: Wording) -> String { wording.text(in: language) }
    switch state {
    case .starting: return Notice(kind: .starting, title: text(.starting), text: name)
    case .unprovisioned:
      let refusal = code == .provisioningRefused ? reason : nil
      return Notice(
        kind: .information, title: text(.notSetUp), text: refusal.map { "\(text(.settingsRefused))\n\($0)" } ?? text(.nobodyToCall))
    case .loading: return Notice(kind: .connecting, title: text(.connecting), text: name)
    case .offline:
      let rows = Health.rows(interfaces(), language)
      let cause = code.flatMap { code in code.connection.map { _ in text(code.wording) } }
      let reason = cause == nil ? nil : reason.map { text(.systemReason($0)) }
      let outlook = text(rows.isEmpty && cause == nil ? .noInterface : .goesOnByItself)
      return Notice(
        kind: .waitingForNetwork, title: cause ?? text(.noNetwork), text: [reason, outlook].compactMap { $0 }.joined(separator: "\n"),
        rows: rows)
    case .error:
      guard let code else { return nil }
      let reason = reason.flatMap { $0.isEmpty ? nil : text(.systemReason($0)) }
      return Notice(
        kind: .error(code: code.rawValue), title: text(code.wording), text: reason ?? "", countdown: retry,
        countdownLabel: text(.tryingAgain))
    case .ready, .inCall: return nil
    }
  }

  /// What a call lacks, at the screen's edge; empty while there are worse things to say, or nothing.
  public func cautions(language: Language) -> [String] {
    guard [.ready, .loading, .inCall].contains(state) else { return [] }
    return codes.compactMap { $0.caution?.text(in: language) }
  }

  /// What an idle screen says to have people start a call; nil: nothing. `start` is what the configuration says; a page may be open without a call.
  public func invitation(start: Configuration.Call.Start?, isCallOpen: Bool, language: Language) -> String? {
    guard start == .touch, state == .ready, !isCallOpen else { return nil }
    return Wording.touchToCall.text(in: language)
  }

  /// More interfaces than this, and more addresses of each, do not help.
  private static func rows(_ interfaces: [NetworkInterface], _ language: Language) -> [Notice.Row] {
    interfaces.prefix(4).map { interface in
      let value: String =
        switch interface.state {
        case .off: Wording.switchedOff.text(in: language)
        case .withoutLink: (interface.isWireless ? Wording.noRadioNetwork : .cableUnplugged).text(in: language)
        case .withoutAddress: Wording.noAddress.text(in: language)
        case .ready: interface.addresses.prefix(2).map { "\($0)" }.joined(separator: ", ")
        }
      return Notice.Row(interface.name, value)
    }
  }
}
