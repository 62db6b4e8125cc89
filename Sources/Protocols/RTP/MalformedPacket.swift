/// An RTP or RTCP packet that does not keep to its format. The packet is to be discarded and counted.
public enum MalformedPacket: Error, Sendable, Equatable, CustomStringConvertible {
  /// The packet ends before the named field.
  case truncated(String)
  /// The version is not 2.
  case version(UInt8)
  /// The padding count in the last byte is zero or larger than what it pads.
  case padding(Int)
  /// A length field of the named part contradicts the bytes around it.
  case length(String)
  /// The named field holds a value that its format forbids.
  case value(String)

  public var description: String {
    switch self {
    case .truncated(let field): "packet ends before \(field)"
    case .version(let version): "version \(version) instead of 2"
    case .padding(let count): "padding count \(count) does not fit"
    case .length(let part): "length of \(part) does not fit"
    case .value(let field): "forbidden value in \(field)"
    }
  }
}
