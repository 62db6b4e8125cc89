/// Sources that belong together: the line `a=ssrc-group` (RFC 5576 section 4.2).
public struct SourceGroup: Sendable, Hashable, CustomStringConvertible {
  /// `FID` joins media with its retransmission, `SIM` the layers of a simulcast.
  public var semantics: String
  public var ssrcs: [UInt32]

  public init(semantics: String, ssrcs: [UInt32]) {
    self.semantics = semantics
    self.ssrcs = ssrcs
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard let first = fields.first else { return nil }
    var ssrcs: [UInt32] = []
    for field in fields.dropFirst() {
      guard let ssrc = field.number(UInt32.self) else { return nil }
      ssrcs.append(ssrc)
    }
    self.init(semantics: String(first), ssrcs: ssrcs)
  }

  public var description: String { ([semantics] + ssrcs.map { "\($0)" }).joined(separator: " ") }
}

/// An attribute of one source: the line `a=ssrc` (RFC 5576 section 4.1).
public struct SourceAttribute: Sendable, Hashable, CustomStringConvertible {
  public var ssrc: UInt32
  /// Such as `cname` or `msid`; empty where a line only names the source.
  public var name: String
  public var value: String?

  public init(ssrc: UInt32, name: String, value: String? = nil) {
    self.ssrc = ssrc
    self.name = name
    self.value = value
  }

  init?(_ text: Substring) {
    let (first, rest) = text.cut(" ") ?? (text, "")
    guard let ssrc = first.number(UInt32.self) else { return nil }
    let attribute = Attribute(rest.trimmed)
    self.init(ssrc: ssrc, name: attribute.name, value: attribute.value)
  }

  public var description: String { name.isEmpty && value == nil ? "\(ssrc)" : "\(ssrc) \(Attribute(name: name, value: value))" }
}

/// The stream and track that a media description carries: the line `a=msid` (RFC 8830).
public struct MSID: Sendable, Hashable, CustomStringConvertible {
  /// The `MediaStream`'s identifier; `-` for none.
  public var stream: String
  /// The `MediaStreamTrack`'s identifier.
  public var track: String?

  public init(stream: String, track: String? = nil) {
    self.stream = stream
    self.track = track
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard fields.count == 1 || fields.count == 2 else { return nil }
    self.init(stream: String(fields[0]), track: fields.count == 2 ? String(fields[1]) : nil)
  }

  public var description: String { track.map { "\(stream) \($0)" } ?? stream }
}
