/// What a payload type stands for: the line `a=rtpmap` (RFC 8866 section 6.6).
public struct RTPMap: Sendable, Hashable, CustomStringConvertible {
  /// 0 to 127.
  public var payloadType: UInt8
  /// The codec's name as written; names compare without regard to case.
  public var encodingName: String
  /// In Hz.
  public var clockRate: Int
  /// For audio; nil means one.
  public var channels: Int?

  public init(payloadType: UInt8, encodingName: String, clockRate: Int, channels: Int? = nil) {
    self.payloadType = payloadType
    self.encodingName = encodingName
    self.clockRate = clockRate
    self.channels = channels
  }

  init?(_ text: Substring) {
    guard let (first, rest) = text.cut(" "), let payloadType = first.payloadType else { return nil }
    let fields = rest.trimmed.parts("/")
    guard fields.count == 2 || fields.count == 3, let clockRate = fields[1].number(Int32.self), clockRate > 0 else { return nil }
    var channels: Int?
    if fields.count == 3 {
      guard let count = fields[2].number(UInt8.self), count > 0 else { return nil }
      channels = Int(count)
    }
    self.init(payloadType: payloadType, encodingName: String(fields[0]), clockRate: Int(clockRate), channels: channels)
  }

  public var description: String { "\(payloadType) \(encodingName)/\(clockRate)" + (channels.map { "/\($0)" } ?? "") }
}

/// A kind of feedback that the sender may expect: the line `a=rtcp-fb` (RFC 4585 section 4.2).
public struct RTCPFeedback: Sendable, Hashable, CustomStringConvertible {
  /// Nil for `*`: all payload types.
  public var payloadType: UInt8?
  /// Such as `nack pli`.
  public var value: String

  public init(payloadType: UInt8?, value: String) {
    self.payloadType = payloadType
    self.value = value
  }

  init?(_ text: Substring) {
    guard let (first, rest) = text.cut(" ") else { return nil }
    let payloadType = first.payloadType
    guard payloadType != nil || first == "*" else { return nil }
    self.init(payloadType: payloadType, value: String(rest.trimmed))
  }

  public var description: String { "\(payloadType.map { "\($0)" } ?? "*") \(value)" }
}
