import Testing

@testable import Appliance

@Suite struct UpdateTests {
  @Test func versionsAreInTheirOrder() {
    let order = ["0.1.0", "0.1.0-3-gabc", "0.1.1", "0.2", "0.9.9", "0.10.0", "1", "1.0", "1.0.1", "2"].map { ReleaseVersion($0) }
    for (a, b) in zip(order, order.dropFirst()) { #expect(a < b && !(b < a), "\(a) \(b)") }
    #expect(!(ReleaseVersion("1.0") < ReleaseVersion("1.0")) && ReleaseVersion("1.0") == ReleaseVersion("1-0"))
  }

  @Test func stepsOfTheInstallerAreRead() {
    #expect(UpdateInstaller.step("  0% Installing")?.percent == 0)
    #expect(UpdateInstaller.step(" 40% Checking bundle done.")?.what == "Checking bundle done.")
    for line in ["", "idle", "101% x", "LastError: Signature 40%", "-1% x"] { #expect(UpdateInstaller.step(line) == nil) }
  }

  @Test func logsAreThoseOfTheBox() {
    var query = LogQuery()
    #expect(
      query.arguments.contains("--lines=200") && query.arguments.contains("--output=short-iso") && !query.arguments.contains("--follow"))
    #expect(query.arguments.suffix(3) == ["UNIT=rauc.service", "+", "SYSLOG_IDENTIFIER=parlor"])
    (query.isFollowing, query.since, query.isJSON) = (true, "-1h --output=cat", true)
    #expect(
      query.arguments.contains("--since=-1h --output=cat") && query.arguments.contains("--output=json")
        && query.arguments.contains("--follow"))
    #expect(!query.arguments.contains { $0.hasPrefix("--lines") })
    query.lines = 5
    #expect(query.arguments.contains("--lines=5"))
  }
}
