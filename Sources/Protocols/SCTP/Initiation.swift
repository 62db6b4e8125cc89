import Bytes

/// What an INIT or INIT ACK chunk says (RFC 9260 sections 3.3.2 and 3.3.3).
struct Initiation: Sendable, Equatable {
  /// The tag that all packets to its sender will carry; never 0.
  var tag: UInt32
  /// The sender's receive window in bytes.
  var receiveWindow: UInt32
  /// How many streams the sender wants to send on.
  var outgoingStreams: UInt16
  /// How many streams the sender accepts.
  var incomingStreams: UInt16
  /// The first TSN that the sender will use.
  var initialTSN: UInt32
  /// Extensions that the sender offers.
  var extensions = Extensions()
  /// The state cookie; in INIT ACK only.
  var cookie: [UInt8] = []
  /// Parameters that were not understood and are to be reported, as they stood in the chunk, padded.
  var unrecognized: [UInt8] = []

  /// Extensions of SCTP that both ends must know before one uses them.
  struct Extensions: OptionSet, Sendable {
    let rawValue: UInt8
    /// Partial reliability, RFC 3758.
    static let forwardTSN = Extensions(rawValue: 1)
    /// Stream reset, RFC 6525.
    static let reconfiguration = Extensions(rawValue: 2)
    /// I-DATA, RFC 8260.
    static let interleaving = Extensions(rawValue: 4)
    /// A checksum of zero below DTLS, RFC 9653.
    static let zeroChecksum = Extensions(rawValue: 8)
  }

  /// Parameter types (RFC 9260 section 3.3.2.1 and the IANA registry).
  private enum Parameter {
    static let stateCookie: UInt16 = 7
    static let unrecognized: UInt16 = 8
    static let hostNameAddress: UInt16 = 11
    static let zeroChecksumAcceptable: UInt16 = 0x8001
    static let supportedExtensions: UInt16 = 0x8008
    static let forwardTSNSupported: UInt16 = 0xC000
    /// Known and of no use here: addresses, cookie preservative, address types, adaptation layer.
    static let ignored: Set<UInt16> = [1, 5, 6, 9, 12, 0xC006]
    /// The alternate error detection method of RFC 9653: lower layer is DTLS.
    static let dtlsErrorDetection: UInt32 = 1
  }

  /// Why a chunk was not acceptable.
  enum Failure: Error { case truncated, invalidMandatoryParameter, hostNameAddress }
}

extension Initiation {
  /// Reads a chunk's value.
  init(_ value: RawSpan) throws(Failure) {
    var reader = ByteReader(value)
    do {
      self.init(
        tag: try reader.uint32(), receiveWindow: try reader.uint32(), outgoingStreams: try reader.uint16(),
        incomingStreams: try reader.uint16(), initialTSN: try reader.uint32())
    } catch { throw .truncated }
    guard tag != 0, outgoingStreams != 0, incomingStreams != 0, receiveWindow >= 1_500 else { throw .invalidMandatoryParameter }
    while reader.remaining >= 4 {
      let start = reader.offset
      guard let type = try? reader.uint16(), let length = try? reader.uint16(), length >= 4, let body = try? reader.array(Int(length) - 4)
      else { throw .truncated }
      try? reader.skip(min(reader.remaining, Size.padded(Int(length)) - Int(length)))
      switch type {
      case Parameter.stateCookie: cookie = body
      case Parameter.hostNameAddress: throw .hostNameAddress
      case Parameter.forwardTSNSupported: extensions.insert(.forwardTSN)
      case Parameter.zeroChecksumAcceptable:
        if body == networkOrder(Parameter.dtlsErrorDetection) { extensions.insert(.zeroChecksum) }
      case Parameter.supportedExtensions:
        if body.contains(ChunkType.reconfiguration.rawValue) { extensions.insert(.reconfiguration) }
        if body.contains(ChunkType.forwardTSN.rawValue) { extensions.insert(.forwardTSN) }
        if body.contains(ChunkType.interleavedData.rawValue) { extensions.insert(.interleaving) }
      case _ where Parameter.ignored.contains(type): break
      case Parameter.unrecognized: break
      default:
        let rule = UnrecognizedTypeRule(parameter: type)
        if rule.isReported, unrecognized.count < 512 {
          unrecognized += Array(bytes: value.extracting(start..<start + Int(length)))
          while unrecognized.count % 4 != 0 { unrecognized.append(0) }
        }
        if !rule.continues { return }
      }
    }
  }

  /// The chunk's value. `reporting` holds parameters that the peer sent and that were not understood.
  func encoded(reporting: [UInt8] = []) -> [UInt8] {
    var bytes = networkOrder(tag) + networkOrder(receiveWindow)
    bytes += networkOrder(outgoingStreams) + networkOrder(incomingStreams) + networkOrder(initialTSN)
    func append(_ type: UInt16, _ body: [UInt8]) {
      bytes += networkOrder(type) + networkOrder(UInt16(truncatingIfNeeded: 4 + body.count)) + body
      while bytes.count % 4 != 0 { bytes.append(0) }
    }
    if extensions.contains(.forwardTSN) { append(Parameter.forwardTSNSupported, []) }
    if extensions.contains(.zeroChecksum) { append(Parameter.zeroChecksumAcceptable, networkOrder(Parameter.dtlsErrorDetection)) }
    var supported: [UInt8] = []
    if extensions.contains(.reconfiguration) { supported.append(ChunkType.reconfiguration.rawValue) }
    if extensions.contains(.forwardTSN) { supported.append(ChunkType.forwardTSN.rawValue) }
    if extensions.contains(.interleaving) {
      supported += [ChunkType.interleavedData.rawValue, ChunkType.interleavedForwardTSN.rawValue]
    }
    append(Parameter.supportedExtensions, supported)
    if !cookie.isEmpty { append(Parameter.stateCookie, cookie) }
    if !reporting.isEmpty { append(Parameter.unrecognized, reporting) }
    return bytes
  }
}
