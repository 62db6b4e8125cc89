import FoundationEssentials

/// How loud the box is; kept from one start to the next.
public struct Volume: Sendable, Equatable, Codable {
  /// 0 to 100, in steps that sound alike.
  public private(set) var percent: Int
  /// Whether nothing is heard, whatever the percentage.
  public private(set) var isMuted: Bool

  enum CodingKeys: String, CodingKey {
    case percent
    case isMuted = "muted"
  }

  /// A volume; `percent` outside 0 to 100 becomes the nearer end.
  public init(percent: Int = 100, isMuted: Bool = false) { (self.percent, self.isMuted) = (min(max(percent, 0), 100), isMuted) }

  /// Another volume, from the outside.
  public enum Change: Sendable, Equatable {
    /// So much, and not muted.
    case set(Int)
    /// So much more, or less when negative, and not muted.
    case raise(Int)
    /// Muted, or not any more.
    case toggleMute

    /// Reads `N`, `+N`, `-N` (0 to 100) or `mute`; nil for anything else.
    public init?(_ text: String) {
      if text == "mute" {
        self = .toggleMute
        return
      }
      let sign = text.first.flatMap { $0 == "+" || $0 == "-" ? $0 : nil }
      let digits = sign == nil ? text[...] : text.dropFirst()
      guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits), number <= 100
      else { return nil }
      self = sign == nil ? .set(number) : .raise(sign == "-" ? -number : number)
    }

    /// What `init` reads.
    public static let accepted = "N, +N, -N (N from 0 to 100), mute"
  }

  /// Changes the volume.
  public mutating func apply(_ change: Change) {
    switch change {
    case .set(let value): self = Volume(percent: value)
    case .raise(let value): self = Volume(percent: percent + value)
    case .toggleMute: isMuted.toggle()
    }
  }

  /// The factor that sound is multiplied with: 0 to 1. Its cube root is even to the ear, near enough.
  public var gain: Double {
    let share = Double(percent) / 100
    return isMuted ? 0 : share * share * share
  }

  /// Such as `70 %`, or `70 %, muted`.
  public var text: String { "\(percent) %" + (isMuted ? ", muted" : "") }

  /// Reads what `save` wrote; nil when there is nothing, or nothing of use.
  public static func load(from file: String) -> Volume? {
    guard let data = FileManager.default.contents(atPath: file), let saved = try? JSONDecoder().decode(Volume.self, from: data) else {
      return nil
    }
    return Volume(percent: saved.percent, isMuted: saved.isMuted)
  }

  /// Writes a file for the next start, whole or not at all.
  func save(to file: String) throws { try StoredFile.write(JSON.text(self), to: file, mode: 0o600) }
}
