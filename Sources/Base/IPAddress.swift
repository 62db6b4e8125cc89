/// An IPv4 or IPv6 address as a value of 16 bytes.
public struct IPAddress: Sendable, Hashable {
  /// IPv4 or IPv6.
  public enum Family: UInt8, Sendable { case v4, v6 }

  /// The address's family.
  public let family: Family
  /// The upper 64 bits of an IPv6 address; 0 for IPv4.
  public let high: UInt64
  /// The lower 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
  public let low: UInt64
  /// The interface index that an IPv6 link-local address needs; else 0.
  public var scope: UInt32 = 0

  /// The IPv4 address with the given 32 bits, most significant byte first.
  public init(v4 bits: UInt32) { (family, high, low) = (.v4, 0, UInt64(bits)) }

  /// The IPv6 address with the given halves.
  public init(v6 high: UInt64, _ low: UInt64, scope: UInt32 = 0) {
    (family, self.high, self.low, self.scope) = (.v6, high, low, scope)
  }

  /// 127.0.0.1.
  public static let loopback4 = IPAddress(v4: 0x7F00_0001)
  /// ::1.
  public static let loopback6 = IPAddress(v6: 0, 1)

  /// 127.0.0.0/8 or ::1.
  public var isLoopback: Bool { family == .v4 ? low >> 24 == 127 : high == 0 && low == 1 }
  /// 169.254.0.0/16 or fe80::/10.
  public var isLinkLocal: Bool { family == .v4 ? low >> 16 == 0xA9FE : high >> 54 == 0xFE80 >> 6 }
  /// 0.0.0.0 or ::.
  public var isUnspecified: Bool { high == 0 && low == 0 }

  /// The address in network order: 4 or 16 bytes.
  public var bytes: [UInt8] {
    family == .v4
      ? (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * UInt64($0))) }
      : (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * UInt64($0 % 8))) }
  }

  /// The address with these 4 or 16 bytes in network order; nil for any other count.
  public init?(bytes: some Collection<UInt8>) {
    func number(_ part: some Sequence<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
    switch bytes.count {
    case 4: self.init(v4: UInt32(number(bytes)))
    case 16: self.init(v6: number(bytes.prefix(8)), number(bytes.dropFirst(8)))
    default: return nil
    }
  }
}

extension IPAddress: LosslessStringConvertible {
  /// Reads a dotted IPv4 address or an IPv6 address (RFC 4291 section 2.2), without a port or brackets. Nil when it is neither.
  public init?(_ text: String) {
    if text.utf8.contains(UInt8(ascii: ":")) {
      guard let groups = IPAddress.groups(text) else { return nil }
      func half(_ part: ArraySlice<UInt16>) -> UInt64 { part.reduce(0) { $0 << 16 | UInt64($1) } }
      self.init(v6: half(groups[0..<4]), half(groups[4..<8]))
    } else {
      guard let bits = IPAddress.dotted(text) else { return nil }
      self.init(v4: bits)
    }
  }

  private static func dotted(_ text: some StringProtocol) -> UInt32? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bits: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }), let byte = UInt8(part) else { return nil }
      bits = bits << 8 | UInt32(byte)
    }
    return bits
  }

  private static func groups(_ text: String) -> [UInt16]? {
    func list(_ part: some StringProtocol) -> [UInt16]? {
      if part.isEmpty { return [] }
      let pieces = part.split(separator: ":", omittingEmptySubsequences: false)
      var result: [UInt16] = []
      for (index, piece) in pieces.enumerated() {
        if index == pieces.count - 1, piece.contains("."), let bits = dotted(piece) {
          result += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
        } else {
          guard (1...4).contains(piece.utf8.count), piece.utf8.first != UInt8(ascii: "+"), let group = UInt16(piece, radix: 16) else {
            return nil
          }
          result.append(group)
        }
      }
      return result
    }
    let bytes = Array(text.utf8)
    if let gap = bytes.indices.dropLast().first(where: { bytes[$0] == 58 && bytes[$0 + 1] == 58 }) {
      let head = String(decoding: bytes[..<gap], as: UTF8.self)
      let tail = String(decoding: bytes[(gap + 2)...], as: UTF8.self)
      guard let left = list(head), let right = list(tail), left.count + right.count <= 7 else { return nil }
      return left + Array(repeating: 0, count: 8 - left.count - right.count) + right
    }
    guard let all = list(text), all.count == 8 else { return nil }
    return all
  }

  /// Dotted for IPv4; for IPv6 the canonical text of RFC 5952.
  public var description: String {
    if family == .v4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * UInt64($0 % 4))) }
    var (best, length) = (0, 0)
    var start = 0
    while start < 8 {
      let run = groups[start...].prefix { $0 == 0 }.count
      if run > length, run > 1 { (best, length) = (start, run) }
      start += max(run, 1)
    }
    func text(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
    return length == 0 ? text(groups[...]) : text(groups[..<best]) + "::" + text(groups[(best + length)...])
  }
}
