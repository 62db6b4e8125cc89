import Bytes

/// Messages of the Data Channel Establishment Protocol (RFC 8832 section 5).
enum Establishment {
  case open(ChannelOptions)
  case acknowledgment

  private static let openType: UInt8 = 3
  private static let acknowledgmentType: UInt8 = 2

  /// Bit of the channel type that says unordered.
  private static let unorderedBit: UInt8 = 0x80
  private enum Reliability {
    static let reliable: UInt8 = 0
    static let retransmissions: UInt8 = 1
    static let lifeTime: UInt8 = 2
  }

  /// Not a message of this protocol.
  struct Malformed: Error {}

  /// Reads a message.
  init(_ bytes: RawSpan) throws(Malformed) {
    var reader = ByteReader(bytes)
    do {
      switch try reader.uint8() {
      case Self.acknowledgmentType: self = .acknowledgment
      case Self.openType:
        var options = ChannelOptions()
        let type = try reader.uint8()
        options.priority = try reader.uint16()
        let parameter = Int(clamping: try reader.uint32())
        let (labelCount, protocolCount) = (Int(try reader.uint16()), Int(try reader.uint16()))
        options.isOrdered = type & Self.unorderedBit == 0
        switch type & ~Self.unorderedBit {
        case Reliability.reliable: break
        case Reliability.retransmissions: options.maxRetransmits = parameter
        case Reliability.lifeTime: options.maxPacketLifeTime = parameter
        default: throw Malformed()
        }
        options.label = String(decoding: try reader.array(labelCount), as: UTF8.self)
        options.protocolName = String(decoding: try reader.array(protocolCount), as: UTF8.self)
        self = .open(options)
      default: throw Malformed()
      }
    } catch { throw Malformed() }
  }

  /// The message's bytes. Label and protocol name have been checked to fit.
  func encoded() -> [UInt8] {
    guard case .open(let options) = self else { return [Self.acknowledgmentType] }
    var type = options.isOrdered ? 0 : Self.unorderedBit
    var parameter = 0
    if let count = options.maxRetransmits {
      (type, parameter) = (type | Reliability.retransmissions, count)
    } else if let time = options.maxPacketLifeTime {
      (type, parameter) = (type | Reliability.lifeTime, time)
    }
    let (label, name) = (Array(options.label.utf8), Array(options.protocolName.utf8))
    return [Self.openType, type] + networkOrder(options.priority) + networkOrder(UInt32(clamping: parameter))
      + networkOrder(UInt16(clamping: label.count)) + networkOrder(UInt16(clamping: name.count)) + label + name
  }
}
