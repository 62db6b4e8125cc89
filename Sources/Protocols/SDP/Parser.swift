extension SessionDescription {
  /// Reads a session description whose lines end in CRLF, LF or CR.
  ///
  /// - Throws: `ParseError` for a line that is not `letter=value`, for missing `v=`, `o=` or `s=`, and for an attribute known here whose
  ///   value makes no sense. Everything unknown is kept.
  public init(parsing text: String) throws(ParseError) {
    var parser = Parser()
    var number = 0
    var start = text.utf8.startIndex
    var afterCarriageReturn = false
    // Lines are cut at bytes: to Swift, CRLF is a single character.
    while true {
      let end = text.utf8[start...].firstIndex { $0 == 10 || $0 == 13 } ?? text.utf8.endIndex
      let isRestOfCRLF = afterCarriageReturn && end == start && end < text.utf8.endIndex && text.utf8[end] == 10
      if !isRestOfCRLF {
        number += 1
        try parser.read(Substring(text.utf8[start..<end]), number: number)
      }
      guard end < text.utf8.endIndex else { break }
      afterCarriageReturn = text.utf8[end] == 13
      start = text.utf8.index(after: end)
    }
    self = try parser.finish(number: number)
  }
}

/// Takes a description's lines one by one.
struct Parser {
  private var hasVersion = false
  private var hasName = false
  private var hasTimes = false
  private var origin: Origin?
  /// Its origin stands in for the one that is read.
  private var session = SessionDescription(origin: Origin(sessionIdentifier: 0, sessionVersion: 0))
  private var media: MediaDescription?
  private var number = 0
  private var line: Substring = ""

  private func error(_ reason: String) -> ParseError { ParseError(line: number, text: String(line), reason: reason) }

  private func require<Value>(_ value: Value?, _ reason: String) throws(ParseError) -> Value {
    guard let value else { throw error(reason) }
    return value
  }

  mutating func read(_ line: Substring, number: Int) throws(ParseError) {
    if line.isEmpty { return }
    self.line = line
    self.number = number
    guard let (type, value) = line.cut("="), type.utf8.count == 1, let letter = type.first, letter.isLetter else {
      throw error("a line is a letter, “=” and a value")
    }
    guard hasVersion || letter == "v" else { throw error("a description begins with v=0") }
    switch letter {
    case "v":
      guard !hasVersion, value == "0" else { throw error(hasVersion ? "a second v=" : "only version 0 is known") }
      hasVersion = true
    case "m":
      closeMedia()
      media = try mediaLine(value)
    case "a": try attribute(value)
    case "c":
      let connection = try require(Connection(value), "c= holds a network type, an address type and an address")
      if media == nil { session.connection = connection } else { media?.connection = connection }
    case "b":
      let bandwidth = try require(Bandwidth(value), "b= holds a type, a colon and a number")
      if media == nil { session.bandwidth.append(bandwidth) } else { media?.bandwidth.append(bandwidth) }
    case "o" where media == nil:
      origin = try require(Origin(value), "o= holds a name, two numbers, a network type, an address type and an address")
    case "s" where media == nil:
      session.sessionName = String(value)
      hasName = true
    case "t" where media == nil:
      session.times = (hasTimes ? session.times : []) + [String(value)]
      hasTimes = true
    default:
      let other = Line(type: letter, value: String(value))
      if media == nil { session.otherLines.append(other) } else { media?.otherLines.append(other) }
    }
  }

  mutating func finish(number: Int) throws(ParseError) -> SessionDescription {
    line = ""
    self.number = number
    guard hasVersion else { throw error("the description is empty") }
    session.origin = try require(origin, "the description has no o= line")
    guard hasName else { throw error("the description has no s= line") }
    closeMedia()
    return session
  }

  private mutating func closeMedia() {
    if let media { session.media.append(media) }
    media = nil
  }

  private func mediaLine(_ value: Substring) throws(ParseError) -> MediaDescription {
    let fields = value.parts()
    guard fields.count >= 3 else { throw error("m= holds a kind, a port, a protocol and formats") }
    let (portText, countText) = fields[1].cut("/") ?? (fields[1], "")
    let port = try require(portText.number(UInt16.self), "a port is a number from 0 to 65535")
    var media = MediaDescription(
      kind: .init(String(fields[0])), port: port, protocolName: String(fields[2]), formats: fields.dropFirst(3).map(String.init))
    if fields[1].utf8.count > portText.utf8.count {
      media.portCount = Int(try require(countText.number(UInt16.self), "a number of ports is a number from 0 to 65535"))
    }
    if media.isRTP, media.formats.contains(where: { $0[...].payloadType == nil }) {
      throw error("a payload type is a number from 0 to 127")
    }
    media.direction = session.direction ?? .sendrecv
    return media
  }

  // MARK: Attributes

  private mutating func attribute(_ text: Substring) throws(ParseError) {
    let (name, value) = text.cut(":") ?? (text, "")
    if var media = self.media {
      // Moved out and back so that the arrays inside are changed in place.
      self.media = nil
      if try !common(name, value, &media), try !rtp(name, value, &media), try !transport(name, value, &media) {
        media.unknown.append(Attribute(text))
      }
      self.media = media
    } else if try !sessionAttribute(name, value) {
      session.unknown.append(Attribute(text))
    }
  }

