/// An IP address with a port.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// The IP address.
  public var ip: IPAddress
  /// The port, 0 when none is bound.
  public var port: UInt16

  /// The address `ip` with `port`.
  public init(_ ip: IPAddress, _ port: UInt16) { (self.ip, self.port) = (ip, port) }

  /// Reads `192.0.2.1:3478` or `[2001:db8::1]:3478`; nil for anything else.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard let ip = IPAddress(String(host)) else { return nil }
    self.init(ip, port)
  }

  /// `192.0.2.1:3478` or `[2001:db8::1]:3478`.
  public var description: String { ip.family == .v4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}
