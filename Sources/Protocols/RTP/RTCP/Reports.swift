import Bytes

extension RTCP {
  /// What a receiver says of one source (RFC 3550 section 6.4.1).
  public struct ReportBlock: Sendable, Equatable {
    /// The source reported on.
    public var ssrc: UInt32
    /// Share of packets lost since the last report, in 256ths.
    public var fractionLost: UInt8
    /// Packets lost since reception began; 24 bits, negative when duplicates arrived.
    public var packetsLost: Int32
    /// Highest sequence number received, with its count of cycles in the upper half.
    public var extendedHighestSequenceNumber: UInt32
    /// Interarrival jitter in time stamp units.
    public var jitter: UInt32
    /// Middle 32 bits of the NTP time in the last sender report of the source; 0 when there was none.
    public var lastSenderReport: UInt32
    /// Time from receiving that report to sending this block, in 65,536ths of a second; 0 when there was none.
    public var delaySinceLastSenderReport: UInt32

    /// A block with these fields.
    public init(
      ssrc: UInt32, fractionLost: UInt8 = 0, packetsLost: Int32 = 0, extendedHighestSequenceNumber: UInt32 = 0, jitter: UInt32 = 0,
      lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
    ) {
      self.ssrc = ssrc
      self.fractionLost = fractionLost
      self.packetsLost = packetsLost
      self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
      self.jitter = jitter
      self.lastSenderReport = lastSenderReport
      self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    static func list(_ reader: inout ByteReader, count: UInt8) throws(OutOfBounds) -> [ReportBlock] {
      var blocks: [ReportBlock] = []
      for _ in 0..<count {
        var block = ReportBlock(ssrc: try reader.uint32())
        block.fractionLost = try reader.uint8()
        let lost = try reader.uint24()
        block.packetsLost = Int32(bitPattern: lost << 8) >> 8
        block.extendedHighestSequenceNumber = try reader.uint32()
        block.jitter = try reader.uint32()
        block.lastSenderReport = try reader.uint32()
        block.delaySinceLastSenderReport = try reader.uint32()
        blocks.append(block)
      }
      return blocks
    }

    func write(to bytes: inout [UInt8]) {
      bytes.append(uint32: ssrc)
      bytes.append(fractionLost)
      bytes.append(uint24: UInt32(bitPattern: min(max(packetsLost, -0x80_0000), 0x7F_FFFF)))
      bytes.append(uint32: extendedHighestSequenceNumber)
      bytes.append(uint32: jitter)
      bytes.append(uint32: lastSenderReport)
      bytes.append(uint32: delaySinceLastSenderReport)
    }
  }

  /// What a sender says of itself, and of the sources that it hears (RFC 3550 section 6.4.1). Profile-specific extensions are dropped.
  public struct SenderReport: Sendable, Equatable {
    /// The sender.
    public var ssrc: UInt32
    /// When the report was sent.
    public var ntpTime: NTPTime
    /// The same instant on the stream's RTP clock.
    public var rtpTimestamp: UInt32
    /// Packets sent since the stream began.
    public var packetCount: UInt32
    /// Payload bytes sent since the stream began.
    public var octetCount: UInt32
    /// Sources heard, at most 31.
    public var reportBlocks: [ReportBlock]

    /// A report with these fields.
    public init(
      ssrc: UInt32, ntpTime: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32, reportBlocks: [ReportBlock] = []
    ) {
      self.ssrc = ssrc
      self.ntpTime = ntpTime
      self.rtpTimestamp = rtpTimestamp
      self.packetCount = packetCount
      self.octetCount = octetCount
      self.reportBlocks = reportBlocks
    }

    init(parsing body: RawSpan, count: UInt8) throws(OutOfBounds) {
      var reader = ByteReader(body)
      ssrc = try reader.uint32()
      ntpTime = NTPTime(bits: try reader.uint64())
      rtpTimestamp = try reader.uint32()
      packetCount = try reader.uint32()
      octetCount = try reader.uint32()
      reportBlocks = try ReportBlock.list(&reader, count: count)
    }

    func write(to bytes: inout [UInt8]) -> Int {
      bytes.append(uint32: ssrc)
      bytes.append(uint64: ntpTime.bits)
      bytes.append(uint32: rtpTimestamp)
      bytes.append(uint32: packetCount)
      bytes.append(uint32: octetCount)
      for block in reportBlocks.prefix(31) { block.write(to: &bytes) }
      return min(reportBlocks.count, 31)
    }
  }

  /// What somebody who sends no media says of the sources heard (RFC 3550 section 6.4.2). Profile-specific extensions are dropped.
  public struct ReceiverReport: Sendable, Equatable {
    /// Who reports.
    public var ssrc: UInt32
    /// Sources heard, at most 31.
    public var reportBlocks: [ReportBlock]

    /// A report with these fields.
    public init(ssrc: UInt32, reportBlocks: [ReportBlock] = []) { (self.ssrc, self.reportBlocks) = (ssrc, reportBlocks) }

    init(parsing body: RawSpan, count: UInt8) throws(OutOfBounds) {
      var reader = ByteReader(body)
      ssrc = try reader.uint32()
      reportBlocks = try ReportBlock.list(&reader, count: count)
    }

    func write(to bytes: inout [UInt8]) -> Int {
      bytes.append(uint32: ssrc)
      for block in reportBlocks.prefix(31) { block.write(to: &bytes) }
      return min(reportBlocks.count, 31)
    }
  }
}
