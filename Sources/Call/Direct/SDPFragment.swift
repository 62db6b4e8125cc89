/// Text is not an ICE fragment.
public struct SDPFragmentError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  public let line: Int
  /// What is wrong.
  public let reason: String
  public var description: String { "line \(line): \(reason)" }
}

/// ICE candidates and credentials on their way after the offer, `application/trickle-ice-sdpfrag` (RFC 8840 section 9).
public struct SDPFragment: Sendable, Equatable, CustomStringConvertible {
  /// What belongs to one media description.
  public struct Media: Sendable, Equatable {
    /// The `m=` line's value, which says nothing here but must be there, such as `audio 9 UDP/TLS/RTP/SAVPF 0`.
    public var line: String
    /// The identification of the media description (RFC 5888).
    public var mid: String
    /// The user name fragment and the password, when they stand here.
    public var (usernameFragment, password): (String?, String?)
    /// Candidates, as attribute values: `candidate:1 1 udp …`.
    public var candidates: [String]
    /// Whether no more follow.
    public var isComplete: Bool

    /// A media description's part.
    public init(line: String = "audio 9 UDP/TLS/RTP/SAVPF 0", mid: String, candidates: [String] = [], isComplete: Bool = false) {
      (self.line, self.mid, self.candidates, self.isComplete) = (line, mid, candidates, isComplete)
    }
  }

  /// The user name fragment and the password for all media.
  public var (usernameFragment, password): (String?, String?)
  /// The media of the bundle, by their identification.
  public var bundle: [String] = []
  /// The media parts.
  public var media: [Media]
  /// Whether no candidates follow for any media.
  public var isComplete = false

  /// A fragment.
  public init(usernameFragment: String? = nil, password: String? = nil, media: [Media] = []) {
    (self.usernameFragment, self.password, self.media) = (usernameFragment, password, media)
  }

  /// The credentials that hold for `media`: its own, or else the fragment's.
  public func credentials(of part: Media) -> (usernameFragment: String?, password: String?) {
    (part.usernameFragment ?? usernameFragment, part.password ?? password)
  }

  /// Reads a fragment. Lines may end in CRLF or LF; unknown ones are passed over. Each part needs a `mid`, and no more than 1,000 lines are read.
  public init(parsing text: String) throws(SDPFragmentError) {
    self.init()
    var startOfPart = 0
    let lines = text.utf8.split(maxSplits: 1_000, omittingEmptySubsequences: false) { $0 == 10 }
    for (index, bytes) in lines.enumerated() {
      func fail(_ reason: String) -> SDPFragmentError { SDPFragmentError(line: index + 1, reason: reason) }
      let line = bytes.last == 13 ? bytes.dropLast() : bytes
      if line.isEmpty { continue }
      guard index < 1_000 else { throw fail("too many lines") }
      guard line.count >= 2, line.dropFirst().first == UInt8(ascii: "=") else {
        throw fail("\"\(Substring(line).prefix(40))\" is no SDP line")
      }
      let value = line.dropFirst(2)
      if line.first == UInt8(ascii: "m") {
        try checkMid(startOfPart)
        startOfPart = index + 1
        media.append(Media(line: String(Substring(value)), mid: ""))
      } else if line.first == UInt8(ascii: "a") {
        let parts = value.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map { String(Substring($0)) }
        try read(parts[0], parts.count > 1 ? parts[1] : "", fail)
      }
    }
    try checkMid(startOfPart)
  }

  private func checkMid(_ line: Int) throws(SDPFragmentError) {
    if let last = media.last, last.mid.isEmpty { throw SDPFragmentError(line: line, reason: "a media part without a=mid") }
  }

  private mutating func read(_ name: String, _ argument: String, _ fail: (String) -> SDPFragmentError) throws(SDPFragmentError) {
    let last = media.count - 1
    switch name {
    case "ice-ufrag":
      guard (4...256).contains(argument.utf8.count) else { throw fail("a user name fragment has 4 to 256 characters") }
      if last < 0 { usernameFragment = argument } else { media[last].usernameFragment = argument }
    case "ice-pwd":
      guard (22...256).contains(argument.utf8.count) else { throw fail("an ICE password has 22 to 256 characters") }
      if last < 0 { password = argument } else { media[last].password = argument }
    case "group":
      let parts = argument.split(separator: " ").map(String.init)
      if parts.first == "BUNDLE" { bundle = Array(parts.dropFirst()) }
    case "mid":
      guard last >= 0, !argument.isEmpty else { throw fail("a=mid without a media part, or empty") }
      media[last].mid = argument
    case "candidate":
      guard last >= 0 else { throw fail("a candidate before the first media part") }
      media[last].candidates.append("candidate:\(argument)")
    case "end-of-candidates":
      if last < 0 { isComplete = true } else { media[last].isComplete = true }
    default: break
    }
  }

  /// The fragment's text, lines ended by CRLF.
  public var description: String {
    var lines: [String] = []
    func add(_ name: String, _ value: String?) { if let value { lines.append("a=\(name):\(value)") } }
    add("ice-ufrag", usernameFragment)
    add("ice-pwd", password)
    if !bundle.isEmpty { lines.append("a=group:BUNDLE \(bundle.joined(separator: " "))") }
    if isComplete { lines.append("a=end-of-candidates") }
    for part in media {
      lines.append("m=\(part.line)")
      lines.append("a=mid:\(part.mid)")
      add("ice-ufrag", part.usernameFragment)
      add("ice-pwd", part.password)
      lines += part.candidates.map { "a=\($0)" }
      if part.isComplete { lines.append("a=end-of-candidates") }
    }
    return lines.map { $0 + "\r\n" }.joined()
  }
}
