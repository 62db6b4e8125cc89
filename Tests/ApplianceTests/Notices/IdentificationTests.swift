import Base
import Net
import Testing

@testable import Appliance

@Suite struct IdentificationTests {
  private func identification(place: String? = "Ground floor", serial: String? = "0007", addresses: [String]) -> Identification {
    Identification(
      name: "Lobby \"A\"", place: place, serial: serial, version: "0.1.0",
      interfaces: [
        NetworkInterface(name: "eth0", state: .ready, addresses: addresses.compactMap { IPAddress($0) }),
        NetworkInterface(name: "wlan0", isWireless: true, state: .withoutLink),
      ])
  }

  @Test func screenSaysWhoTheBoxIs() {
    let notice = identification(addresses: ["2001:db8::1", "192.0.2.7"]).notice(in: .german)
    #expect(notice.title == "Lobby \"A\"" && notice.kind == .identify)
    #expect(
      notice.rows.map { "\($0.label)|\($0.value)" } == [
        "Ort|Ground floor", "Adresse|192.0.2.7 (eth0)", "|2001:db8::1 (eth0)", "Seriennummer|0007", "Version|0.1.0",
      ])
  }

  @Test func codeSaysTheSameAsJSON() throws {
    let code = try #require(identification(addresses: ["192.0.2.7"]).notice(in: .english).code)
    #expect(code == #"{"addresses":["192.0.2.7"],"name":"Lobby \"A\"","place":"Ground floor","serial":"0007","version":"0.1.0"}"#)
  }

  @Test func codeIsASCIIForScannersGuessTheRest() throws {
    let box = Identification(name: "Süd 😀", place: nil, serial: nil, version: "1", interfaces: [])
    #expect(box.code == #"{"addresses":[],"name":"S\u00fcd \ud83d\ude00","version":"1"}"#)
    #expect(JSON(text: Array(box.code.utf8))?["name"] == "Süd 😀")
  }

  @Test func whatIsNotKnownIsLeftOut() {
    let box = identification(place: nil, serial: "", addresses: [])
    #expect(box.notice(in: .english).rows.map { "\($0.label)|\($0.value)" } == ["Address|no address yet", "Version|0.1.0"])
    #expect(box.code == #"{"addresses":[],"name":"Lobby \"A\"","version":"0.1.0"}"#)
  }

  @Test func manyAddressesAreCutShort() {
    let box = identification(addresses: (1...9).map { "192.0.2.\($0)" })
    #expect(box.addresses.map(\.address) == ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"])
  }
}
