/// What a self-test found of one part of the box.
public struct CheckItem: Codable, Sendable, Equatable {
  /// How it stands.
  public enum Verdict: String, Codable, Sendable {
    /// It works.
    case ok
    /// It does not work, or not well enough for a call.
    case failed
    /// There was nothing to test.
    case skipped
  }

  /// The part: `camera[0]`, `microphone`, `speaker`, `echo`, `screen`, `network`, `server`, `clock`.
  public var name: String
  /// What it is called; nil: there is only one.
  public var device: String?
  public var verdict: Verdict
  /// What was found, and what to do about it.
  public var text: String
  /// What was measured, the unit in the name.
  public var figures: [String: Double]

  /// A finding.
  public init(_ name: String, device: String? = nil, _ verdict: Verdict, _ text: String, figures: [String: Double] = [:]) {
    (self.name, self.device, self.verdict, self.text) = (name, device, verdict, text)
    self.figures = figures.mapValues { ($0 * 10).rounded() / 10 }
  }

  /// A line for a person.
  public var line: String {
    func padded(_ text: String, to width: Int) -> String { text + String(repeating: " ", count: max(1, width - text.count)) }
    return padded(verdict.rawValue, to: 9) + padded(name, to: 12) + (device.map { "\($0): " } ?? "") + text
  }
}
