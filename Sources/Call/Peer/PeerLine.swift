import FoundationEssentials
import WebRTC

/// One line of the conversation that `parlor peer` holds on its standard input and output.
struct PeerLine: Codable {
  struct Description: Codable {
    var type: String
    var sdp: String
  }

  struct Candidate: Codable {
    var candidate: String
    var sdpMid: String?
    var sdpMLineIndex: Int?
    var usernameFragment: String?
  }

  /// `description`, `candidate`, `state`, `event`, `close`.
  var type: String
  var description: Description?
  var candidate: Candidate?
  var connection: String?
  var event: String?
  var detail: String?

  init(type: String) { self.type = type }

  init(_ type: DescriptionType, sdp: String) {
    self.init(type: "description")
    description = Description(type: type.rawValue, sdp: sdp)
  }

  init(_ candidate: IceCandidate?) {
    self.init(type: "candidate")
    self.candidate = candidate.map {
      Candidate(candidate: $0.candidate, sdpMid: $0.sdpMid, sdpMLineIndex: $0.sdpMLineIndex, usernameFragment: $0.usernameFragment)
    }
  }

  init(event: String, detail: String? = nil) {
    self.init(type: "event")
    (self.event, self.detail) = (event, detail)
  }

  /// The line as JSON; the end of candidates is an explicit null.
  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if type == "candidate", candidate == nil { return #"{"candidate":null,"type":"candidate"}"# }
    guard let data = try? encoder.encode(self) else { preconditionFailure("strings and numbers can be encoded") }
    return String(decoding: data, as: UTF8.self)
  }
}
