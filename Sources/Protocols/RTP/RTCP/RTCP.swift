import Bytes

/// The RTP control protocol (RFC 3550 section 6) and its feedback messages (RFC 4585, RFC 5104).
public enum RTCP {
  /// One packet of a compound or reduced-size datagram.
  public enum Packet: Sendable, Equatable {
    /// SR, type 200.
    case senderReport(SenderReport)
    /// RR, type 201.
    case receiverReport(ReceiverReport)
    /// SDES, type 202.
    case sourceDescription(SourceDescription)
    /// BYE, type 203.
    case goodbye(Goodbye)
    /// Generic NACK: transport feedback, format 1.
    case nack(Nack)
    /// Transport-wide congestion control: transport feedback, format 15.
    case transportFeedback(TransportFeedback)
    /// PLI: payload-specific feedback, format 1.
    case pictureLossIndication(PictureLossIndication)
    /// FIR: payload-specific feedback, format 4.
    case fullIntraRequest(FullIntraRequest)
    /// REMB: payload-specific feedback, format 15.
    case receiverEstimatedMaximumBitrate(ReceiverEstimatedMaximumBitrate)
    /// XR, type 207.
    case extendedReport(ExtendedReport)
    /// Any other type or format, kept as it came.
    case unknown(Unknown)
  }

  /// A packet of a type or format that is not understood.
  public struct Unknown: Sendable, Equatable {
    /// The five bits beside the version: a count or a feedback format, 0…31.
    public var format: UInt8
    /// Packet type.
    public var packetType: UInt8
    /// Everything behind the 4-byte header, without padding, filled up with zeros to whole words.
    public var body: [UInt8]

    /// A packet with these fields.
    public init(format: UInt8, packetType: UInt8, body: [UInt8]) {
      precondition(format < 32, "a format has five bits")
      (self.format, self.packetType, self.body) = (format, packetType, body + [UInt8](repeating: 0, count: -body.count & 3))
    }
  }

  /// Whether a datagram on a port shared with RTP is RTCP (RFC 5761 section 4): types 192…223 are.
  @inlinable public static func isRTCP(_ packet: RawSpan) -> Bool {
    packet.byteCount >= 4 && (192...223).contains(packet.uint8(at: 1))
  }

  /// Reads all packets of a compound (RFC 3550 section 6.1) or reduced-size (RFC 5506) datagram, in their order.
  public static func parse(_ datagram: RawSpan) throws(MalformedPacket) -> [Packet] {
    var packets: [Packet] = []
    var reader = ByteReader(datagram)
    guard !reader.isAtEnd else { throw .truncated("the RTCP header") }
    while !reader.isAtEnd {
      guard reader.remaining >= 4 else { throw .truncated("the RTCP header") }
      let first = reader.bytes.uint8(at: reader.offset)
      let packetType = reader.bytes.uint8(at: reader.offset + 1)
      let count = 4 * Int(reader.bytes.uint16(at: reader.offset + 2))
      guard first >> 6 == 2 else { throw .version(first >> 6) }
      guard count <= reader.remaining - 4 else { throw .length("RTCP packet type \(packetType)") }
      var body = reader.bytes.extracting(reader.offset + 4..<reader.offset + 4 + count)
      if first & 0x20 != 0 {
        guard count > 0 else { throw .padding(0) }
        // RFC 3550 section 6.4.1 says that it is a multiple of four. libwebrtc ends transport-wide feedback with one to three bytes all the same, to fill the last word.
        let padding = Int(body.uint8(at: count - 1))
        guard padding > 0, padding <= count else { throw .padding(padding) }
        body = body.extracting(0..<count - padding)
      }
      packets.append(try Packet(format: first & 0x1F, packetType: packetType, body: body))
      do { try reader.skip(4 + count) } catch { throw .length("RTCP packet type \(packetType)") }
    }
    return packets
  }

  /// Writes packets one behind the other. Reports first, as a compound datagram demands, is the caller's business.
  public static func write(_ packets: [Packet]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(packets.count * 32)
    for packet in packets { packet.write(to: &bytes) }
    return bytes
  }
}

