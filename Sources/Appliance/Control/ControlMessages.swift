/// A request on the control socket: one line of JSON, `{"verb":"call","arguments":{"action":"start"}}`, with `from` where the asker says who it is.
public struct ControlRequest: Sendable, Equatable {
  /// What to do.
  public var verb: String
  /// With what; each verb documents its own.
  public var arguments: [String: JSON]
  /// What the asker says of itself, as `Asker.claims`; null: nothing.
  public var from = JSON.null

  /// A request for `verb`.
  public init(verb: String, arguments: [String: JSON] = [:]) { (self.verb, self.arguments) = (verb, arguments) }

  /// Lines longer than this are refused.
  public static let maximumLength = 65_536

  /// Reads a line, without its end. Throws what is wrong with it.
  public init(line: some Collection<UInt8>) throws(VerbFailure) {
    guard line.count <= ControlRequest.maximumLength else {
      throw VerbFailure(.badData, "the request is longer than \(ControlRequest.maximumLength) bytes")
    }
    guard let json = JSON(text: line) else { throw VerbFailure(.badData, "the request is not JSON") }
    guard case .object(let members) = json else { throw VerbFailure(.badData, "the request is not a JSON object") }
    guard let verb = members["verb"]?.string else { throw VerbFailure(.badData, "the request has no \"verb\"") }
    if let unknown = members.keys.filter({ !["verb", "arguments", "from"].contains($0) }).min() {
      throw VerbFailure(.badData, "the request has an unknown member \"\(unknown)\"")
    }
    self.verb = verb
    from = members["from"] ?? .null
    switch members["arguments"] {
    case nil: arguments = [:]
    case .object(let values): arguments = values
    default: throw VerbFailure(.badData, "\"arguments\" is not a JSON object")
    }
  }

  /// The request as a line, its end included.
  public var line: [UInt8] {
    var members: [String: JSON] = ["verb": .string(verb), "arguments": .object(arguments)]
    if from != .null { members["from"] = from }
    guard let text = try? JSON.text(JSON.object(members)) else { preconditionFailure("JSON values can be written") }
    return text + [10]
  }
}

/// An answer on the control socket: one line of JSON. A request that streams is answered by many, all but the last with `more`.
public enum ControlResponse: Sendable, Equatable {
  /// `{"ok":true,"value":…}`, with `"more":true` when others follow.
  case value(JSON, more: Bool)
  /// `{"ok":false,"exit":69,"error":"…"}`.
  case failure(VerbFailure)

  /// Reads a line, without its end. Throws when it is no answer.
  public init(line: some Collection<UInt8>) throws(VerbFailure) {
    guard let json = JSON(text: line), let isFine = json["ok"]?.boolean else {
      throw VerbFailure(.internalError, "the answer is not understood")
    }
    if isFine {
      self = .value(json["value"] ?? .null, more: json["more"]?.boolean ?? false)
    } else {
      var code = ExitCode.internalError
      if case .integer(let exit) = json["exit"] { code = ExitCode(rawValue: Int32(clamping: exit)) ?? .internalError }
      self = .failure(VerbFailure(code, json["error"]?.string ?? "no reason given"))
    }
  }

  /// The answer as a line, its end included.
  public var line: [UInt8] {
    let json: JSON =
      switch self {
      case .value(let value, let more): more ? ["ok": true, "value": value, "more": true] : ["ok": true, "value": value]
      case .failure(let failure): ["ok": false, "exit": .integer(Int64(failure.exitCode.rawValue)), "error": .string(failure.description)]
      }
    guard let text = try? JSON.text(json) else { preconditionFailure("JSON values can be written") }
    return text + [10]
  }
}
