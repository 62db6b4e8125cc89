import Testing

@testable import Appliance

@Suite struct NearestNameTests {
  @Test(arguments: [
    ("staus", "status"), ("statsu", "status"), ("STATS", "stats"), ("screen-shot", "screenshot"), ("cal", "call"), ("hlep", "help"),
  ])
  func typingErrorIsUnderstood(name: String, meant: String) {
    #expect(NearestName.find(name, among: ["status", "stats", "screenshot", "call", "help"]) == meant)
  }

  @Test func somethingElseIsNot() {
    #expect(NearestName.find("frobnicate", among: ["status", "stats", "call"]) == nil)
    #expect(NearestName.find("", among: ["status"]) == nil)
    #expect(NearestName.find(String(repeating: "x", count: 100_000), among: ["status"]) == nil)
  }
}
