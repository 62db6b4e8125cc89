import Base
import Bytes

extension RTCP {
  /// Which packets of a transport arrived, and when (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1).
  public struct TransportFeedback: Sendable, Equatable {
    /// Unit of `deltas`: 250 µs.
    public static let tick = Interval.microseconds(250)
    /// Unit of `referenceTime`: 64 ms.
    public static let referenceTick = Interval.milliseconds(64)

    /// Who reports.
    public var senderSSRC: UInt32
    /// Any stream of the transport.
    public var mediaSSRC: UInt32
    /// Transport-wide sequence number of the first packet reported on.
    public var baseSequenceNumber: UInt16
    /// What the first delta counts from: signed 24 bits, in units of 64 ms, with an origin of the reporter's choice.
    public var referenceTime: Int32
    /// Counts the reports, so that a lost one is noticed.
    public var feedbackPacketCount: UInt8
    /// For each packet from `baseSequenceNumber` on, the ticks between its arrival and that of the one reported before it (the first:
    /// since `referenceTime`), or nil when it did not arrive. At most 65,535 packets.
    public private(set) var deltas: [Int16?]

    /// How the next delta's origin lies behind `referenceTime`, in ticks.
    private var elapsed: Int64 = 0

    /// A report without packets, whose first will be `baseSequenceNumber`, with the time of its arrival to set the reference.
    public init(
      senderSSRC: UInt32, mediaSSRC: UInt32, baseSequenceNumber: UInt16, feedbackPacketCount: UInt8, firstArrival: Instant
    ) {
      self.senderSSRC = senderSSRC
      self.mediaSSRC = mediaSSRC
      self.baseSequenceNumber = baseSequenceNumber
      self.feedbackPacketCount = feedbackPacketCount
      let (quotient, remainder) = firstArrival.nanoseconds.quotientAndRemainder(dividingBy: Self.referenceTick.nanoseconds)
      referenceTime = Int32(truncatingIfNeeded: (quotient - (remainder < 0 ? 1 : 0)) << 8) >> 8
      origin = quotient - (remainder < 0 ? 1 : 0)
      deltas = []
    }

    /// `referenceTime` before it was cut to 24 bits; only while a report is being filled.
    private var origin: Int64 = 0

    /// Adds the next packet in sequence: its arrival, or nil when it is missing. Returns false, and adds nothing, when the report is full or
    /// the arrival lies more than 8 s from the one before: then a new report has to begin with this packet.
    public mutating func append(arrival: Instant?) -> Bool {
      guard deltas.count < 0xFFFF else { return false }
      guard let arrival else {
        deltas.append(nil)
        return true
      }
      let sinceReference = arrival.nanoseconds &- origin &* Self.referenceTick.nanoseconds
      let ticks = (sinceReference &+ Self.tick.nanoseconds / 2).flooredQuotient(Self.tick.nanoseconds)
      guard let delta = Int16(exactly: ticks &- elapsed) else { return false }
      elapsed = ticks
      deltas.append(delta)
      return true
    }

    /// Whether a packet arrived and how long after the reporter's origin of `referenceTime`: what `deltas` add up to.
    public var arrivals: [Interval?] {
      var time = Self.referenceTick * Int64(referenceTime)
      return deltas.map { delta in
        guard let delta else { return nil }
        time += Self.tick * Int64(delta)
        return time
      }
    }

    public static func == (a: Self, b: Self) -> Bool {
      a.senderSSRC == b.senderSSRC && a.mediaSSRC == b.mediaSSRC && a.baseSequenceNumber == b.baseSequenceNumber
        && a.referenceTime == b.referenceTime && a.feedbackPacketCount == b.feedbackPacketCount && a.deltas == b.deltas
    }
  }
}

extension RTCP.TransportFeedback {
  /// The packet status symbols.
  private enum Symbol: UInt8 { case notReceived, smallDelta, largeDelta }

