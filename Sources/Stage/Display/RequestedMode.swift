/// A mode as the configuration names it: `1920x1080` or `1920x1080@60`.
public struct RequestedMode: Sendable, Hashable, CustomStringConvertible {
  /// Pixels from left to right, 16 to 8,192.
  public var width: Int
  /// Pixels from top to bottom, 16 to 8,192.
  public var height: Int
  /// Refreshes a second, 1 to 500; nil: what the monitor prefers at this size, else about 60.
  public var rate: Double?

  /// A mode; `rate` is in refreshes a second.
  public init(width: Int, height: Int, rate: Double? = nil) { (self.width, self.height, self.rate) = (width, height, rate) }

  /// Reads `1920x1080` or `1920x1080@60`; nil when it is neither or no screen could have it.
  public init?(_ text: String) {
    let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let sides = halves[0].split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, let width = Int(sides[0]), let height = Int(sides[1]), (16...8_192).contains(width),
      (16...8_192).contains(height)
    else { return nil }
    self.init(width: width, height: height)
    guard halves.count == 2 else { return }
    guard let rate = Double(halves[1]), (1...500).contains(rate) else { return nil }
    self.rate = rate
  }

  /// As the configuration writes it.
  public var description: String { "\(width)x\(height)" + (rate.map { "@" + RequestedMode.text(of: $0) } ?? "") }

  /// Refreshes a second with at most two decimals.
  static func text(of rate: Double) -> String {
    let hundredths = Int((rate * 100).rounded())
    guard hundredths % 100 != 0 else { return "\(hundredths / 100)" }
    let decimals = hundredths % 10 == 0 ? "\(hundredths % 100 / 10)" : String(hundredths % 100 + 100).dropFirst().description
    return "\(hundredths / 100).\(decimals)"
  }
}
