import Bytes

/// Why bytes are not a DNS message.
public enum MessageError: Error, Equatable, Sendable {
  /// The message ends within a field.
  case truncated
  /// A name has more than 255 bytes.
  case nameTooLong
  /// A label is of a kind that RFC 1035 reserves.
  case reservedLabel
  /// A compression pointer does not point backwards.
  case pointerLoop
}

/// Reads with `MessageError` in place of `OutOfBounds`.
func field<T: ~Copyable>(_ read: () throws(OutOfBounds) -> T) throws(MessageError) -> T {
  do { return try read() } catch { throw .truncated }
}

/// A DNS message (RFC 1035 section 4), with the bits that multicast DNS reads differently (RFC 6762 section 18).
public struct Message: Sendable, Equatable {
  /// The record types that address look-up needs.
  public enum RecordType {
    /// An IPv4 address.
    public static let a: UInt16 = 1
    /// An IPv6 address.
    public static let aaaa: UInt16 = 28
    /// Any type, in questions.
    public static let any: UInt16 = 255
  }

  /// A question.
  public struct Question: Sendable, Equatable {
    /// The name asked for.
    public var name: Name
    /// The record type asked for.
    public var type: UInt16
    /// Whether the answer may come by unicast (RFC 6762 section 5.4).
    public var wantsUnicast: Bool

    /// A question in class IN.
    public init(name: Name, type: UInt16, wantsUnicast: Bool = false) {
      (self.name, self.type, self.wantsUnicast) = (name, type, wantsUnicast)
    }
  }

  /// A resource record.
  public struct Record: Sendable, Equatable {
    /// The name it is for.
    public var name: Name
    /// Its type.
    public var type: UInt16
    /// Whether it replaces what was known of this name and type (RFC 6762 section 10.2).
    public var flushesCache: Bool
    /// How many seconds it holds; 0 takes it back.
    public var timeToLive: UInt32
    /// Its data as it stands in the message.
    public var data: [UInt8]

    /// A record in class IN.
    public init(name: Name, type: UInt16, flushesCache: Bool, timeToLive: UInt32, data: [UInt8]) {
      (self.name, self.type, self.flushesCache, self.timeToLive, self.data) = (name, type, flushesCache, timeToLive, data)
    }
  }

  /// Matches answers to questions in unicast DNS; 0 in multicast DNS.
  public var identifier: UInt16 = 0
  /// Whether it answers.
  public var isResponse: Bool
  /// Response code and opcode; 0 in all that multicast DNS heeds.
  public var code: UInt8 = 0
  /// The questions of class IN.
  public var questions: [Question] = []
  /// The answers of class IN.
  public var answers: [Record] = []
  /// Records of the authority and additional sections, class IN.
  public var additional: [Record] = []

  /// A message without questions and answers.
  public init(isResponse: Bool) { self.isResponse = isResponse }

  /// Reads a message. Questions and records of another class than IN are left out.
  public init(parsing bytes: RawSpan) throws(MessageError) {
    var reader = ByteReader(bytes)
    var header = (identifier: UInt16(0), flags: UInt16(0), counts: [0, 0, 0, 0])
    header.identifier = try field { () throws(OutOfBounds) in try reader.uint16() }
    header.flags = try field { () throws(OutOfBounds) in try reader.uint16() }
    for index in 0..<4 { header.counts[index] = Int(try field { () throws(OutOfBounds) in try reader.uint16() }) }
    self.init(isResponse: header.flags & 0x8000 != 0)
    identifier = header.identifier
    code = UInt8(header.flags >> 11 & 0xF | header.flags & 0xF)
    for _ in 0..<header.counts[0] {
      let name = try Name(&reader)
      let (type, kind) = try field { () throws(OutOfBounds) in (try reader.uint16(), try reader.uint16()) }
      if kind & 0x7FFF == 1 || kind & 0x7FFF == 255 { questions.append(Question(name: name, type: type, wantsUnicast: kind & 0x8000 != 0)) }
    }
    for section in 1...3 {
      for _ in 0..<header.counts[section] {
        guard let record = try Message.record(&reader) else { continue }
        if section == 1 { answers.append(record) } else { additional.append(record) }
      }
    }
  }

  @_lifetime(reader: copy reader)
  private static func record(_ reader: inout ByteReader) throws(MessageError) -> Record? {
    let name = try Name(&reader)
    let (type, kind) = try field { () throws(OutOfBounds) in (try reader.uint16(), try reader.uint16()) }
    let timeToLive = try field { () throws(OutOfBounds) in try reader.uint32() }
    let length = Int(try field { () throws(OutOfBounds) in try reader.uint16() })
    let data = try field { () throws(OutOfBounds) in try reader.array(length) }
    guard kind & 0x7FFF == 1 else { return nil }
    return Record(name: name, type: type, flushesCache: kind & 0x8000 != 0, timeToLive: timeToLive, data: data)
  }

  /// The message's bytes, without compression.
  public func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }
    func append(_ record: Record) {
      record.name.write(to: &bytes)
      append(record.type)
      append(record.flushesCache ? 0x8001 : 1)
      append(UInt16(record.timeToLive >> 16))
      append(UInt16(truncatingIfNeeded: record.timeToLive))
      append(UInt16(record.data.count))
      bytes += record.data
    }
    append(identifier)
    append(isResponse ? 0x8400 : 0)  // a response in multicast DNS is authoritative
    for count in [questions.count, answers.count, 0, additional.count] { append(UInt16(count)) }
    for question in questions {
      question.name.write(to: &bytes)
      append(question.type)
      append(question.wantsUnicast ? 0x8001 : 1)
    }
    for record in answers + additional { append(record) }
    return bytes
  }
}
