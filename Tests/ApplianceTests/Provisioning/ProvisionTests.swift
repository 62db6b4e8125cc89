import Foundation
import Testing

@testable import Appliance

/// A box whose `/` is a folder: what an integrator puts on the partition, and what becomes of it.
@Suite struct ProvisionTests {
  private final class TestBox {
    let folder: TemporaryFolder
    let machine = Machine(hardwareAddress: "02005e1000ab", timeZoneList: "/usr/share/zoneinfo/tzdata.zi")

    init() throws {
      folder = try TemporaryFolder()
      try FileManager.default.createDirectory(atPath: partition, withIntermediateDirectories: true)
    }

    var root: String { folder.path }
    var partition: String { root + "/run/parlor-provision/partition" }
    var store: ProvisioningStore { ProvisioningStore(folder: root + ProvisioningStore.defaultFolder) }

    func put(_ text: String, _ name: String = "parlor.toml") throws {
      try FileManager.default.createDirectory(
        atPath: ("\(partition)/\(name)" as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(partition)/\(name)"))
    }

    func shown(_ name: String = "parlor.toml") throws -> String { try String(contentsOfFile: "\(partition)/\(name)", encoding: .utf8) }
    func applied(_ name: String = "parlor.toml") throws -> String {
      try String(contentsOfFile: "\(store.folder)/current/\(name)", encoding: .utf8)
    }
    func system(_ path: String) throws -> String { try String(contentsOfFile: root + path, encoding: .utf8) }

    /// A start of the box.
    @discardableResult func start() throws -> ExitCode { try Provision(root: root, machine: machine).run(from: nil) }

    /// An operator brings files.
    @discardableResult func bring(_ files: [String: String]) throws -> ExitCode {
      let folder = try TemporaryFolder()
      for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)")) }
      return try Provision(root: root, machine: machine).run(from: folder.path)
    }

    /// A start with a USB stick in it.
    func plugIn(_ files: [String: String]) throws -> (step: Provisioner.Step?, stick: TemporaryFolder) {
      let stick = try TemporaryFolder()
      for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(stick.path)/\(name)")) }
      return (try Provision(root: root, machine: machine).take(fromStick: stick.path), stick)
    }
  }

  private static let wifi = """
    [call]
    url = "https://calls.example.org/room"
    [[grants]]
    origin = "https://calls.example.org"
    camera = true
    [network]
    country = "DE"
    [[network.wifi]]
    ssid = "Lobby"  # by the lift
    password = "pa$$ \\"word\\""

    """

  @Test func theFirstStartTakesThePartitionOver() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    #expect(try box.start() == .ok)
    #expect(try box.applied() == ProvisionTests.wifi)
    #expect(try box.shown("parlor-report.txt").contains("APPLIED: the box runs with these files.\r\n"))
    #expect(try box.system("/run/NetworkManager/system-connections/parlor-wifi-1.nmconnection").contains("psk=pa$$ \"word\"\n"))
    let outcome = try #require(box.store.outcome)
    #expect(outcome.result == .applied && outcome.source == .partition)
  }

