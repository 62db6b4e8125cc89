import Base
import Glibc

/// One address of a network interface that is up.
public struct InterfaceAddress: Sendable, Hashable {
  /// The interface's name, such as `eth0`.
  public let name: String
  /// The address; an IPv6 link-local one carries the interface's index as its scope.
  public let ip: IPAddress
  /// Whether the interface is the loopback.
  public let isLoopback: Bool
  /// Whether the interface can send to groups.
  public let isMulticast: Bool
  /// Length of the network's prefix in bits.
  public let prefix: Int
  /// The interface's index.
  public let index: UInt32

  /// An interface's address.
  public init(name: String, ip: IPAddress, isLoopback: Bool, isMulticast: Bool, prefix: Int, index: UInt32) {
    (self.name, self.ip, self.isLoopback, self.isMulticast, self.prefix, self.index) = (name, ip, isLoopback, isMulticast, prefix, index)
  }
}

/// The machine's network interfaces.
public enum NetworkInterfaces {
  /// The addresses of all interfaces that are up and have a link, as the kernel lists them.
  public static func addresses() -> [InterfaceAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var result: [InterfaceAddress] = []
    var next = list
    while let item = next {
      next = item.pointee.ifa_next
      let flags = item.pointee.ifa_flags
      guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_RUNNING) != 0 else { continue }
      guard let pointer = item.pointee.ifa_addr, let address = SocketAddress(UnsafeRawPointer(pointer)) else { continue }
      let mask = item.pointee.ifa_netmask.flatMap { SocketAddress(UnsafeRawPointer($0)) }?.ip
      result.append(
        InterfaceAddress(
          name: String(cString: item.pointee.ifa_name), ip: address.ip, isLoopback: flags & UInt32(IFF_LOOPBACK) != 0,
          isMulticast: flags & UInt32(IFF_MULTICAST) != 0,
          prefix: mask.map { $0.high.nonzeroBitCount + $0.low.nonzeroBitCount } ?? 0, index: if_nametoindex(item.pointee.ifa_name)))
    }
    return result
  }
}
