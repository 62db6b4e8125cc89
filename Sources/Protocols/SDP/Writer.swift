extension SessionDescription: CustomStringConvertible {
  /// The description's text, each line ended by CRLF, in the order of RFC 8866 section 5. `init(parsing:)` reads it back as an equal value.
  public var description: String {
    var writer = Writer()
    writer.write(self)
    return writer.text
  }
}

/// Puts lines together.
struct Writer {
  private(set) var text = ""

  /// Writes a line. A value with a line break in it, which only a program can make, must not begin a line of its own.
  private mutating func line(_ type: Character, _ value: some CustomStringConvertible) {
    text.append(type)
    text += "="
    let value = value.description
    if value.utf8.contains(where: { $0 == 10 || $0 == 13 }) {
      text += String(decoding: value.utf8.filter { $0 != 10 && $0 != 13 }, as: UTF8.self)
    } else {
      text += value
    }
    text += "\r\n"
  }

  private mutating func attribute(_ name: String, _ value: (some CustomStringConvertible)?) {
    if let value { line("a", "\(name):\(value)") }
  }

  private mutating func attributes(_ name: String, _ values: [some CustomStringConvertible]) {
    for value in values { attribute(name, value) }
  }

  private mutating func flag(_ name: String, _ isSet: Bool) {
    if isSet { line("a", name) }
  }

  /// Writes those of `lines` whose type is one of `types`, in that order.
  private mutating func others(_ lines: [Line], _ types: String) {
    for type in types { for other in lines where other.type == type { line(type, other.value) } }
  }

  mutating func write(_ session: SessionDescription) {
    line("v", "0")
    line("o", session.origin)
    line("s", session.sessionName)
    others(session.otherLines, "iuep")
    if let connection = session.connection { line("c", connection) }
    for bandwidth in session.bandwidth { line("b", bandwidth) }
    for time in session.times { line("t", time) }
    others(session.otherLines, "rzk")
    for other in session.otherLines where !"iueprzk".contains(other.type) { line(other.type, other.value) }
    attributes("group", session.groups)
    flag("extmap-allow-mixed", session.extmapAllowMixed)
    attribute("msid-semantic", session.msidSemantic)
    flag("ice-lite", session.isICELite)
    ice(session.usernameFragment, session.password, session.iceOptions)
    attributes("fingerprint", session.fingerprints)
    attribute("setup", session.setup?.rawValue)
    if let direction = session.direction { line("a", direction.rawValue) }
    for attribute in session.unknown { line("a", attribute) }
    for media in session.media { write(media, in: session) }
  }

  private mutating func ice(_ usernameFragment: String?, _ password: String?, _ options: [String]) {
    attribute("ice-ufrag", usernameFragment)
    attribute("ice-pwd", password)
    if !options.isEmpty { attribute("ice-options", options.joined(separator: " ")) }
  }

  private mutating func write(_ media: MediaDescription, in session: SessionDescription) {
    let port = media.portCount.map { "\(media.port)/\($0)" } ?? "\(media.port)"
    line("m", (["\(media.kind)", port, media.protocolName] + media.formats).joined(separator: " "))
    others(media.otherLines, "i")
    if let connection = media.connection { line("c", connection) }
    for bandwidth in media.bandwidth { line("b", bandwidth) }
    others(media.otherLines, "k")
    for other in media.otherLines where !"ik".contains(other.type) { line(other.type, other.value) }
    attribute("rtcp", media.rtcpPort)
    attributes("candidate", media.candidates.map { Writer.dropPrefix("candidate:", $0) })
    flag("end-of-candidates", media.hasEndOfCandidates)
    ice(media.usernameFragment, media.password, media.iceOptions)
    attributes("fingerprint", media.fingerprints)
    attribute("setup", media.setup?.rawValue)
    attribute("mid", media.mid)
    flag("bundle-only", media.isBundleOnly)
    attributes("extmap", media.headerExtensions)
    flag("extmap-allow-mixed", media.extmapAllowMixed)
    // Data channels have no direction (RFC 8829 section 5.2.1); what says so all the same is kept.
    if media.kind != .application || media.direction != session.direction ?? .sendrecv { line("a", media.direction.rawValue) }
    attributes("msid", media.msids)
    flag("rtcp-mux", media.isRTCPMux)
    flag("rtcp-mux-only", media.isRTCPMuxOnly)
    flag("rtcp-rsize", media.isRTCPReducedSize)
    formats(media)
    attribute("ptime", media.ptime.map(Writer.number))
    attribute("maxptime", media.maxptime.map(Writer.number))
    attributes("rid", media.rids)
    attribute("simulcast", media.simulcast)
    attributes("ssrc-group", media.sourceGroups)
    attributes("ssrc", media.sources)
    attribute("sctp-port", media.sctpPort)
    attribute("max-message-size", media.maxMessageSize)
    for attribute in media.unknown { line("a", attribute) }
  }

  /// All that belongs to a payload type stands together, as browsers write it.
  private mutating func formats(_ media: MediaDescription) {
    var written: Set<UInt8> = []
    attributes("rtcp-fb", media.feedback.filter { $0.payloadType == nil })
    for map in media.rtpMaps {
      attribute("rtpmap", map)
      guard written.insert(map.payloadType).inserted else { continue }
      attributes("rtcp-fb", media.feedback.filter { $0.payloadType == map.payloadType })
      attribute("fmtp", media.formatParameters[map.payloadType].map { "\(map.payloadType) \($0)" })
    }
    attributes("rtcp-fb", media.feedback.filter { $0.payloadType.map { !written.contains($0) } ?? false })
    for (payloadType, parameters) in media.formatParameters.sorted(by: { $0.key < $1.key }) where !written.contains(payloadType) {
      attribute("fmtp", "\(payloadType) \(parameters)")
    }
  }

  private static func number(_ value: Double) -> String { Int(exactly: value).map(String.init) ?? "\(value)" }

  private static func dropPrefix(_ prefix: String, _ text: String) -> Substring {
    text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
  }
}
