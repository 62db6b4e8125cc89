import Foundation
import Testing

@testable import Appliance

/// Why there is no network, as logs of real boxes say it.
@Suite struct ConnectionTests {
  private func troubles(_ lines: [String], wired: Set<String> = []) -> [String: ConnectionTrouble] {
    ConnectionLog(lines.map { $0[...] }, wired: wired).troubles
  }

  private let handshake = [
    "wlan0: Associated with 02:00:00:00:01:00", "device (wlan0): supplicant interface state: associated -> 4way_handshake",
    "wlan0: CTRL-EVENT-DISCONNECTED bssid=02:00:00:00:01:00 reason=15",
    "wlan0: WPA: 4-Way Handshake failed - pre-shared key may be incorrect",
    #"wlan0: CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid="Caf\xc3\xa9 \"9\" \xe6\x97\xa5\xe6\x9c\xac" auth_failures=1 duration=10 reason=WRONG_KEY"#,
    "device (wlan0): Activation: (wifi) disconnected during association, asking for new key",
    "device (wlan0): state change: config -> need-auth (reason 'supplicant-disconnect', sys-iface-state: 'managed')",
    "device (wlan0): no secrets: No agents were available for this request.",
    "device (wlan0): state change: need-auth -> failed (reason 'no-secrets', sys-iface-state: 'managed')",
  ].map { $0.hasPrefix("device") ? "<info>  [1796065250.8947] " + $0 : $0 }

  @Test func aWrongPasswordIsToldWithTheNetworksName() {
    #expect(troubles(handshake) == ["wlan0": ConnectionTrouble(.password, "\"Café \"9\" 日本\" does not take the password")])
  }

  @Test func whatWentWrongOnceIsOverWithTheNextConnection() {
    let joined = [
      "wlan0: CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id=0 id_str=]",
      "<info>  [1] device (wlan0): state change: secondaries -> activated (reason 'none', sys-iface-state: 'managed')",
    ]
    for line in joined { #expect(troubles(handshake + [line]).isEmpty) }
  }

  @Test func aLostPacketIsNoWrongPassword() {
    let lines = [
      "wlan0: CTRL-EVENT-DISCONNECTED bssid=02:00:00:00:01:00 reason=15",
      "<info>  [1] device (wlan0): state change: need-auth -> failed (reason 'no-secrets', sys-iface-state: 'managed')",
    ]
    #expect(troubles(lines)["wlan0"]?.cause == .failed)
  }

  @Test(arguments: [("ssid-not-found", ConnectionTrouble.Cause.notFound), ("ip-config-unavailable", .address), ("something-else", .failed)])
  func whatNetworkManagerSaysIsUnderstood(reason: String, cause: ConnectionTrouble.Cause) {
    let line = "<info>  [1] device (wlp2s0): state change: config -> failed (reason '\(reason)', sys-iface-state: 'managed')"
    #expect(troubles([line])["wlp2s0"]?.cause == cause)
  }

  @Test func aLoginIsToldFromAPasswordAndACableFromARadio() {
    let refusal = "enp1s0: CTRL-EVENT-EAP-FAILURE EAP authentication failed"
    #expect(troubles([refusal], wired: ["enp1s0"])["enp1s0"]?.cause == .cableLogin)
    #expect(troubles([refusal])["enp1s0"]?.cause == .login)
    let distrust =
      "wlan0: CTRL-EVENT-EAP-TLS-CERT-ERROR reason=1 depth=1 subject='/CN=Some CA' err='self-signed certificate in certificate chain'"
    let trouble = troubles([distrust, "wlan0: CTRL-EVENT-EAP-FAILURE EAP authentication failed"])["wlan0"]
    #expect(trouble?.cause == .login && trouble?.reason.contains("self-signed certificate in certificate chain") == true)
  }

  // MARK: Firmware

  private let kernel = """
    iwlwifi 0000:02:00.0: enabling device (0000 -> 0002)
    i915 0000:00:02.0: firmware: failed to load i915/adlp_dmc_ver2_16.bin (-2)
    iwlwifi 0000:02:00.0: firmware: failed to load iwlwifi-ty-a0-gf-a0-72.ucode (-2)
    iwlwifi 0000:02:00.0: firmware: failed to load iwlwifi-ty-a0-gf-a0-71.ucode (-2)
    bluetooth hci0: firmware: failed to load intel/ibt-0041-0041.sfi (-2)
    firmware_class: See https://wiki.debian.org/Firmware for information about missing firmware
    usb 1-4: Direct firmware load for ath9k_htc/htc_9271-1.dev.0.fw failed with error -2
    mt76x2u 2-1:1.0: Direct firmware load for mediatek/mt7662.bin failed with error -2
    r8169 0000:01:00.0: firmware: failed to load rtl_nic/rtl8168h-2.fw (-2)
    """

  @Test func missingFirmwareOfRadiosIsFound() {
    #expect(
      MissingFirmware.find(inLog: kernel.split(separator: "\n"), working: []) == [
        MissingFirmware(device: "0000:02:00.0", file: "iwlwifi-ty-a0-gf-a0-72.ucode"),
        MissingFirmware(device: "1-4", file: "ath9k_htc/htc_9271-1.dev.0.fw"), MissingFirmware(device: "2-1", file: "mediatek/mt7662.bin"),
      ])
  }