  private static func symbol(_ delta: Int16?) -> Symbol {
    guard let delta else { return .notReceived }
    return (0...255).contains(delta) ? .smallDelta : .largeDelta
  }

  init(parsing body: RawSpan) throws(MalformedPacket) {
    do {
      var reader = ByteReader(body)
      senderSSRC = try reader.uint32()
      mediaSSRC = try reader.uint32()
      baseSequenceNumber = try reader.uint16()
      let count = Int(try reader.uint16())
      let time = try reader.uint32()
      referenceTime = Int32(bitPattern: time) >> 8
      feedbackPacketCount = UInt8(truncatingIfNeeded: time)
      var symbols: [UInt8] = []
      while symbols.count < count {
        let chunk = try reader.uint16()
        let missing = count - symbols.count
        if chunk & 0x8000 == 0 {
          symbols.append(contentsOf: repeatElement(UInt8(chunk >> 13 & 3), count: min(Int(chunk & 0x1FFF), missing)))
          // A run of nothing would let a long packet be walked in vain.
          if chunk & 0x1FFF == 0 { throw MalformedPacket.value("a run length chunk") }
        } else if chunk & 0x4000 == 0 {
          for bit in 0..<min(14, missing) { symbols.append(UInt8(chunk >> (13 - UInt16(bit)) & 1)) }
        } else {
          for pair in 0..<min(7, missing) { symbols.append(UInt8(chunk >> (12 - 2 * UInt16(pair)) & 3)) }
        }
      }
      deltas = []
      deltas.reserveCapacity(count)
      for symbol in symbols {
        switch Symbol(rawValue: symbol) {
        case .notReceived: deltas.append(nil)
        case .smallDelta: deltas.append(Int16(try reader.uint8()))
        case .largeDelta: deltas.append(Int16(bitPattern: try reader.uint16()))
        case nil: throw MalformedPacket.value("a packet status")
        }
      }
    } catch let error as MalformedPacket {
      throw error
    } catch {
      throw .truncated("the end of the transport feedback")
    }
  }

  func write(to bytes: inout [UInt8]) {
    bytes.append(uint32: senderSSRC)
    bytes.append(uint32: mediaSSRC)
    bytes.append(uint16: baseSequenceNumber)
    bytes.append(uint16: UInt16(deltas.count))
    bytes.append(uint32: UInt32(bitPattern: referenceTime) << 8 | UInt32(feedbackPacketCount))
    var index = 0
    while index < deltas.count {
      let first = Self.symbol(deltas[index])
      var run = 1
      while index + run < deltas.count, run < 0x1FFF, Self.symbol(deltas[index + run]) == first { run += 1 }
      // A run wins when it covers more packets than a vector would, or all that are left.
      var vector = 0
      while index + vector < deltas.count, vector < 14, Self.symbol(deltas[index + vector]) != .largeDelta { vector += 1 }
      let isOneBit = vector == 14 || index + vector == deltas.count
      if run >= (isOneBit ? 14 : 7) || index + run == deltas.count {
        bytes.append(uint16: UInt16(first.rawValue) << 13 | UInt16(run))
        index += run
      } else if isOneBit {
        var chunk: UInt16 = 0x8000
        for bit in 0..<vector where deltas[index + bit] != nil { chunk |= 1 << (13 - UInt16(bit)) }
        bytes.append(uint16: chunk)
        index += vector
      } else {
        var chunk: UInt16 = 0xC000
        let pairs = min(7, deltas.count - index)
        for pair in 0..<pairs { chunk |= UInt16(Self.symbol(deltas[index + pair]).rawValue) << (12 - 2 * UInt16(pair)) }
        bytes.append(uint16: chunk)
        index += pairs
      }
    }
    for case .some(let delta) in deltas {
      if Self.symbol(delta) == .smallDelta { bytes.append(UInt8(delta)) } else { bytes.append(uint16: UInt16(bitPattern: delta)) }
    }
  }
}

extension Int64 {
  /// The quotient rounded towards negative infinity.
  func flooredQuotient(_ divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
