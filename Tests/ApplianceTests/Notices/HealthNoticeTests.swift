import FoundationEssentials
import Net
import Stage
import Testing

@testable import Appliance

@Suite struct HealthNoticeTests {
  private let now = Date(timeIntervalSince1970: 0)

  private func health(_ code: HealthCode, _ reason: String) -> Health {
    var health = Health(now: now)
    health.start(isProvisioned: true, now: now)
    health.raise(code, reason, now: now)
    return health
  }

  @Test func withoutANetworkEachInterfaceSaysWhatItLacks() throws {
    let interfaces = [
      NetworkInterface(name: "eth0", state: .withoutLink), NetworkInterface(name: "eth1", state: .withoutAddress),
      NetworkInterface(name: "wlan0", isWireless: true, state: .withoutLink), NetworkInterface(name: "wwan0", state: .off),
    ]
    let offline = health(.networkDown, "no interface has an address")
    let notice = try #require(offline.notice(name: "Lobby", language: .german, interfaces: { interfaces }))
    #expect(notice.kind == .waitingForNetwork && notice.title == "Kein Netzwerk")
    #expect(notice.rows.map(\.value) == ["Kabel nicht eingesteckt", "noch keine Adresse", "nicht verbunden", "ausgeschaltet"])
    #expect(offline.notice(name: "Lobby", language: .english)?.text == "No network interface was found.")
  }

  @Test func systemsReasonsAreIntroducedInTheLanguage() throws {
    let error = health(.pageTLS, "the certificate has expired")
    let notice = try #require(error.notice(name: "Lobby", language: .german, retry: 9))
    #expect(notice.title == "Server nicht vertrauenswürdig" && notice.countdown == 9)
    #expect(notice.text == "Systemmeldung: the certificate has expired" && notice.countdownLabel == "Nächster Versuch in")
    #expect(error.notice(name: "Lobby", language: .english)?.text == "the certificate has expired")
  }

  @Test func anIdleScreenInvitesToTouchItWhereThatStartsTheCall() {
    var health = Health(now: now)
    func invitation(_ start: Configuration.Call.Start?, isCallOpen: Bool = false, _ language: Language = .english) -> String? {
      health.invitation(start: start, isCallOpen: isCallOpen, language: language)
    }
    #expect(invitation(.touch) == nil, "the box is starting")
    health.start(isProvisioned: true, now: now)
    #expect(invitation(.touch) == "Touch to call" && invitation(.touch, .german) == "Zum Anrufen berühren")
    #expect(invitation(.touch, isCallOpen: true) == nil && invitation(nil) == nil)
    for start in Configuration.Call.Start.allCases where start != .touch { #expect(invitation(start) == nil) }
    health.setCall(.connecting, now: now)
    #expect(invitation(.touch) == nil)
    health.setCall(.connected, now: now)
    #expect(invitation(.touch) == nil)
    health.setCall(.idle, now: now)
    #expect(invitation(.touch) == "Touch to call")
    // What is said of the network stands there instead.
    health.raise(.networkDown, "no interface has an address", now: now)
    #expect(invitation(.touch) == nil)
  }

  @Test func interfacesAreLookedAtOnlyWithoutANetwork() {
    var looks = 0
    let interfaces = { () -> [NetworkInterface] in
      looks += 1
      return []
    }
    _ = health(.callLost, "gone").notice(name: "", language: .english, interfaces: interfaces)
    #expect(looks == 0)
  }

  /// The compiler sees to it that there is a text; this, that somebody wrote it in the right table.
  @Test func titlesOfAllCodesDifferBetweenTheLanguages() {
    let codes: [HealthCode] = [
      .configurationInvalid, .networkDown, .cameraAbsent, .microphoneBusy, .speakerFailed, .callUnauthorized, .callNotFound,
      .callUnreachable, .callTimeout, .callProtocol, .clockUnset, .pageDNS, .pageConnect, .pageTLS, .pageHTTP, .pageTimeout,
      .pageRedirects, .pageSize, .pageCrashed, .pageHung, .pageMemory, .pageHost, .pageFailed, HealthCode(rawValue: "other.new"),
    ]
    for code in codes { #expect(code.wording.text(in: .english) != code.wording.text(in: .german), "\(code)") }
  }
}
