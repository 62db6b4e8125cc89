import FoundationEssentials
import Glibc

/// What the operators' verbs do: they ask the running box, and write what it answers.
public struct Verbs: Sendable {
  /// Takes text for the standard output; false when nobody reads it any more.
  public typealias Output = @Sendable ([UInt8]) -> Bool

  let client: ControlClient
  let isJSON: Bool
  let output: Output

  /// Verbs for the `parlor run` whose runtime folder is `runtime`, on behalf of `asker`.
  public init(runtime: String, isJSON: Bool = false, asker: Asker? = nil, output: @escaping Output) {
    (client, self.isJSON, self.output) = (ControlClient(folder: runtime, asker: asker), isJSON, output)
  }

  /// `parlor status`.
  public func status() throws(VerbFailure) {
    let answer = try client.perform(ControlRequest(verb: "status"))
    if isJSON { return try printJSON(answer, isPretty: true) }
    let status: Status
    do {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .iso8601
      status = try decoder.decode(Status.self, from: Data(JSON.text(answer)))
    } catch {
      throw VerbFailure(.internalError, "the answer is not understood; is parlor run of another version?")
    }
    _ = output(Array((status.text + "\n").utf8))
  }

  /// `parlor stats`; with `isWatching` again and again, a JSON value a line.
  public func stats(isWatching: Bool) throws(VerbFailure) {
    if !isWatching {
      let answer = try client.perform(ControlRequest(verb: "stats"))
      if isJSON { return try printJSON(answer, isPretty: true) }
      _ = output(Array((Verbs.flat(answer) + "\n").utf8))
      return
    }
    try client.perform(ControlRequest(verb: "stats", arguments: ["watch": true])) { answer throws(VerbFailure) in
      output(isJSON ? try Verbs.text(answer, isPretty: false) + [10] : Array((Verbs.flat(answer) + "\n\n").utf8))
    }
  }

  /// `parlor screenshot FILE`.
  public func screenshot(file: String) throws(VerbFailure) {
    let answer = try client.perform(ControlRequest(verb: "screenshot"))
    guard let text = answer["png"]?.string, let png = Data(base64Encoded: text) else {
      throw VerbFailure(.internalError, "the answer holds no picture")
    }
    try Verbs.write(Array(png), to: file, output: output)
  }

  /// `parlor call start` and `parlor call hangup`.
  public func call(action: String) throws(VerbFailure) {
    _ = try client.perform(ControlRequest(verb: "call", arguments: ["action": .string(action)]))
  }

  /// `parlor volume`: changes it as `Volume.Change` reads it, if a change is given, and writes what it is then.
  public func volume(change: String?) throws(VerbFailure) {
    let answer = try client.perform(ControlRequest(verb: "volume", arguments: change.map { ["change": .string($0)] } ?? [:]))
    if isJSON { return try printJSON(answer, isPretty: true) }
    guard case .integer(let percent)? = answer["percent"], let isMuted = answer["muted"]?.boolean else {
      throw VerbFailure(.internalError, "the answer holds no volume")
    }
    _ = output(Array((Volume(percent: Int(clamping: percent), isMuted: isMuted).text + "\n").utf8))
  }

  /// `parlor open`, `reload`, `restart`, `identify`, `overlay`, `tap`, `type`, `key`, `blank` and `gamma`: verbs that say nothing when all is well.
  public func order(_ request: ControlRequest) throws(VerbFailure) { _ = try client.perform(request) }

  /// Writes a file; `-` is the standard output.
  public static func write(_ bytes: [UInt8], to file: String, output: Output) throws(VerbFailure) {
    if file == "-" {
      guard output(bytes) else { throw VerbFailure(.cannotCreate, "the standard output is closed") }
      return
    }
    guard let handle = unsafe fopen(file, "we") else {
      throw VerbFailure(.cannotCreate, "\(file): \(unsafe String(cString: strerror(errno)))")
    }
    let count = unsafe fwrite(bytes, 1, bytes.count, handle)
    guard unsafe fclose(handle) == 0, count == bytes.count else {
      throw VerbFailure(.cannotCreate, "\(file): \(unsafe String(cString: strerror(errno)))")
    }
  }

  private func printJSON(_ value: JSON, isPretty: Bool) throws(VerbFailure) {
    _ = output(try Verbs.text(value, isPretty: isPretty) + [10])
  }

  private static func text(_ value: some Encodable, isPretty: Bool) throws(VerbFailure) -> [UInt8] {
    do { return try JSON.text(value, isPretty: isPretty) } catch {
      throw VerbFailure(.internalError, "the answer cannot be written: \(error)")
    }
  }

  /// A line for each value, behind the names that lead to it; numbers that stand together on one line.
  static func flat(_ value: JSON, path: String = "") -> String {
    switch value {
    case .null: return "\(path) -"
    case .boolean(let value): return "\(path) \(value)"
    case .integer(let value): return "\(path) \(value)"
    case .number(let value): return "\(path) \(rounded(value))"
    case .string(let value): return "\(path) \(value)"
    case .array(let items):
      return joined(items.enumerated().map { flat($1, path: "\(path)[\($0)]") })
    case .object(let members):
      let sorted = members.sorted { $0.key < $1.key }
      if !path.isEmpty, !sorted.isEmpty, sorted.allSatisfy({ $0.value.number != nil }) {
        return "\(path) " + sorted.map { "\($0.key) \(rounded($0.value.number ?? 0))" }.joined(separator: "  ")
      }
      return joined(sorted.map { flat($0.value, path: path.isEmpty ? $0.key : "\(path).\($0.key)") })
    }
  }

  private static func joined(_ parts: [String]) -> String { parts.filter { !$0.isEmpty }.joined(separator: "\n") }

  /// A number with at most three decimals.
  private static func rounded(_ value: Double) -> String {
    let thousandths = (value * 1_000).rounded() / 1_000
    return thousandths == thousandths.rounded() && abs(thousandths) < 1e15 ? "\(Int64(thousandths))" : "\(thousandths)"
  }
}
