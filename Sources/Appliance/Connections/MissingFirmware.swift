/// A Wi-Fi device that cannot work, since its driver found no firmware: told apart from a wrong password by the kernel's log.
struct MissingFirmware: Sendable, Equatable {
  /// The device as the kernel calls it, such as `0000:02:00.0` or `1-4`.
  var device: String
  /// What the driver asked for first, which is the newest that it can use.
  var file: String

  /// What a person can do with.
  var reason: String { "the Wi-Fi device \(device) does not work: its firmware \(file) is not there" }

  /// Beginnings of the names of Wi-Fi firmware (`WHENCE` of linux-firmware): that of Bluetooth and graphics keeps no box off its network.
  private static let families = [
    "ar5523", "ath10k/", "ath11k/", "ath12k/", "ath6k/", "ath9k_htc/", "ar9271", "ar7010", "htc_", "brcm/brcmfmac", "brcm/bcm43xx",
    "carl9170",
    "cypress/cyfmac", "ipw2", "iwlwifi-", "libertas/", "lbtf_", "mediatek/WIFI", "mediatek/mt7", "mrvl/", "mt76", "orinoco", "rsi/", "rsi_",
    "rt2561", "rt2661", "rt2860", "rt2870", "rt3071", "rt3290", "rt73", "rtl8192", "rtlwifi/", "rtw88/", "rtw89/", "ti-connectivity/",
    "wil6210",
    "zd1211/",
  ]

  /// The devices of which a kernel's log, oldest line first, says that firmware is missing, and which have not come to work in another way. `working` are the
  /// kernel's paths of the devices that are a radio.
  static func find(inLog lines: some Sequence<Substring>, working: [String]) -> [MissingFirmware] {
    var found: [MissingFirmware] = []
    for line in lines {
      guard let missing = MissingFirmware(line) else { continue }
      if !found.contains(where: { $0.device == missing.device }) { found.append(missing) }
    }
    // Drivers ask for one version after the other: what was missing at first is of no interest when one was found.
    let components = working.flatMap { $0.split(separator: "/") }
    return found.filter { missing in !components.contains { $0 == missing.device } }
  }
}

extension MissingFirmware {
  /// What one line says; nil: nothing of the kind. Known are `iwlwifi 0000:02:00.0: Direct firmware load for FILE failed with error -2` and, of Debian's kernels,
  /// `iwlwifi 0000:02:00.0: firmware: failed to load FILE (-2)`.
  private init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count > 5, words[1].hasSuffix(":") else { return nil }
    let name: Substring
    switch (words[2], words[3], words[4]) {
    case ("Direct", "firmware", "load") where words.count > 6 && words[5] == "for" && words[7...].first == "failed": name = words[6]
    case ("firmware:", "failed", "to") where words.count > 6 && words[5] == "load": name = words[6]
    default: return nil
    }
    guard MissingFirmware.families.contains(where: { name.hasPrefix($0) }) else { return nil }
    // A USB device's interface is named after it, as 1-4:1.0.
    let device = words[1].dropLast()
    let isInterface = device.split(separator: ":").count == 2 && device.contains("-")
    self.init(device: String(isInterface ? device.prefix { $0 != ":" } : device), file: String(name))
  }
}
