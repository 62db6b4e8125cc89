/// The type of a STUN attribute (RFC 8489 section 18.3, with those that ICE and TURN add).
public struct AttributeType: RawRepresentable, Sendable, Hashable {
  /// The 16-bit type as it stands in the message.
  public var rawValue: UInt16

  /// The attribute type with this number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A receiver that does not know such an attribute must refuse the message (RFC 8489 section 14).
  public var isComprehensionRequired: Bool { rawValue < 0x8000 }

  /// Reflexive address in the clear, as RFC 3489 servers still send it.
  public static let mappedAddress = AttributeType(rawValue: 0x0001)
  /// Short-term: `receiver:sender` fragments in ICE; long-term: the user's name.
  public static let username = AttributeType(rawValue: 0x0006)
  /// HMAC-SHA1 over the message up to it.
  public static let messageIntegrity = AttributeType(rawValue: 0x0008)
  /// Code and reason of an error response.
  public static let errorCode = AttributeType(rawValue: 0x0009)
  /// The comprehension-required attributes that the server did not know.
  public static let unknownAttributes = AttributeType(rawValue: 0x000A)
  /// TURN: the channel of a ChannelBind.
  public static let channelNumber = AttributeType(rawValue: 0x000C)
  /// TURN: seconds that an allocation lives.
  public static let lifetime = AttributeType(rawValue: 0x000D)
  /// TURN: the peer that a request or an indication is about.
  public static let xorPeerAddress = AttributeType(rawValue: 0x0012)
  /// TURN: what the peer sent or is to be sent.
  public static let data = AttributeType(rawValue: 0x0013)
  /// The realm of long-term credentials.
  public static let realm = AttributeType(rawValue: 0x0014)
  /// The server's nonce of long-term credentials.
  public static let nonce = AttributeType(rawValue: 0x0015)
  /// TURN: the relayed address of an allocation.
  public static let xorRelayedAddress = AttributeType(rawValue: 0x0016)
  /// TURN: the family that the relayed address is to have.
  public static let requestedAddressFamily = AttributeType(rawValue: 0x0017)
  /// TURN: the transport of the relayed address, 17 for UDP.
  public static let requestedTransport = AttributeType(rawValue: 0x0019)
  /// HMAC-SHA256 over the message up to it.
  public static let messageIntegritySHA256 = AttributeType(rawValue: 0x001C)
  /// The password algorithm that the client chose.
  public static let passwordAlgorithm = AttributeType(rawValue: 0x001D)
  /// Reflexive address, masked against rewriting NATs.
  public static let xorMappedAddress = AttributeType(rawValue: 0x0020)
  /// ICE: the priority that a peer-reflexive candidate learnt from the check would have.
  public static let priority = AttributeType(rawValue: 0x0024)
  /// ICE: the pair that the check runs on is nominated.
  public static let useCandidate = AttributeType(rawValue: 0x0025)
  /// TURN: an address of this family is wanted as well.
  public static let additionalAddressFamily = AttributeType(rawValue: 0x8000)
  /// TURN: why one of two families was not given.
  public static let addressErrorCode = AttributeType(rawValue: 0x8001)
  /// The password algorithms that the server offers.
  public static let passwordAlgorithms = AttributeType(rawValue: 0x8002)
  /// The name that an alternate server's certificate carries.
  public static let alternateDomain = AttributeType(rawValue: 0x8003)
  /// The name of the sender's software.
  public static let software = AttributeType(rawValue: 0x8022)
  /// Another server to go to.
  public static let alternateServer = AttributeType(rawValue: 0x8023)
  /// CRC-32 over the message up to it.
  public static let fingerprint = AttributeType(rawValue: 0x8028)
  /// ICE: the sender is controlled; carries its tie-breaker.
  public static let iceControlled = AttributeType(rawValue: 0x8029)
  /// ICE: the sender is controlling; carries its tie-breaker.
  public static let iceControlling = AttributeType(rawValue: 0x802A)
}
