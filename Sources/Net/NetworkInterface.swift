import Base
import Glibc

/// A network interface, as somebody sees it who looks for the reason why there is no network.
public struct NetworkInterface: Sendable, Hashable {
  /// How far it is from a network.
  public enum State: Sendable, Hashable {
    /// Nobody switched it on.
    case off
    /// No cable, or no radio network.
    case withoutLink
    /// Linked, with no address but one that it gave itself.
    case withoutAddress
    /// Linked, with addresses.
    case ready
  }

  /// The name, such as `eth0`.
  public var name: String
  /// Whether it is a radio.
  public var isWireless: Bool
  /// How far it is from a network.
  public var state: State
  /// Its addresses: IPv4 first, link-local ones left out.
  public var addresses: [IPAddress]

  /// An interface.
  public init(name: String, isWireless: Bool = false, state: State, addresses: [IPAddress] = []) {
    (self.name, self.isWireless, self.state, self.addresses) = (name, isWireless, state, addresses)
  }
}

extension NetworkInterfaces {
  /// The interfaces that stand for hardware; where there are none, all but the loopback, as in a container. In the order of their names.
  public static func all() -> [NetworkInterface] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var flags: [String: UInt32] = [:]
    var addresses: [String: [IPAddress]] = [:]
    var next = list
    while let item = next {
      next = item.pointee.ifa_next
      let name = String(cString: item.pointee.ifa_name)
      flags[name] = item.pointee.ifa_flags
      if let pointer = item.pointee.ifa_addr, let address = SocketAddress(UnsafeRawPointer(pointer)) {
        addresses[name, default: []].append(address.ip)
      }
    }
    let names = flags.keys.filter { flags[$0]! & UInt32(IFF_LOOPBACK) == 0 }
    let hardware = names.filter { access("/sys/class/net/\($0)/device", F_OK) == 0 }
    return (hardware.isEmpty ? names : hardware).sorted().map { name in
      interface(
        name, isUp: flags[name]! & UInt32(IFF_UP) != 0, isRunning: flags[name]! & UInt32(IFF_RUNNING) != 0,
        isWireless: access("/sys/class/net/\(name)/phy80211", F_OK) == 0, addresses: addresses[name] ?? [])
    }
  }

  static func interface(_ name: String, isUp: Bool, isRunning: Bool, isWireless: Bool, addresses: [IPAddress]) -> NetworkInterface {
    let known = addresses.filter { !$0.isLinkLocal }
    let sorted = known.filter { $0.family == .v4 } + known.filter { $0.family != .v4 }
    let state: NetworkInterface.State = !isUp ? .off : !isRunning ? .withoutLink : sorted.isEmpty ? .withoutAddress : .ready
    return NetworkInterface(name: name, isWireless: isWireless, state: state, addresses: sorted)
  }
}