extension RTCP.Packet {
  /// Reads one packet from what follows its 4-byte header.
  init(format: UInt8, packetType: UInt8, body: RawSpan) throws(MalformedPacket) {
    do {
      switch (packetType, format) {
      case (200, _): self = .senderReport(try RTCP.SenderReport(parsing: body, count: format))
      case (201, _): self = .receiverReport(try RTCP.ReceiverReport(parsing: body, count: format))
      case (202, _): self = .sourceDescription(try RTCP.SourceDescription(parsing: body, count: format))
      case (203, _): self = .goodbye(try RTCP.Goodbye(parsing: body, count: format))
      case (205, 1): self = .nack(try RTCP.Nack(parsing: body))
      case (205, 15): self = .transportFeedback(try RTCP.TransportFeedback(parsing: body))
      case (206, 1): self = .pictureLossIndication(try RTCP.PictureLossIndication(parsing: body))
      case (206, 4): self = .fullIntraRequest(try RTCP.FullIntraRequest(parsing: body))
      case (206, 15):
        if let remb = try RTCP.ReceiverEstimatedMaximumBitrate(parsing: body) {
          self = .receiverEstimatedMaximumBitrate(remb)
        } else {
          self = .unknown(RTCP.Unknown(format: format, packetType: packetType, body: Array(bytes: body)))
        }
      case (207, _): self = .extendedReport(try RTCP.ExtendedReport(parsing: body))
      default: self = .unknown(RTCP.Unknown(format: format, packetType: packetType, body: Array(bytes: body)))
      }
    } catch let error as MalformedPacket {
      throw error
    } catch {
      throw .truncated("the end of RTCP packet type \(packetType), format \(format)")
    }
  }

  func write(to bytes: inout [UInt8]) {
    let start = bytes.count
    let (format, packetType): (Int, UInt8)
    bytes += [0, 0, 0, 0]
    switch self {
    case .senderReport(let report): (format, packetType) = (report.write(to: &bytes), 200)
    case .receiverReport(let report): (format, packetType) = (report.write(to: &bytes), 201)
    case .sourceDescription(let description): (format, packetType) = (description.write(to: &bytes), 202)
    case .goodbye(let goodbye): (format, packetType) = (goodbye.write(to: &bytes), 203)
    case .nack(let nack):
      nack.write(to: &bytes)
      (format, packetType) = (1, 205)
    case .transportFeedback(let feedback):
      feedback.write(to: &bytes)
      (format, packetType) = (15, 205)
    case .pictureLossIndication(let indication):
      bytes.append(uint32: indication.senderSSRC)
      bytes.append(uint32: indication.mediaSSRC)
      (format, packetType) = (1, 206)
    case .fullIntraRequest(let request):
      request.write(to: &bytes)
      (format, packetType) = (4, 206)
    case .receiverEstimatedMaximumBitrate(let remb):
      remb.write(to: &bytes)
      (format, packetType) = (15, 206)
    case .extendedReport(let report):
      report.write(to: &bytes)
      (format, packetType) = (0, 207)
    case .unknown(let unknown):
      bytes += unknown.body
      (format, packetType) = (Int(unknown.format), unknown.packetType)
    }
    // Parts whose texts or lists end between words are padded with zeros, which each of those formats allows.
    while (bytes.count - start) % 4 != 0 { bytes.append(0) }
    let words = (bytes.count - start) / 4 - 1
    precondition(words <= 0xFFFF, "an RTCP packet holds at most 65,536 words")
    bytes[start] = 0x80 | UInt8(format)
    bytes[start + 1] = packetType
    bytes[start + 2] = UInt8(words >> 8)
    bytes[start + 3] = UInt8(words & 0xFF)
  }
}

extension [UInt8] {
  mutating func append(uint16 value: UInt16) {
    append(UInt8(truncatingIfNeeded: value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }

  mutating func append(uint24 value: UInt32) {
    append(UInt8(truncatingIfNeeded: value >> 16))
    append(uint16: UInt16(truncatingIfNeeded: value))
  }

  mutating func append(uint32 value: UInt32) {
    append(uint16: UInt16(truncatingIfNeeded: value >> 16))
    append(uint16: UInt16(truncatingIfNeeded: value))
  }

  mutating func append(uint64 value: UInt64) {
    append(uint32: UInt32(truncatingIfNeeded: value >> 32))
    append(uint32: UInt32(truncatingIfNeeded: value))
  }
}
