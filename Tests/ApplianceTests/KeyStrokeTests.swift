import Testing

@testable import Appliance

@Suite struct KeyStrokeTests {
  @Test(
    arguments: [
      ("Enter", [28]), ("return", [28]), ("a", [30]), ("Z", [44]), ("0", [11]), ("F1", [59]), ("f10", [68]), ("F12", [88]),
      ("PageDown", [109]),
      ("Control+a", [29, 30]), ("ctrl+Shift+Tab", [29, 42, 15]), ("Alt+F4", [56, 62]),
    ] as [(String, [UInt32])])
  func keysGoDownAndComeUpInReverse(text: String, codes: [UInt32]) throws {
    let steps = try KeyStroke(text).steps
    #expect(steps.map(\.code) == codes + codes.reversed())
    #expect(steps.map(\.isPressed) == codes.map { _ in true } + codes.map { _ in false })
  }

  @Test(arguments: [
    ("Entr", "did you mean enter?"), ("", "is no key"), ("Contrl+a", "did you mean control?"), ("a+b", "accepted: alt"), ("+", "accepted"),
  ])
  func whatIsNoKeyIsExplained(text: String, message: String) {
    do throws(VerbFailure) {
      _ = try KeyStroke(text)
      Issue.record("accepted: \(text)")
    } catch {
      #expect(error.exitCode == .usage && error.description.contains(message), "\(error)")
    }
  }
}
