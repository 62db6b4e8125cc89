/// Who made the session description and which version of it this is: the line `o=` (RFC 8866 section 5.2).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  public var username: String
  public var sessionIdentifier: UInt64
  public var sessionVersion: UInt64
  /// Almost always `IN`.
  public var networkType: String
  /// `IP4` or `IP6`.
  public var addressType: String
  public var address: String

  /// RFC 8829 section 5.2.1: a user name of `-` and an address that says nothing.
  public init(
    username: String = "-", sessionIdentifier: UInt64, sessionVersion: UInt64, networkType: String = "IN", addressType: String = "IP4",
    address: String = "127.0.0.1"
  ) {
    self.username = username
    self.sessionIdentifier = sessionIdentifier
    self.sessionVersion = sessionVersion
    self.networkType = networkType
    self.addressType = addressType
    self.address = address
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard fields.count == 6, let identifier = fields[1].number(UInt64.self), let version = fields[2].number(UInt64.self) else { return nil }
    self.init(
      username: String(fields[0]), sessionIdentifier: identifier, sessionVersion: version, networkType: String(fields[3]),
      addressType: String(fields[4]), address: String(fields[5]))
  }

  public var description: String { "\(username) \(sessionIdentifier) \(sessionVersion) \(networkType) \(addressType) \(address)" }
}

/// Where media is to be sent when ICE does not say: the line `c=` (RFC 8866 section 5.7).
public struct Connection: Sendable, Hashable, CustomStringConvertible {
  /// Almost always `IN`.
  public var networkType: String
  /// `IP4` or `IP6`.
  public var addressType: String
  /// The address, with `/ttl` and `/count` where multicast has them.
  public var address: String

  public init(networkType: String = "IN", addressType: String = "IP4", address: String = "0.0.0.0") {
    self.networkType = networkType
    self.addressType = addressType
    self.address = address
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard fields.count == 3 else { return nil }
    self.init(networkType: String(fields[0]), addressType: String(fields[1]), address: String(fields[2]))
  }

  public var description: String { "\(networkType) \(addressType) \(address)" }
}

/// A bandwidth limit: the line `b=` (RFC 8866 section 5.8).
public struct Bandwidth: Sendable, Hashable, CustomStringConvertible {
  /// `AS` counts in kilobit/s, `TIAS` in bit/s.
  public var type: String
  public var value: Int

  public init(type: String, value: Int) {
    self.type = type
    self.value = value
  }

  init?(_ text: Substring) {
    guard let (type, value) = text.cut(":"), !type.isEmpty, let number = value.number(Int.self) else { return nil }
    self.init(type: String(type), value: number)
  }

  public var description: String { "\(type):\(value)" }
}

/// The line `a=rtcp` (RFC 3605): the port for RTCP where it is not multiplexed.
public struct RTCPPort: Sendable, Hashable, CustomStringConvertible {
  public var port: UInt16
  public var connection: Connection?

  public init(port: UInt16, connection: Connection? = nil) {
    self.port = port
    self.connection = connection
  }

  init?(_ text: Substring) {
    guard let (port, rest) = text.cut(" ") else {
      guard let port = text.number(UInt16.self) else { return nil }
      self.init(port: port)
      return
    }
    guard let port = port.number(UInt16.self), let connection = Connection(rest) else { return nil }
    self.init(port: port, connection: connection)
  }

  public var description: String { connection.map { "\(port) \($0)" } ?? "\(port)" }
}
