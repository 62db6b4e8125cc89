/// Which way a restricted stream or a simulcast goes, seen from who wrote the line.
public enum RIDDirection: String, Sendable, Hashable { case send, recv }

/// A stream with restrictions: the line `a=rid` (RFC 8851 section 4).
public struct RID: Sendable, Hashable, CustomStringConvertible {
  public var identifier: String
  public var direction: RIDDirection
  /// The payload types it may use; empty for all.
  public var formats: [UInt8]
  /// The restrictions, such as `max-width=1280`.
  public var restrictions: FormatParameters?

  public init(identifier: String, direction: RIDDirection, formats: [UInt8] = [], restrictions: FormatParameters? = nil) {
    self.identifier = identifier
    self.direction = direction
    self.formats = formats
    self.restrictions = restrictions
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard fields.count >= 2, let direction = RIDDirection(rawValue: String(fields[1])) else { return nil }
    var formats: [UInt8] = []
    var restrictions: [Substring] = []
    for part in fields.dropFirst(2).joined()[...].parts(";") {
      if let (name, value) = part.cut("="), name == "pt" {
        for format in value.parts(",") {
          guard let payloadType = format.payloadType else { return nil }
          formats.append(payloadType)
        }
      } else {
        restrictions.append(part)
      }
    }
    self.init(
      identifier: String(fields[0]), direction: direction, formats: formats,
      restrictions: restrictions.isEmpty ? nil : FormatParameters(restrictions.joined(separator: ";")))
  }

  public var description: String {
    var parts: [String] = []
    if !formats.isEmpty { parts.append("pt=" + formats.map { "\($0)" }.joined(separator: ",")) }
    if let restrictions { parts.append(restrictions.text) }
    return "\(identifier) \(direction.rawValue)" + (parts.isEmpty ? "" : " " + parts.joined(separator: ";"))
  }
}

/// The streams of a simulcast: the line `a=simulcast` (RFC 8853 section 5.1).
public struct Simulcast: Sendable, Hashable, CustomStringConvertible {
  /// One of the formats that a stream may have.
  public struct Alternative: Sendable, Hashable, CustomStringConvertible {
    /// The `a=rid` it refers to.
    public var rid: String
    /// Whether it starts paused: written with a tilde.
    public var isPaused: Bool

    public init(rid: String, isPaused: Bool = false) {
      self.rid = rid
      self.isPaused = isPaused
    }

    public var description: String { isPaused ? "~\(rid)" : rid }
  }

  /// The streams sent, each with its alternatives, preferred ones first.
  public var send: [[Alternative]]
  /// The streams received.
  public var receive: [[Alternative]]

  public init(send: [[Alternative]] = [], receive: [[Alternative]] = []) {
    self.send = send
    self.receive = receive
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard fields.count == 2 || fields.count == 4 else { return nil }
    self.init()
    for index in stride(from: 0, to: fields.count, by: 2) {
      let streams = fields[index + 1].parts(";").map { stream in
        stream.parts(",").map { name in
          name.utf8.first == UInt8(ascii: "~") ? Alternative(rid: String(name.dropFirst()), isPaused: true) : Alternative(rid: String(name))
        }
      }
      if streams.contains(where: \.isEmpty) { return nil }
      switch RIDDirection(rawValue: String(fields[index])) {
      case .send where send.isEmpty: send = streams
      case .recv where receive.isEmpty: receive = streams
      default: return nil
      }
    }
    if send.isEmpty, receive.isEmpty { return nil }
  }

  public var description: String {
    func list(_ name: RIDDirection, _ streams: [[Alternative]]) -> [String] {
      if streams.isEmpty { return [] }
      return [name.rawValue, streams.map { $0.map(\.description).joined(separator: ",") }.joined(separator: ";")]
    }
    return (list(.send, send) + list(.recv, receive)).joined(separator: " ")
  }
}
