/// What a message is in its exchange (RFC 8489 section 5).
public enum MessageClass: UInt16, Sendable {
  /// Asks for a response.
  case request = 0b00
  /// Asks for nothing.
  case indication = 0b01
  /// Answers a request that was granted.
  case success = 0b10
  /// Answers a request that was not.
  case error = 0b11
}

/// What a message is about: a 12-bit number (RFC 8489 section 18.2, RFC 8656 section 17).
public struct Method: RawRepresentable, Sendable, Hashable {
  /// The method's number, 0 to 0xFFF.
  public var rawValue: UInt16

  /// The method with the lower 12 bits of `rawValue`.
  public init(rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

  /// Asks for the reflexive address; in ICE it is the connectivity check.
  public static let binding = Method(rawValue: 0x001)
  /// TURN: asks for a relayed address.
  public static let allocate = Method(rawValue: 0x003)
  /// TURN: prolongs or ends an allocation.
  public static let refresh = Method(rawValue: 0x004)
  /// TURN: an indication with data for a peer.
  public static let send = Method(rawValue: 0x006)
  /// TURN: an indication with data from a peer.
  public static let data = Method(rawValue: 0x007)
  /// TURN: lets a peer's address in.
  public static let createPermission = Method(rawValue: 0x008)
  /// TURN: gives a peer a channel number.
  public static let channelBind = Method(rawValue: 0x009)
}

/// The message type field: method and class interleaved (RFC 8489 figure 3).
struct MessageType {
  var messageClass: MessageClass
  var method: Method

  init(_ messageClass: MessageClass, _ method: Method) { (self.messageClass, self.method) = (messageClass, method) }

  init(field: UInt16) {
    method = Method(rawValue: (field >> 2 & 0x0F80) | (field >> 1 & 0x0070) | (field & 0x000F))
    // Two bits have four values and all four are classes.
    messageClass = MessageClass(rawValue: (field >> 7 & 0b10) | (field >> 4 & 0b01)) ?? .request
  }

  var field: UInt16 {
    let (m, c) = (method.rawValue, messageClass.rawValue)
    return (m & 0x0F80) << 2 | (m & 0x0070) << 1 | (m & 0x000F) | (c & 0b10) << 7 | (c & 0b01) << 4
  }
}
