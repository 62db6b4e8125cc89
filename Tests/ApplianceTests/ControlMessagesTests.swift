import Testing

@testable import Appliance

@Suite struct ControlMessagesTests {
  private func request(_ text: String) throws(VerbFailure) -> ControlRequest { try ControlRequest(line: Array(text.utf8)) }

  @Test func requestSurvivesItsLine() throws {
    let request = ControlRequest(
      verb: "call", arguments: ["action": "start", "count": 3, "list": [1.5, .null, true, ["a": "ä\n\u{2028}"]]])
    #expect(request.line.last == 10 && request.line.dropLast().allSatisfy { $0 != 10 })
    #expect(try ControlRequest(line: request.line.dropLast()) == request)
    #expect(try self.request("{\"verb\":\"status\"}") == ControlRequest(verb: "status"))
  }

  @Test(arguments: [
    ("", "not JSON"), ("{", "not JSON"), ("{\"verb\":\"a\"} x", "not JSON"), ("[]", "not a JSON object"), ("7", "not a JSON object"),
    ("{}", "no \"verb\""), ("{\"verb\":7}", "no \"verb\""), ("{\"verb\":\"a\",\"arguments\":[]}", "not a JSON object"),
    ("{\"verb\":\"a\",\"argument\":{}}", "unknown member \"argument\""), (String(repeating: "[", count: 60_000), "not JSON"),
    (String(repeating: " ", count: 70_000), "longer than"),
  ])
  func wrongRequestIsBadData(text: String, message: String) {
    do throws(VerbFailure) {
      _ = try request(text)
      Issue.record("accepted: \(text.prefix(40))")
    } catch {
      #expect(error.exitCode == .badData && error.description.contains(message), "\(error)")
    }
  }

  @Test func responseSurvivesItsLine() throws {
    for response in [
      ControlResponse.value(["a": [1, 2.5, .null]], more: false), .value("x", more: true), .value(.null, more: false),
      .failure(VerbFailure(.notPermitted, "no \"such\" right")),
    ] {
      #expect(try ControlResponse(line: response.line.dropLast()) == response)
    }
  }

  @Test(arguments: ["", "{}", "[]", "{\"ok\":1}", "\u{0}"])
  func wrongResponseIsAnError(text: String) {
    #expect(throws: VerbFailure.self) { try ControlResponse(line: Array(text.utf8)) }
  }

  @Test func unknownExitCodeIsAFaultOfParlors() throws {
    for exit in ["7", "1e300", "-1e300", "99999999999999999999", "null", "\"x\""] {
      let response = try ControlResponse(line: Array("{\"ok\":false,\"exit\":\(exit),\"error\":\"e\"}".utf8))
      #expect(response == .failure(VerbFailure(.internalError, "e")))
    }
  }
}
