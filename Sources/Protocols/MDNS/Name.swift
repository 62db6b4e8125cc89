import Bytes

/// A domain name. Compared without regard to ASCII case (RFC 6762 section 16); written as given.
public struct Name: Sendable, Hashable, CustomStringConvertible {
  /// The labels as given, without the root. Each has 1 to 63 bytes.
  public let labels: [[UInt8]]

  /// Reads a dotted name, with or without a dot at its end. Nil when a label is empty or longer than 63 bytes, or all together take more than 255.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    let trimmed = bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes[...]
    self.init(labels: trimmed.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init))
  }

  private init?(labels: [[UInt8]]) {
    guard labels.allSatisfy({ (1...63).contains($0.count) }), labels.reduce(1, { $0 + 1 + $1.count }) <= 255 else { return nil }
    self.labels = labels
  }

  /// Reads a name from a message (RFC 1035 section 4.1.4). A compression pointer may only point to before the place where the part being read began, so it ends.
  @_lifetime(reader: copy reader)
  init(_ reader: inout ByteReader) throws(MessageError) {
    var labels: [[UInt8]] = []
    var size = 1
    /// Reads up to the root or a pointer, whose target it gives back.
    @_lifetime(part: copy part)
    func read(_ part: inout ByteReader) throws(MessageError) -> Int? {
      while true {
        let length = try field { () throws(OutOfBounds) in try part.uint8() }
        switch length >> 6 {
        case 0:
          if length == 0 { return nil }
          size += 1 + Int(length)
          guard size <= 255 else { throw .nameTooLong }
          labels.append(try field { () throws(OutOfBounds) in try part.array(Int(length)) })
        case 3: return Int(length & 0x3F) << 8 | Int(try field { () throws(OutOfBounds) in try part.uint8() })
        default: throw .reservedLabel
        }
      }
    }
    var limit = reader.offset
    var pointer = try read(&reader)
    while let target = pointer {
      guard target < limit else { throw .pointerLoop }
      limit = target
      var part = ByteReader(reader.bytes)
      try field { () throws(OutOfBounds) in try part.skip(target) }
      pointer = try read(&part)
    }
    self.labels = labels
  }

  /// Appends the name, uncompressed, to `bytes`.
  func write(to bytes: inout [UInt8]) {
    for label in labels {
      bytes.append(UInt8(label.count))
      bytes += label
    }
    bytes.append(0)
  }

  /// The name with dots between its labels and none at its end.
  public var description: String { labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".") }

  private static func folded(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

  public static func == (a: Name, b: Name) -> Bool {
    a.labels.count == b.labels.count
      && zip(a.labels, b.labels).allSatisfy { a, b in a.count == b.count && zip(a, b).allSatisfy { folded($0) == folded($1) } }
  }

  public func hash(into hasher: inout Hasher) {
    for label in labels { for byte in label { hasher.combine(Name.folded(byte)) } }
  }
}
