import FoundationEssentials

/// What the machine itself says of who it is, for `${mac}` in a call's URL.
public struct Machine: Sendable, Equatable {
  /// The hardware address of the first wired or wireless interface, as twelve lower-case hexadecimal digits; nil when there is none.
  public var hardwareAddress: String?

  /// The path of the tz database's list of zones (`tzdata.zi`); nil: whichever name is taken for a time zone.
  public var timeZoneList: String?

  /// A machine with this hardware address and this list of time zones.
  public init(hardwareAddress: String? = nil, timeZoneList: String? = nil) {
    (self.hardwareAddress, self.timeZoneList) = (hardwareAddress, timeZoneList)
  }

  /// The machine that this runs on.
  public static var current: Machine {
    var machine = Machine(interfaces: "/sys/class/net")
    machine.timeZoneList = "/usr/share/zoneinfo/tzdata.zi"
    return machine
  }

  /// The names of the time zones that it knows; nil without a list.
  var timeZones: Set<String>? {
    guard let timeZoneList, let data = FileManager.default.contents(atPath: timeZoneList) else { return nil }
    var names: Set = ["UTC"]
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count >= 2, words[0] == "Z" { names.insert(String(words[1])) }
      if words.count == 3, words[0] == "L" { names.insert(String(words[2])) }
    }
    return names
  }

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
