import Bytes

extension RTCP {
  /// Asks for lost packets (generic NACK, RFC 4585 section 6.2.1).
  public struct Nack: Sendable, Equatable {
    /// Who asks.
    public var senderSSRC: UInt32
    /// The stream that misses packets.
    public var mediaSSRC: UInt32
    /// The sequence numbers missing. In ascending order (with wrap) they take the fewest bytes.
    public var sequenceNumbers: [UInt16]

    /// A request for these sequence numbers.
    public init(senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumbers: [UInt16]) {
      (self.senderSSRC, self.mediaSSRC, self.sequenceNumbers) = (senderSSRC, mediaSSRC, sequenceNumbers)
    }

    init(parsing body: RawSpan) throws(OutOfBounds) {
      var reader = ByteReader(body)
      senderSSRC = try reader.uint32()
      mediaSSRC = try reader.uint32()
      sequenceNumbers = []
      while !reader.isAtEnd {
        let packetIdentifier = try reader.uint16()
        sequenceNumbers.append(packetIdentifier)
        var following = try reader.uint16()
        var next = packetIdentifier
        while following != 0 {
          next &+= 1
          if following & 1 != 0 { sequenceNumbers.append(next) }
          following >>= 1
        }
      }
    }

    func write(to bytes: inout [UInt8]) {
      bytes.append(uint32: senderSSRC)
      bytes.append(uint32: mediaSSRC)
      var index = 0
      while index < sequenceNumbers.count {
        let packetIdentifier = sequenceNumbers[index]
        var following: UInt16 = 0
        index += 1
        while index < sequenceNumbers.count {
          let distance = sequenceNumbers[index] &- packetIdentifier
          guard (1...16).contains(distance) else { break }
          following |= 1 << (distance - 1)
          index += 1
        }
        bytes.append(uint16: packetIdentifier)
        bytes.append(uint16: following)
      }
    }
  }

  /// Says that a picture was lost: the sender is to send a key frame (RFC 4585 section 6.3.1).
  public struct PictureLossIndication: Sendable, Equatable {
    /// Who asks.
    public var senderSSRC: UInt32
    /// The video stream.
    public var mediaSSRC: UInt32

    /// An indication with these fields.
    public init(senderSSRC: UInt32, mediaSSRC: UInt32) { (self.senderSSRC, self.mediaSSRC) = (senderSSRC, mediaSSRC) }

    init(parsing body: RawSpan) throws(OutOfBounds) {
      var reader = ByteReader(body)
      senderSSRC = try reader.uint32()
      mediaSSRC = try reader.uint32()
    }
  }

  /// Asks for a full intra frame (RFC 5104 section 4.3.1).
  public struct FullIntraRequest: Sendable, Equatable {
    /// One stream asked of.
    public struct Entry: Sendable, Equatable {
      /// The video stream.
      public var ssrc: UInt32
      /// Counts requests: a repeated one has the same number and asks for nothing new.
      public var sequenceNumber: UInt8

      /// An entry with these fields.
      public init(ssrc: UInt32, sequenceNumber: UInt8) { (self.ssrc, self.sequenceNumber) = (ssrc, sequenceNumber) }
    }

    /// Who asks.
    public var senderSSRC: UInt32
    /// The streams asked of.
    public var entries: [Entry]

    /// A request with these fields.
    public init(senderSSRC: UInt32, entries: [Entry]) { (self.senderSSRC, self.entries) = (senderSSRC, entries) }

    init(parsing body: RawSpan) throws(OutOfBounds) {
      var reader = ByteReader(body)
      senderSSRC = try reader.uint32()
      try reader.skip(4)
      entries = []
      while !reader.isAtEnd {
        let ssrc = try reader.uint32()
        entries.append(Entry(ssrc: ssrc, sequenceNumber: try reader.uint8()))
        try reader.skip(3)
      }
    }

    func write(to bytes: inout [UInt8]) {
      bytes.append(uint32: senderSSRC)
      bytes.append(uint32: 0)
      for entry in entries {
        bytes.append(uint32: entry.ssrc)
        bytes.append(uint32: UInt32(entry.sequenceNumber) << 24)
      }
    }
  }

  /// The bitrate that a receiver believes its path to carry (draft-alvestrand-rmcat-remb).
  public struct ReceiverEstimatedMaximumBitrate: Sendable, Equatable {
    /// Who estimates.
    public var senderSSRC: UInt32
    /// Bits per second over all `ssrcs`. Written with 18 significant bits, rounded down.
    public var bitrate: UInt64
    /// The streams that share the bitrate, at most 255.
    public var ssrcs: [UInt32]

    private static let uniqueIdentifier: UInt32 = 0x5245_4D42  // "REMB"

    /// An estimate with these fields.
    public init(senderSSRC: UInt32, bitrate: UInt64, ssrcs: [UInt32]) {
      (self.senderSSRC, self.bitrate, self.ssrcs) = (senderSSRC, bitrate, ssrcs)
    }

    /// Nil when it is another application's message.
    init?(parsing body: RawSpan) throws(OutOfBounds) {
      var reader = ByteReader(body)
      senderSSRC = try reader.uint32()
      try reader.skip(4)
      guard try reader.uint32() == Self.uniqueIdentifier else { return nil }
      let count = try reader.uint8()
      let bits = try reader.uint24()
      let (mantissa, exponent) = (UInt64(bits & 0x3FFFF), Int(bits >> 18))
      // An exponent of up to 63 can ask for more than 64 bits hold: the most that they hold will do.
      bitrate = mantissa == 0 ? 0 : exponent > mantissa.leadingZeroBitCount ? .max : mantissa << UInt64(exponent)
      ssrcs = []
      for _ in 0..<count { ssrcs.append(try reader.uint32()) }
    }

    func write(to bytes: inout [UInt8]) {
      let exponent = max(0, 46 - bitrate.leadingZeroBitCount)
      bytes.append(uint32: senderSSRC)
      bytes.append(uint32: 0)
      bytes.append(uint32: Self.uniqueIdentifier)
      bytes.append(UInt8(min(ssrcs.count, 255)))
      bytes.append(uint24: UInt32(exponent) << 18 | UInt32(bitrate >> UInt64(exponent)))
      for ssrc in ssrcs.prefix(255) { bytes.append(uint32: ssrc) }
    }
  }
}
