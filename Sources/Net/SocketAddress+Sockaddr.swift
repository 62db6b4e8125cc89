import Base
import Glibc

extension SocketAddress {
  /// Writes the address as the kernel wants it and returns the length used.
  func write(to storage: inout sockaddr_storage) -> UInt32 {
    withUnsafeMutablePointer(to: &storage) { pointer in
      switch ip.family {
      case .v4:
        pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          $0.pointee = sockaddr_in()
          $0.pointee.sin_family = sa_family_t(AF_INET)
          $0.pointee.sin_port = port.bigEndian
          $0.pointee.sin_addr.s_addr = UInt32(truncatingIfNeeded: ip.low).bigEndian
        }
        return UInt32(MemoryLayout<sockaddr_in>.size)
      case .v6:
        pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          $0.pointee = sockaddr_in6()
          $0.pointee.sin6_family = sa_family_t(AF_INET6)
          $0.pointee.sin6_port = port.bigEndian
          $0.pointee.sin6_addr = in6_addr(ip)
          $0.pointee.sin6_scope_id = ip.scope
        }
        return UInt32(MemoryLayout<sockaddr_in6>.size)
      }
    }
  }

  /// The address in `storage`; nil when it is of neither family.
  init?(_ storage: borrowing sockaddr_storage) {
    guard let address = withUnsafePointer(to: storage, { SocketAddress(UnsafeRawPointer($0)) }) else { return nil }
    self = address
  }

  /// The address in the `sockaddr` at `pointer`; nil when it is of neither family.
  init?(_ pointer: UnsafeRawPointer) {
    switch Int32(pointer.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET:
      let address = pointer.loadUnaligned(as: sockaddr_in.self)
      self.init(IPAddress(v4: UInt32(bigEndian: address.sin_addr.s_addr)), UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = pointer.loadUnaligned(as: sockaddr_in6.self)
      self.init(IPAddress(address.sin6_addr, scope: address.sin6_scope_id), UInt16(bigEndian: address.sin6_port))
    default: return nil
    }
  }

  /// Calls `body` with the address as a `sockaddr`.
  func withSockaddr<T>(_ body: (UnsafePointer<sockaddr>, UInt32) -> T) -> T {
    var storage = sockaddr_storage()
    let length = write(to: &storage)
    return withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  /// The address a socket is bound to; nil when there is none.
  init?(boundTo descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard result == 0 else { return nil }
    self.init(storage)
  }
}

extension IPAddress {
  init(_ address: in6_addr, scope: UInt32) {
    let (high, low) = unsafeBitCast(address, to: (UInt64, UInt64).self)
    self.init(v6: UInt64(bigEndian: high), UInt64(bigEndian: low), scope: scope)
  }
}

extension in6_addr {
  init(_ ip: IPAddress) { self = unsafeBitCast((ip.high.bigEndian, ip.low.bigEndian), to: in6_addr.self) }
}

/// Sets a socket option that is a number.
func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) -> Bool {
  var value = value
  return setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
}
