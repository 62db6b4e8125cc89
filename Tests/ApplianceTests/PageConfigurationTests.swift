import Foundation
import Testing

@testable import Appliance

@Suite struct PageConfigurationTests {
  private func load(_ text: String, machine: Machine = Machine(hardwareAddress: "02005e1000ab")) throws(ConfigurationError) -> Configuration
  {
    try Configuration(Array(text.utf8), file: "/etc/parlor/parlor.toml", machine: machine)
  }

  private func messages(_ text: String, machine: Machine = Machine()) -> [String] {
    var problems: [ConfigurationProblem] = []
    do throws(ConfigurationError) { problems = try load(text, machine: machine).warnings } catch { problems = error.problems }
    return problems.map { $0.description.replacing("/etc/parlor/parlor.toml:", with: "") }
  }

  @Test func everythingOfAPageCallIsRead() throws {
    let pin = "sha256/" + String(repeating: "A", count: 43) + "="
    let configuration = try load(
      """
      [call]
      url = "https://calls.example.org/room?box=${serial}&mac=${mac}&name=${name}"
      allowed_origins = ["https://Login.example.org:443", "https://help.example.org:8443"]
      load_deadline = 7.5
      reload_at = "03:30"
      [identity]
      name = "Lobby desk"
      serial = "7"
      [page]
      user_agent = "Kiosk/1.0"
      memory_limit_mb = 512
      dialog_timeout = 12
      [tls]
      ca_files = ["site.pem"]
      client_certificate = "box.pem"
      client_key = "/keys/box.key"
      pins = ["\(pin)"]
      [access]
      remote_input = true
      """)
    let call = try #require(configuration.call)
    #expect(call.target == .page(url: "https://calls.example.org/room?box=7&mac=02005e1000ab&name=Lobby%20desk"))
    #expect(call.allowedOrigins.map(\.description) == ["https://login.example.org", "https://help.example.org:8443"])
    #expect(call.loadDeadline == 7.5 && call.reloadAt == DailyTime("03:30"))
    #expect(configuration.page.userAgent == "Kiosk/1.0" && configuration.page.memoryLimit == 512)
    #expect(configuration.page.dialogTimeout == 12)
    #expect(configuration.tls.clientCertificate == "/etc/parlor/box.pem" && configuration.tls.clientKey == "/keys/box.key")
    #expect(configuration.tls.pins == [pin] && configuration.access.allowsRemoteInput)
    #expect(configuration.warnings.isEmpty)
  }

  @Test(arguments: [
    ("allowed_origins = [\"https://a.example\", \"b.example\"]", "3:41: call.allowed_origins[1]: \"b.example\" is no origin"),
    ("allowed_origins = [\"https://a.example/path\"]", "3:20: call.allowed_origins[0]: \"https://a.example/path\" is no origin"),
    ("allowed_origins = \"https://a.example\"", "3:19: call.allowed_origins: expected a list of texts, found a text"),
    ("load_deadline = 0.5", "3:17: call.load_deadline: 0.5 is out of range; accepted: 1.0 to 300.0"),
    ("reload_at = \"24:00\"", "3:13: call.reload_at: \"24:00\" is not accepted; accepted: HH:MM, from 00:00 to 23:59"),
    ("reload_at = 03:30:00", "3:13: call.reload_at: expected a text in quotes, found a date or time"),
    ("allowed_origin = []", "3:1: call.allowed_origin: unknown key; did you mean allowed_origins?"),
    ("[page]\nmemory_limit_mb = 10", "4:19: page.memory_limit_mb: 10 is out of range; accepted: 256 to 65536"),
    ("[page]\ndialog_timeout = 0", "4:18: page.dialog_timeout: 0.0 is out of range; accepted: 1.0 to 3600.0"),
    ("[page]\nuseragent = \"x\"", "4:1: page.useragent: unknown key; did you mean user_agent?"),
    ("[page]\nuser_agent = \"a\\r\\nb\"", "4:14: page.user_agent: contains a control character"),
    ("[tls]\nclient_key = \"k\"", "4:14: tls.client_key: needs client_certificate beside it"),
    ("[tls]\nclient_certificate = \"c\"", "4:22: tls.client_certificate: needs client_key beside it"),
    ("[tls]\npins = [\"sha256/AAAA\"]", "4:9: tls.pins[0]: \"sha256/AAAA\" is no pin; accepted: sha256/ and"),
  ])
  func wrongValueIsPlacedAndExplained(line: String, message: String) throws {
    let messages = messages("[call]\nurl = \"https://calls.example.org/\"\n\(line)\n")
    #expect(messages.count == 1 && messages[0].hasPrefix(message), "\(messages)")
  }

