import SDP

/// Which payload type stands for which codec, over the whole bundle and the whole life of a connection (RFC 8829 section 5.2.2: a payload type
/// once used keeps its meaning in later offers).
struct PayloadTypes: Sendable {
  private var numbers: [String: UInt8] = [:]

  private static func key(_ name: String, _ clockRate: Int, _ channelCount: Int?, _ parameters: String) -> String {
    let lower = name.lowercased()
    let key = "\(lower)/\(clockRate)/\(channelCount ?? 1)"
    switch lower {
    case "rtx": return key + ";\(CodecCapability.parameter("apt", in: parameters) ?? "")"
    case "h264":
      // The level may differ: it is the same codec.
      let profile = H264Profile(FormatParameters(parameters)).map { "\($0.profile)" } ?? parameters
      return key + ";\(CodecCapability.parameter("packetization-mode", in: parameters) ?? "0");\(profile)"
    default: return key
    }
  }

  /// The number for `capability` in an offer: the one in use, else its preferred one, else a free dynamic one. Nil when all are taken.
  mutating func number(for capability: CodecCapability) -> UInt8? {
    number(
      key: PayloadTypes.key(capability.name, capability.clockRate, capability.channelCount, capability.parameters),
      preferred: capability.preferredPayloadType)
  }

  /// The number for the retransmission format of payload type `associated`.
  mutating func retransmissionNumber(for associated: UInt8) -> UInt8? {
    number(key: PayloadTypes.key("rtx", 90_000, nil, "apt=\(associated)"), preferred: associated &+ 1)
  }

  /// Notes that the peer's description gave `number` to a codec: later offers follow it.
  mutating func note(_ number: UInt8, name: String, clockRate: Int, channelCount: Int?, parameters: String) {
    for (other, used) in numbers where used == number { numbers[other] = nil }
    numbers[PayloadTypes.key(name, clockRate, channelCount, parameters)] = number
  }

  private mutating func number(key: String, preferred: UInt8) -> UInt8? {
    if let known = numbers[key] { return known }
    let taken = Set(numbers.values)
    // Seven bits; and 64 to 95 would be taken for RTCP where both share a port (RFC 5761 section 4).
    let usable = [preferred].filter { $0 <= 127 && !(64...95).contains($0) } + Array(96...127) + Array(35...63)
    let free = usable.first { !taken.contains($0) }
    numbers[key] = free
    return free
  }
}