  @Test func anOlderVersionThatWasFoundIsGoodEnough() {
    let working = [
      "../../devices/pci0000:00/0000:00:1c.0/0000:02:00.0/ieee80211/phy0",
      "../../devices/pci0000:00/0000:00:14.0/usb1/1-4/1-4:1.0/ieee80211/phy1",
    ]
    #expect(MissingFirmware.find(inLog: kernel.split(separator: "\n"), working: working).map(\.device) == ["2-1"])
  }

  // MARK: All of it

  private func troubles(_ devices: String, wantsWiFi: Bool = true, log: String = "", kernelLog: String = "") -> [ConnectionTrouble] {
    ConnectionKeeper.troubles(
      of: ConnectionKeeper.devices(devices), wantsWiFi: wantsWiFi, radios: [], log: { () -> String in log },
      kernelLog: { () -> String in kernelLog })
  }

  @Test func missingFirmwareDoesNotLookLikeAWrongPassword() {
    let found = troubles("enp1s0:ethernet:unavailable\nlo:loopback:connected (externally)\n", kernelLog: kernel)
    #expect(found.map(\.cause) == [.firmware, .firmware, .firmware])
    #expect(found.first?.reason == "the Wi-Fi device 0000:02:00.0 does not work: its firmware iwlwifi-ty-a0-gf-a0-72.ucode is not there")
    #expect(troubles("enp1s0:ethernet:connected\n").map(\.cause) == [.device])
    #expect(troubles("enp1s0:ethernet:connected\n", wantsWiFi: false).isEmpty)
  }

  @Test func aRadioWithANetworkLacksNothing() {
    let log = handshake.joined(separator: "\n")
    #expect(troubles("wlan0:wifi:connected\nwlan1:wifi:disconnected\n", log: log).isEmpty)
    #expect(troubles("wlan0:wifi:disconnected\np2p-dev-wlan0:wifi-p2p:disconnected\n", log: log).map(\.cause) == [.password])
    #expect(troubles("wlan0:wifi:disconnected\n").map(\.cause) == [.notFound])
    #expect(troubles("wlan0:wifi:unavailable\n").map(\.cause) == [.failed])
    #expect(troubles("wlan0:wifi:connecting (configuring)\n").isEmpty)
  }

  // MARK: What people read

  @Test func theCauseIsShownInsteadOfNoNetwork() throws {
    let now = Date(timeIntervalSince1970: 0)
    var health = Health(now: now)
    health.start(isProvisioned: true, now: now)
    let trouble = ConnectionTrouble(.password, "wlan0: \"Lobby\" does not take the password")
    health.setConnections([trouble], now: now)
    // The cable is enough for calls.
    #expect(health.state == .ready && health.code?.rawValue == "wifi.password")
    health.raise(.networkDown, "no interface has an address", now: now)
    #expect(health.state == .offline && health.code?.rawValue == "wifi.password" && health.reason == trouble.reason)
    let notice = try #require(health.notice(name: "Lobby", language: .english))
    #expect(notice.title == "The Wi-Fi password is wrong" && notice.text.contains(trouble.reason))
    health.setConnections([], now: now)
    #expect(health.codes == [.networkDown] && health.notice(name: "Lobby", language: .english)?.title == "No network")
  }

  @Test func whatIsNotedIsRead() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/connections.json"
    #expect(ConnectionTrouble.load(from: path).isEmpty)
    let troubles = [ConnectionTrouble(.firmware, "the Wi-Fi device 1-4 does not work")]
    try ConnectionTrouble.save(troubles, to: path)
    #expect(ConnectionTrouble.load(from: path) == troubles)
    try ConnectionTrouble.save([], to: path)
    #expect(ConnectionTrouble.load(from: path).isEmpty)
  }
}
