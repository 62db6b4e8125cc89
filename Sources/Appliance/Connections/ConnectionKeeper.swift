import Base
import FoundationEssentials

/// `parlor keep-connections`, for root, again and again: gets connections going that NetworkManager has given up, and notes for the box why there is none.
///
/// NetworkManager takes a login that failed for a wrong password, asks for another, and tries no more until somebody could give one. A lost packet is enough for that.
public struct ConnectionKeeper {
  /// There on boxes that log into a network; provisioning makes it. It says into what: `wifi`, `cable`.
  static let mark = SystemFiles.folder + "/keep-connections"

  private static let manager = "/usr/bin/nmcli"

  /// Looks once.
  public init() {}

  /// Looks at all interfaces.
  public func run() throws(VerbFailure) -> ExitCode {
    let devices = try ConnectionKeeper.devices(
      ChildProcess.run(ConnectionKeeper.manager, ["-t", "-f", "DEVICE,TYPE,STATE", "device"]).text)
    let mark = FileManager.default.contents(atPath: ConnectionKeeper.mark).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let troubles = try ConnectionKeeper.troubles(
      of: devices, wantsWiFi: mark.contains("wifi"), radios: radios, log: log, kernelLog: kernelLog)
    do throws(StoredFile.Failure) { try ConnectionTrouble.save(troubles) } catch { throw VerbFailure(.cannotCreate, "\(error)") }
    if devices.contains(where: { $0.state == "disconnected" }) { try tryAgain() }
    return .ok
  }

  /// An interface as NetworkManager sees it.
  struct Device: Equatable {
    var name: String
    /// `wifi` or `ethernet`; others are of no interest.
    var type: String
    var state: String
  }

  /// What `nmcli` wrote, a line for each interface. Names of interfaces have no colon.
  static func devices(_ text: String) -> [Device] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", maxSplits: 2)
      guard fields.count == 3, ["wifi", "ethernet"].contains(fields[1]) else { return nil }
      return Device(name: String(fields[0]), type: String(fields[1]), state: String(fields[2]))
    }
  }

  /// What is wrong, device by device. `radios` are the kernel's paths of the Wi-Fi devices that work.
  static func troubles<Failure: Error>(
    of devices: [Device], wantsWiFi: Bool, radios: [String], log: () throws(Failure) -> String, kernelLog: () throws(Failure) -> String
  ) throws(Failure) -> [ConnectionTrouble] {
    var troubles: [ConnectionTrouble] = []
    let wifi = wantsWiFi ? devices.filter { $0.type == "wifi" } : []
    if wifi.isEmpty, wantsWiFi {
      let missing = MissingFirmware.find(inLog: try kernelLog().split(separator: "\n"), working: radios)
      troubles = missing.map { ConnectionTrouble(.firmware, $0.reason) }
      if missing.isEmpty { troubles = [ConnectionTrouble(.device, "there is no Wi-Fi device, or none that the system knows")] }
    }
    let wired = devices.filter { $0.type == "ethernet" }
    let isOnAir = wifi.contains { $0.state == "connected" }
    let waiting = (isOnAir ? [] : wifi) + wired.filter { $0.state != "connected" && $0.state != "unavailable" }
    if waiting.isEmpty { return troubles }
    let told = ConnectionLog(try log().split(separator: "\n"), wired: Set(wired.map(\.name))).troubles
    return troubles
      + waiting.compactMap { device in
        if let trouble = told[device.name] { return ConnectionTrouble(trouble.cause, "\(device.name): \(trouble.reason)") }
        guard device.type == "wifi" else { return nil }
        switch device.state {
        case "unavailable": return ConnectionTrouble(.failed, "\(device.name): Wi-Fi is switched off: is there a switch on the box?")
        case "disconnected": return ConnectionTrouble(.notFound, "\(device.name): no network of the configuration is in reach")
        default: return nil
        }
      }
  }

  /// The names in a radio's path are those of the devices that it is a part of.
  private var radios: [String] {
    let folder = "/sys/class/ieee80211"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
  }

  private func log() throws(VerbFailure) -> String {
    try journal(["--lines=500", "_SYSTEMD_UNIT=NetworkManager.service", "+", "_SYSTEMD_UNIT=wpa_supplicant.service"])
  }

  private func kernelLog() throws(VerbFailure) -> String { try journal(["--dmesg"]) }

  private func journal(_ words: [String]) throws(VerbFailure) -> String {
    try ChildProcess.run("/usr/bin/journalctl", ["--boot", "--no-pager", "--quiet", "--output=cat"] + words).text
  }

  /// Somebody who could give a password comes and goes: then NetworkManager tries again what it gave up.
  private func tryAgain() throws(VerbFailure) {
    _ = try ChildProcess.run(ConnectionKeeper.manager, ["agent", "secret"]) { _ in false }
  }
}
