import Testing

@testable import PageHost

@Suite struct HostOptionsTests {
  @Test func paths() throws {
    let options = try HostOptions.parse(["--runtime", "/run/parlor/", "--display", "wayland-3", "--log-level", "debug"])
    #expect(options.bridgePath == "/run/parlor/bridge.sock")
    #expect(options.displayPath == "/run/parlor/wayland-3")
    #expect(options.logLevel == .debug)
    #expect(try HostOptions.parse(["--runtime", "/a", "--display", "/b/c"]).displayPath == "/b/c")
  }

  @Test(arguments: [
    [], ["--runtime"], ["--runtime", "/a", "--runtime", "/b"], ["--other", "x"], ["--runtime", "/a", "--log-level", "loud"],
  ])
  func wrongUse(_ arguments: [String]) {
    #expect(throws: HostOptions.UsageError.self) { try HostOptions.parse(arguments) }
  }
}