  @Test func keysOfTheOtherKindOfCallAreSaidToHaveNoEffect() {
    #expect(
      messages("[call]\nurl = \"https://a\"\ntoken = \"t\"\nrelay_only = true\ncodec = \"VP8\"\nconnect_timeout = 5\n") == [
        "3:9: warning: call.token: has no effect on a page call", "4:14: warning: call.relay_only: has no effect on a page call",
        "5:9: warning: call.codec: has no effect on a page call", "6:19: warning: call.connect_timeout: has no effect on a page call",
      ])
    #expect(
      messages("[call]\nwhip = \"https://a\"\nallowed_origins = []\nload_deadline = 3\nreload_at = \"01:00\"\n") == [
        "3:19: warning: call.allowed_origins: has no effect on a direct call",
        "4:17: warning: call.load_deadline: has no effect on a direct call",
        "5:13: warning: call.reload_at: has no effect on a direct call",
      ])
  }

  @Test func grantsThatNobodyCanUseAreWarnedOf() {
    let grants = "[[grants]]\norigin = \"https://a\"\n[[grants]]\norigin = \"https://b:444\"\n"
    #expect(
      messages("[call]\nurl = \"https://A:443/x\"\n" + grants) == [
        "6:10: warning: grants[1].origin: is neither the origin of call.url nor one of call.allowed_origins: no page of it is shown"
      ])
    #expect(messages("[call]\nurl = \"https://a/x\"\nallowed_origins = [\"https://b:444\"]\n" + grants) == [])
    #expect(
      messages("[call]\nwhip = \"https://a/x\"\n" + grants).map { $0.hasSuffix("has no effect on a direct call, which needs no grant") }
        == [
          true, true,
        ])
  }

  @Test func openHTTPIsWarnedOf() {
    let messages = messages(
      "[call]\nurl = \"http://calls.example.org/\"\nallowed_origins = [\"http://a.example\", \"http://localhost:1\"]\n")
    #expect(
      messages.count == 2 && messages[0].hasPrefix("2:7: warning: call.url") && messages[1].contains("of http://a.example; use https"))
  }

  @Test func machineWithoutInterfaceHasNoHardwareAddress() {
    #expect(
      messages("[call]\nurl = \"https://a/${mac}\"\n") == ["2:7: call.url: uses ${mac}, and this machine has no network interface"])
    #expect(
      messages("[call]\nurl = \"https://a/${macs}\"\n") == ["2:7: call.url: uses an unknown name; accepted: ${serial}, ${mac}, ${name}"])
  }

  @Test func firstRealInterfaceNamesTheMachine() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "parlor-interfaces-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, address, isReal) in [
      ("br0", "02:00:00:00:00:01\n", false), ("enp3s0", "AA:bb:cc:00:11:22\n", true), ("lo", "00:00:00:00:00:00\n", false),
      ("wlp2s0", "02:00:00:00:00:03\n", true),
    ] {
      let place = folder.appending(path: isReal ? "\(name)/device" : name)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Data(address.utf8).write(to: folder.appending(path: "\(name)/address"))
    }
    #expect(Machine(interfaces: folder.path).hardwareAddress == "aabbcc001122")
    #expect(Machine(interfaces: folder.path + "/none").hardwareAddress == nil)
  }

  @Test(arguments: [("00:00", 0), ("03:30", 210), ("23:59", 1_439)])
  func dailyTimeIsReadAndWritten(text: String, minutes: Int) {
    #expect(DailyTime(text)?.minutes == minutes && DailyTime(text)?.description == text)
  }

  @Test(arguments: ["", "3:30", "24:00", "12:60", "12-30", "+1:30", "12:3a", "012:30", "１2:30"])
  func whatIsNoTimeOfDayIsRefused(text: String) { #expect(DailyTime(text) == nil) }
}