  @Test func secretsLeaveThePartitionAndStayWhenTheRestIsEdited() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.put("0123456789abcdef-key\r\n", "provisioning.key")
    try box.start()
    #expect(try box.shown() == ProvisionTests.wifi.replacing(#""pa$$ \"word\"""#, with: "\"\(ConfigurationText.mark)\""))
    #expect(try box.shown("provisioning.key") == ConfigurationText.mark + "\r\n")
    // Somebody adds a second network in an editor on Windows.
    try box.put((try box.shown() + "[[network.wifi]]\nssid = \"Attic\"\npassword = \"another one\"\n").replacing("\n", with: "\r\n"))
    #expect(try box.start() == .ok)
    #expect(try box.system("/run/NetworkManager/system-connections/parlor-wifi-1.nmconnection").contains("psk=pa$$ \"word\"\n"))
    #expect(try box.system("/run/NetworkManager/system-connections/parlor-wifi-2.nmconnection").contains("psk=another one\n"))
    #expect(try !box.shown().contains("another one"))
    #expect(try box.applied("provisioning.key") == "0123456789abcdef-key\r\n")
  }

  @Test func aStartWithNothingNewChangesNothing() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.start()
    let (outcome, shown) = (box.store.outcome, try box.shown())
    try FileManager.default.removeItem(atPath: box.partition + "/parlor-report.txt")
    #expect(try box.start() == .ok)
    #expect(box.store.outcome == outcome)
    #expect(try box.shown() == shown)
    #expect(!FileManager.default.fileExists(atPath: box.partition + "/parlor-report.txt"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.store.folder + "/sets").count == 1)
  }

  @Test func aBrokenFileNeverReplacesAWorkingOne() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.start()
    let broken = try box.shown().replacing("[call]", with: "[call]\ncodec = \"VP9\"\ncolour = 1")
    try box.put(broken)
    #expect(try box.start() == .badConfiguration)
    #expect(try box.applied() == ProvisionTests.wifi)
    #expect(try box.shown() == broken)
    let report = try box.shown("parlor-report.txt")
    #expect(report.contains("NOT APPLIED: the box goes on with what it had before.\r\n"))
    #expect(report.contains("\r\nparlor.toml:2:9: call.codec: \"VP9\" is not accepted"))
    #expect(report.contains("parlor.toml:3:1: call.colour"))
    // The network goes on as well.
    #expect(try box.system("/run/NetworkManager/system-connections/parlor-wifi-1.nmconnection").contains("psk=pa$$"))
    // It is tried again, and said again, until it is put right.
    #expect(try box.start() == .badConfiguration)
    try box.put(broken.replacing("codec = \"VP9\"\ncolour = 1\n", with: "codec = \"VP8\"\n"))
    #expect(try box.start() == .ok)
    #expect(try box.applied().contains("codec = \"VP8\""))
  }

  @Test func aFirstBrokenFileLeavesTheBoxUnprovisioned() throws {
    let box = try TestBox()
    try box.put("[call\n")
    #expect(try box.start() == .badConfiguration)
    #expect(box.store.current == nil)
    #expect(try box.shown("parlor-report.txt").contains("NOT APPLIED: the box is not set up."))
    // Cables ask by DHCP all the same, so that somebody can look.
    #expect(try box.system("/run/NetworkManager/system-connections/parlor-ethernet-0.nmconnection").contains("method=auto"))
  }

  @Test(arguments: ["parlor.toml.txt", "Parlor.toml.TXT"]) func aNameThatAWindowsHidesIsExplained(name: String) throws {
    let box = try TestBox()
    try box.put("[call]\n", name)
    #expect(try box.start() == .badConfiguration)
    #expect(try box.shown("parlor-report.txt").contains("there is \(name) and no parlor.toml"))
  }

  @Test func aFileThatIsNamedAndNotThereIsMissed() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi + "[tls]\nca_files = [\"certificates/site.pem\"]\n")
    #expect(try box.start() == .badConfiguration)
    #expect(try box.shown("parlor-report.txt").contains("tls.ca_files[0]: the file certificates/site.pem is not there"))
    try box.put("PEM", "certificates/site.pem")
    #expect(try box.start() == .ok)
    #expect(try box.applied("certificates/site.pem") == "PEM")
  }

  @Test func grantsKeepTheTimeAtWhichTheyWereGiven() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.start()
    let first = box.store.grants
    #expect(first.count == 1 && first[0].camera && !first[0].microphone && first[0].source == .partition)
    #expect(try box.bring(["parlor.toml": ProvisionTests.wifi + "[identity]\nname = \"Lobby\"\n"]) == .ok)
    #expect(box.store.grants == first)
    try box.bring(["parlor.toml": ProvisionTests.wifi.replacing("camera = true", with: "camera = true\nmicrophone = true")])
    #expect(box.store.grants.first?.microphone == true && box.store.grants.first?.source == .folder)
  }

  @Test func whatAnOperatorBringsStaysAndIsShownOnThePartition() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.start()
    let new = ProvisionTests.wifi.replacing("room", with: "hall").replacing("pa$$", with: "word")
    #expect(try box.bring(["parlor.toml": new]) == .ok)
    #expect(try box.start() == .ok)
    #expect(try box.applied() == new)
    #expect(try box.shown().contains("/hall\"") && !box.shown().contains("word \\\"word"))
    #expect(try box.shown("parlor.toml.before").contains("/room\""))
  }

  @Test func anOperatorsBrokenFileIsForgottenWithTheNextStart() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.start()
    #expect(try box.bring(["parlor.toml": "[call]\n"]) == .badConfiguration)
    #expect(box.store.outcome?.result == .refused)
    try box.start()
    #expect(box.store.outcome == nil)
    #expect(try box.applied() == ProvisionTests.wifi)
  }

  @Test func aStickIsTakenByABoxThatNeverWasSetUp() throws {
    let box = try TestBox()
    let (step, stick) = try box.plugIn(["parlor.toml": ProvisionTests.wifi])
    #expect(step?.outcome?.result == .applied)
    // It goes on to the next box with all that it holds.
    #expect(try String(contentsOfFile: stick.path + "/parlor.toml", encoding: .utf8) == ProvisionTests.wifi)
    #expect(try String(contentsOfFile: stick.path + "/parlor-report-02005e1000ab.txt", encoding: .utf8).contains("APPLIED"))
  }

  @Test(arguments: [("0123456789abcdef", true), ("0123456789abcdeX", false), ("", false)])
  func aStickNeedsTheKeyOfABoxThatWasSetUp(key: String, isTaken: Bool) throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.put("0123456789abcdef\n", "provisioning.key")
    try box.start()
    let (step, _) = try box.plugIn(["parlor.toml": ProvisionTests.wifi.replacing("room", with: "hall"), "provisioning.key": key])
    #expect((step?.isChanged == true) == isTaken)
    #expect(try box.applied().contains("hall") == isTaken)
  }

  @Test func aBoxWithoutAKeyTakesNoStickOnceItIsSetUp() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.start()
    #expect(try box.plugIn(["parlor.toml": ProvisionTests.wifi.replacing("room", with: "hall"), "provisioning.key": ""]).step == nil)
  }

  /// A power cut in the middle of writing to the partition: the operator's files are in use, and of the files on the partition some are the former ones, some are missing or empty.
  @Test(arguments: [nil, "", "former"]) func whatWasInterruptedIsCompleted(left: String?) throws {
    let box = try TestBox()
    let text = "[call]\nurl = \"https://a.example.org\"\n[tls]\nca_files = [\"ca.pem\"]\n"
    try box.put(text)
    try box.put("former", "ca.pem")
    try box.start()
    let other = text.replacing("https://a.", with: "https://b.")
    try box.bring(["parlor.toml": other, "ca.pem": "new"])
    try box.store.setMirroring(true)
    try FileManager.default.removeItem(atPath: box.partition + "/ca.pem")
    if let left { try box.put(left, "ca.pem") }
    try box.put("half", "ca.pem" + StoredFile.draftEnding)
    // The box has not noted either what is there now.
    try StoredFile.link(box.store.folder + "/seen", to: "sets/former")
    try ConfigurationSet(files: ["parlor.toml": Array(text.utf8), "ca.pem": Array("former".utf8)]).write(
      to: box.store.folder + "/sets/former", group: nil)
    #expect(try box.start() == .ok)
    #expect(try box.applied() == other)
    #expect(try box.applied("ca.pem") == "new")
    #expect(try box.shown("ca.pem") == "new")
    #expect(!box.store.isMirroring)
    for folder in [box.partition, box.store.folder + "/current"] {
      #expect(try !FileManager.default.contentsOfDirectory(atPath: folder).contains { $0.hasSuffix(StoredFile.draftEnding) })
    }
  }

  @Test func whatTheFileSystemsCheckSalvagedIsNoFileOfTheSite() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.put("passphrase = \"of a former file\"", "FSCK0000.REC")
    #expect(try box.start() == .ok)
    #expect(try !FileManager.default.contentsOfDirectory(atPath: box.partition).contains("FSCK0000.REC"))
    #expect(box.store.current?.files.keys.contains("FSCK0000.REC") == false)
  }

  /// Between an operator's change of a secret and the partition's turn.
  @Test func theFormerFileOnThePartitionIsNotTakenForNews() throws {
    let box = try TestBox()
    try box.put("[call]\nwhip = \"https://a.example.org\"\ntoken = \"one\"\n")
    try box.start()
    let shown = try box.shown()
    let seen = try #require(box.store.seen)
    let other = "[call]\nwhip = \"https://b.example.org\"\ntoken = \"two\"\n"
    try box.bring(["parlor.toml": other])
    try box.put(shown)
    try box.store.see(seen)
    #expect(try box.start() == .ok)
    #expect(try box.applied() == other)
  }

  @Test func theRecordOfGrantsIsThatOfTheFilesInUse() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi)
    try box.start()
    let given = try #require(box.store.grants.first)
    // The power went after the record of a change had been written, and before its files were in use.
    var other = given
    other.origin = "https://other.example.org"
    try box.store.save(RecordedGrant.union([other], [given]))
    #expect(try box.start() == .ok)
    #expect(box.store.grants == [given])
  }

  @Test func marksOfAnotherBoxAreRefusedByLine() throws {
    let (box, other) = (try TestBox(), try TestBox())
    try box.put(ProvisionTests.wifi)
    try box.start()
    try other.put(try box.shown())
    #expect(try other.start() == .badConfiguration)
    #expect(try other.shown("parlor-report.txt").contains("parlor.toml:10:12: network.wifi[0].password: is not kept on the box"))
  }

  @Test func keysComeFromBothPlacesAndBadOnesAreNamed() throws {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    let box = try TestBox()
    try box.put(ProvisionTests.wifi + "[access]\nssh_keys = [\"\(key) anna\"]\n")
    try box.put("# ours\r\n\r\n\(key) berta\r\n", "authorized_keys")
    try box.start()
    #expect(try box.system("/run/parlor-provision/ssh/operator/authorized_keys") == "\(key) anna\n\(key) berta\n")
    try box.put("\(key)\nssh-ed25519 AAAA\n", "authorized_keys")
    #expect(try box.start() == .badConfiguration)
    #expect(try box.shown("parlor-report.txt").contains("authorized_keys: line 2: the key is cut off"))
    #expect(try box.system("/run/parlor-provision/ssh/operator/authorized_keys") == "\(key) anna\n\(key) berta\n")
  }

  @Test func limitsBecomePropertiesOfUnits() throws {
    let text = "[limits]\napp_memory_mb = 512\npage_memory_mb = 900\npage_cpu_percent = 150\n"
    let files = try SystemFiles(Configuration(Array(text.utf8), file: "/parlor.toml"), ConfigurationSet(files: [:]))
    #expect(files.properties == ["parlor.service": ["MemoryMax=512M"], "parlor-page.service": ["MemoryMax=900M", "CPUQuota=150%"]])
  }

  @Test func nothingOfAnOlderConfigurationIsLeft() throws {
    let box = try TestBox()
    try box.put(ProvisionTests.wifi + "[time]\nservers = [\"ntp.example.org\"]\nzone = \"Europe/Berlin\"\n")
    try box.start()
    #expect(try box.system(ConnectionKeeper.mark) == "wifi\n")
    #expect(try box.system("/run/systemd/timesyncd.conf.d/parlor.conf") == "[Time]\nNTP=ntp.example.org\n")
    let zone = box.root + "/run/parlor-provision/localtime"
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: zone) == "/usr/share/zoneinfo/Europe/Berlin")
    try box.bring(["parlor.toml": "[call]\nurl = \"https://calls.example.org/\"\n"])
    #expect(!FileManager.default.fileExists(atPath: box.root + ConnectionKeeper.mark))
    for path in [
      "/run/systemd/timesyncd.conf.d/parlor.conf", "/run/NetworkManager/system-connections/parlor-wifi-1.nmconnection",
    ] { #expect(!FileManager.default.fileExists(atPath: box.root + path), "\(path)") }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: zone) == "/usr/share/zoneinfo/UTC")
  }
}
