/// The chunk types that this implementation handles, with their numbers (RFC 9260 section 3.2 and the IANA registry).
enum ChunkType: UInt8 {
  case data = 0
  case initiation = 1
  case initiationAcknowledgment = 2
  case selectiveAcknowledgment = 3
  case heartbeat = 4
  case heartbeatAcknowledgment = 5
  case abort = 6
  case shutdown = 7
  case shutdownAcknowledgment = 8
  case error = 9
  case cookieEcho = 10
  case cookieAcknowledgment = 11
  case shutdownComplete = 14
  /// I-DATA, RFC 8260.
  case interleavedData = 64
  /// RE-CONFIG, RFC 6525.
  case reconfiguration = 130
  /// PAD, RFC 4820.
  case padding = 132
  /// RFC 3758.
  case forwardTSN = 192
  /// I-FORWARD-TSN, RFC 8260.
  case interleavedForwardTSN = 194
}

/// Flags of DATA and I-DATA chunks (RFC 9260 section 3.3.1).
enum DataFlags {
  /// The last fragment of a message.
  static let end: UInt8 = 1
  /// The first fragment of a message.
  static let beginning: UInt8 = 2
  /// Not ordered within its stream.
  static let unordered: UInt8 = 4
  /// The receiver is to acknowledge without delay.
  static let immediate: UInt8 = 8
}

/// What to do with a type that is not known, from its two highest bits (RFC 9260 sections 3.2 and 3.2.1).
struct UnrecognizedTypeRule {
  /// Whether what follows is still processed.
  let continues: Bool
  /// Whether the sender is told.
  let isReported: Bool

  /// The rule for a chunk type.
  init(chunk type: UInt8) { (continues, isReported) = (type & 0x80 != 0, type & 0x40 != 0) }
  /// The rule for a parameter type.
  init(parameter type: UInt16) { (continues, isReported) = (type & 0x8000 != 0, type & 0x4000 != 0) }
}

/// Payload protocol identifiers of data channels (RFC 8831 section 8).
enum PayloadProtocol {
  /// Data Channel Establishment Protocol.
  static let establishment: UInt32 = 50
  static let string: UInt32 = 51
  static let binary: UInt32 = 53
  /// One byte that stands for the empty string, as SCTP cannot send an empty message.
  static let emptyString: UInt32 = 56
  static let emptyBinary: UInt32 = 57
}

/// Sizes in bytes.
enum Size {
  /// The common header of a packet.
  static let packetHeader = 12
  /// A chunk's type, flags and length.
  static let chunkHeader = 4
  /// A DATA chunk in front of its user data.
  static let dataHeader = 16
  /// An I-DATA chunk in front of its user data.
  static let interleavedDataHeader = 20

  /// What keeping an incomplete or early message costs besides its bytes: counted, so that many tiny ones cannot fill the memory.
  static let overhead = 128

  /// `count` rounded up to the alignment of chunks and parameters.
  @inline(__always) static func padded(_ count: Int) -> Int { (count &+ 3) & ~3 }
}
