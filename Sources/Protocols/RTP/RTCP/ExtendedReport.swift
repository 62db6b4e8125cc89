import Bytes

extension RTCP {
  /// Extended reports (RFC 3611): here those that let a mere receiver learn the round-trip time.
  public struct ExtendedReport: Sendable, Equatable {
    /// One answer to a receiver reference time.
    public struct Delay: Sendable, Equatable {
      /// The receiver whose reference time is answered.
      public var ssrc: UInt32
      /// Middle 32 bits of that reference time.
      public var lastReceiverReport: UInt32
      /// Time since it was received, in 65,536ths of a second.
      public var delaySinceLastReceiverReport: UInt32

      /// An answer with these fields.
      public init(ssrc: UInt32, lastReceiverReport: UInt32, delaySinceLastReceiverReport: UInt32) {
        self.ssrc = ssrc
        self.lastReceiverReport = lastReceiverReport
        self.delaySinceLastReceiverReport = delaySinceLastReceiverReport
      }
    }

    /// One report block.
    public enum Block: Sendable, Equatable {
      /// RRTR: when this report was sent, by its sender's clock (section 4.4).
      case receiverReferenceTime(NTPTime)
      /// DLRR: the answers to reference times (section 4.5).
      case delaySinceLastReceiverReport([Delay])
      /// Any other block, kept as it came; the count of its content is a multiple of four.
      case unknown(type: UInt8, typeSpecific: UInt8, content: [UInt8])
    }

    /// Who reports.
    public var ssrc: UInt32
    /// The blocks, in their order.
    public var blocks: [Block]

    /// A report with these fields.
    public init(ssrc: UInt32, blocks: [Block]) { (self.ssrc, self.blocks) = (ssrc, blocks) }

    init(parsing body: RawSpan) throws(OutOfBounds) {
      var reader = ByteReader(body)
      ssrc = try reader.uint32()
      blocks = []
      while !reader.isAtEnd {
        let (type, typeSpecific) = (try reader.uint8(), try reader.uint8())
        let count = 4 * Int(try reader.uint16())
        var content = ByteReader(try reader.span(count))
        switch (type, count) {
        case (4, 8): blocks.append(.receiverReferenceTime(NTPTime(bits: try content.uint64())))
        case (5, _) where count % 12 == 0:
          var delays: [Delay] = []
          while !content.isAtEnd {
            delays.append(
              Delay(
                ssrc: try content.uint32(), lastReceiverReport: try content.uint32(), delaySinceLastReceiverReport: try content.uint32()))
          }
          blocks.append(.delaySinceLastReceiverReport(delays))
        default: blocks.append(.unknown(type: type, typeSpecific: typeSpecific, content: content.rest()))
        }
      }
    }

    func write(to bytes: inout [UInt8]) {
      bytes.append(uint32: ssrc)
      for block in blocks {
        switch block {
        case .receiverReferenceTime(let time):
          bytes.append(uint32: 0x0400_0002)
          bytes.append(uint64: time.bits)
        case .delaySinceLastReceiverReport(let delays):
          bytes.append(uint16: 0x0500)
          bytes.append(uint16: UInt16(delays.count * 3))
          for delay in delays {
            bytes.append(uint32: delay.ssrc)
            bytes.append(uint32: delay.lastReceiverReport)
            bytes.append(uint32: delay.delaySinceLastReceiverReport)
          }
        case .unknown(let type, let typeSpecific, let content):
          precondition(content.count % 4 == 0, "RTCP counts in 32-bit words")
          bytes.append(type)
          bytes.append(typeSpecific)
          bytes.append(uint16: UInt16(content.count / 4))
          bytes += content
        }
      }
    }
  }
}