  private func token(_ value: Substring) throws(ParseError) -> String {
    guard !value.trimmed.isEmpty else { throw error("the attribute has no value") }
    return String(value.trimmed)
  }

  private func fingerprint(_ value: Substring) throws(ParseError) -> CertificateFingerprint {
    try require(CertificateFingerprint(value), "a fingerprint is a hash function and hexadecimal bytes")
  }

  private func setup(_ value: Substring) throws(ParseError) -> Setup {
    try require(Setup(rawValue: String(value.trimmed)), "setup is active, passive, actpass or holdconn")
  }

  private mutating func sessionAttribute(_ name: Substring, _ value: Substring) throws(ParseError) -> Bool {
    switch name {
    case "group": session.groups.append(try require(Group(value), "a group has semantics and members"))
    case "ice-lite": session.isICELite = true
    case "ice-options": session.iceOptions = value.parts().map(String.init)
    case "ice-ufrag": session.usernameFragment = try token(value)
    case "ice-pwd": session.password = try token(value)
    case "fingerprint": session.fingerprints.append(try fingerprint(value))
    case "setup": session.setup = try setup(value)
    case "extmap-allow-mixed": session.extmapAllowMixed = true
    case "msid-semantic": session.msidSemantic = String(value.trimmed)
    default:
      guard value.isEmpty, let direction = Direction(rawValue: String(name)) else { return false }
      session.direction = direction
    }
    return true
  }

  private func common(_ name: Substring, _ value: Substring, _ media: inout MediaDescription) throws(ParseError) -> Bool {
    switch name {
    case "mid": media.mid = try token(value)
    case "bundle-only": media.isBundleOnly = true
    case "msid": media.msids.append(try require(MSID(value), "msid holds a stream and maybe a track"))
    case "sctp-port": media.sctpPort = try require(value.trimmed.number(UInt16.self), "sctp-port is a number from 0 to 65535")
    case "max-message-size":
      guard let first = value.utf8.first, (48...57).contains(first) else { throw error("max-message-size is a number") }
      media.maxMessageSize = value.trimmed.number(Int.self) ?? .max
    default:
      guard value.isEmpty, let direction = Direction(rawValue: String(name)) else { return false }
      media.direction = direction
    }
    return true
  }

  private func transport(_ name: Substring, _ value: Substring, _ media: inout MediaDescription) throws(ParseError) -> Bool {
    switch name {
    case "ice-ufrag": media.usernameFragment = try token(value)
    case "ice-pwd": media.password = try token(value)
    case "ice-options": media.iceOptions = value.parts().map(String.init)
    case "fingerprint": media.fingerprints.append(try fingerprint(value))
    case "setup": media.setup = try setup(value)
    case "candidate": media.candidates.append("candidate:\(value)")
    case "end-of-candidates": media.hasEndOfCandidates = true
    default: return false
    }
    return true
  }

  private func rtp(_ name: Substring, _ value: Substring, _ media: inout MediaDescription) throws(ParseError) -> Bool {
    switch name {
    case "rtcp-mux": media.isRTCPMux = true
    case "rtcp-mux-only": media.isRTCPMuxOnly = true
    case "rtcp-rsize": media.isRTCPReducedSize = true
    case "rtcp": media.rtcpPort = try require(RTCPPort(value), "rtcp holds a port and maybe an address")
    case "rtpmap": media.rtpMaps.append(try require(RTPMap(value), "rtpmap holds a payload type and a name/rate"))
    case "fmtp":
      let (format, text) = try require(value.cut(" "), "fmtp holds a format and its parameters")
      guard let payloadType = format.payloadType else {
        guard !media.isRTP else { throw error("a payload type is a number from 0 to 127") }
        return false
      }
      media.formatParameters[payloadType, default: FormatParameters("")].append(String(text.trimmed))
    case "rtcp-fb": media.feedback.append(try require(RTCPFeedback(value), "rtcp-fb holds a payload type or “*” and a kind of feedback"))
    case "extmap": media.headerExtensions.append(try require(ExtensionMapping(value), "extmap holds an identifier and a URI"))
    case "extmap-allow-mixed": media.extmapAllowMixed = true
    case "ssrc-group": media.sourceGroups.append(try require(SourceGroup(value), "ssrc-group holds semantics and sources"))
    case "ssrc": media.sources.append(try require(SourceAttribute(value), "ssrc holds a source and an attribute"))
    case "rid": media.rids.append(try require(RID(value), "rid holds an identifier, send or recv, and restrictions"))
    case "simulcast": media.simulcast = try require(Simulcast(value), "simulcast holds send or recv and streams")
    case "ptime": media.ptime = try milliseconds(value)
    case "maxptime": media.maxptime = try milliseconds(value)
    default: return false
    }
    return true
  }

  private func milliseconds(_ value: Substring) throws(ParseError) -> Double {
    let text = value.trimmed
    guard text.utf8.count < 16, text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }), let number = Double(text), number > 0 else {
      throw error("a packet time is a number of milliseconds")
    }
    return number
  }
}
