import FoundationEssentials

/// Why an interface that ought to have a network has none, as far as the system's logs say.
public struct ConnectionTrouble: Sendable, Equatable, Codable {
  /// The kinds of reasons. The names are stable: those of health codes.
  public enum Cause: String, Sendable, Codable, CaseIterable {
    /// The driver finds no firmware for the device.
    case firmware = "wifi.firmware"
    /// There is no Wi-Fi device.
    case device = "wifi.device"
    /// No network of the configuration is in reach.
    case notFound = "wifi.not-found"
    /// The network does not take the password.
    case password = "wifi.password"
    /// The network's server does not let the box in (802.1X), or the box does not trust it.
    case login = "wifi.login"
    /// The network is joined and gives no address.
    case address = "wifi.address"
    /// It came to nothing for another reason.
    case failed = "wifi.failed"
    /// The cable's network does not let the box in (802.1X).
    case cableLogin = "cable.login"
  }

  /// The kind of reason.
  public var cause: Cause
  /// What is known, for a person.
  public var reason: String

  /// A reason.
  public init(_ cause: Cause, _ reason: String) { (self.cause, self.reason) = (cause, reason) }

  /// Where root's program notes them for the box.
  static let file = SystemFiles.folder + "/connections.json"

  /// What was noted last; empty: nothing is wrong, or nobody looks.
  static func load(from path: String = file) -> [ConnectionTrouble] {
    guard let data = FileManager.default.contents(atPath: path) else { return [] }
    return (try? JSONDecoder().decode([ConnectionTrouble].self, from: data)) ?? []
  }

  /// Notes `troubles`, unless that is what the file says.
  static func save(_ troubles: [ConnectionTrouble], to path: String = file) throws(StoredFile.Failure) {
    guard let bytes = try? JSON.text(troubles, isPretty: true) + [10] else { preconditionFailure("plain values can be written as JSON") }
    if FileManager.default.contents(atPath: path).map(Array.init) == bytes { return }
    try StoredFile.write(bytes, to: path, mode: 0o644)
  }
}
