import FoundationEssentials

/// What the machine itself says of who it is, for `${mac}` in a call's URL.
public struct Machine: Sendable, Equatable {
  /// The hardware address of the first wired or wireless interface, as twelve lower-case hexadecimal digits; nil when there is none.
  public var hardwareAddress: String?

  /// A machine with this hardware address.
  public init(hardwareAddress: String? = nil) { self.hardwareAddress = hardwareAddress }

  /// The machine that this runs on.
  public static var current: Machine { Machine(interfaces: "/sys/class/net") }

  /// The machine whose interfaces are the folders in `folder`, as Linux's sysfs has them. Those with a device behind them come before bridges and tunnels, and in each of
  /// the two groups the names decide.
  init(interfaces folder: String) {
    func address(_ name: String) -> String? {
      guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)/address") else { return nil }
      let digits = String(decoding: data, as: UTF8.self).lowercased().filter(\.isHexDigit)
      return digits.count == 12 && digits != "000000000000" ? digits : nil
    }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    let isReal: (String) -> Bool = { FileManager.default.fileExists(atPath: "\(folder)/\($0)/device") }
    hardwareAddress = (names.filter(isReal) + names.filter { !isReal($0) }).lazy.compactMap(address).first
  }
}
