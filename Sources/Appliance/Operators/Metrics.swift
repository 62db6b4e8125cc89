/// Figures of a box for Prometheus: families of samples, made of what `parlor status` and `parlor stats` tell.
struct Metrics: Sendable, Equatable {
  /// What a family's values are.
  enum Kind: String, Sendable, Encodable { case gauge, counter, summary }

  /// A value and what it is of.
  struct Sample: Sendable, Equatable, Encodable {
    var labels: [String: String]
    var value: Double
  }

  /// Samples of one name.
  struct Family: Sendable, Equatable, Encodable {
    var name: String
    var kind: Kind
    var help: String
    var samples: [Sample]
  }

  /// In the order of the text; none without samples.
  private(set) var families: [Family] = []

  /// The figures in the answers to `status` and `stats`.
  init(status: JSON, statistics: JSON) {
    addState(status)
    addDevices(status)
    addUpdate(status)
    addDisplay(status, statistics)
    addLatency(statistics)
    addConnections(statistics)
    addProcesses(statistics)
  }

  /// The text format of Prometheus, version 0.0.4.
  var text: String {
    families.map { family in
      "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
        + family.samples.map { "\(family.name)\(Metrics.labels($0.labels)) \(Metrics.number($0.value))\n" }.joined()
    }.joined()
  }

  private static func labels(_ labels: [String: String]) -> String {
    if labels.isEmpty { return "" }
    let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  private static func escaped(_ text: String) -> String {
    text.map { ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"][$0] ?? String($0) }.joined()
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private mutating func add(_ name: String, _ help: String, _ samples: [Sample?]) { add(name, .gauge, help, samples) }

  private mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample?]) {
    let present = samples.compactMap { $0 }
    if !present.isEmpty { families.append(Family(name: "parlor_" + name, kind: kind, help: help, samples: present)) }
  }

  private func sample(_ value: JSON?, _ labels: [String: String] = [:], times factor: Double = 1) -> Sample? {
    if let isOn = value?.boolean { return Sample(labels: labels, value: isOn ? 1 : 0) }
    return value?.number.map { Sample(labels: labels, value: $0 * factor) }
  }

  // MARK: What status tells

  private mutating func addState(_ status: JSON) {
    let identity = ["version", "name", "serial", "slot"].reduce(into: [:]) { $0[$1] = status[$1]?.string ?? "" }
    add("info", "Which box this is, and what runs on it.", [Sample(labels: identity, value: 1)])
    let state = status["state"]?.string
    add(
      "state", "What the box is doing: 1 for the one state it is in.",
      Status.State.allCases.map { Sample(labels: ["state": $0.rawValue], value: $0.rawValue == state ? 1 : 0) })
    add(
      "problem", "What is wrong, by its stable code; absent when nothing is.",
      [status["code"]?.string.map { Sample(labels: ["code": $0], value: 1) }])
    var counts: [String: Int] = [:]
    for call in status["calls"]?.items ?? [] { counts[call["state"]?.string ?? "", default: 0] += 1 }
    add(
      "calls", "Connections by their W3C state.",
      ["connecting", "connected", "failed"].map { Sample(labels: ["state": $0], value: Double(counts[$0] ?? 0)) })
    add("page_restarts_total", .counter, "How often the page's program was started again.", [sample(status["page"]?["restarts"])])
    add("clock_synchronised", "Whether something keeps the clock right.", [sample(status["clock"]?["synchronised"])])
    add("network_up", "Whether an interface has an address.", [Sample(labels: [:], value: status["network"]?["state"] == "up" ? 1 : 0)])
    add(
      "grants", "Origins that may use a camera or a microphone.", [Sample(labels: [:], value: Double(status["grants"]?.items.count ?? 0))])
  }

  private mutating func addDevices(_ status: JSON) {
    func isUp(_ device: JSON, _ labels: [String: String]) -> Sample {
      Sample(labels: labels, value: device["state"] == "running" ? 1 : 0)
    }
    add(
      "camera_up", "Whether the camera gives pictures.",
      (status["cameras"]?.items ?? []).enumerated().map { isUp($1, ["camera": "\($0)", "name": $1["name"]?.string ?? ""]) })
    for name in ["microphone", "speaker"] {
      guard let device = status["sound"]?[name], device != .null else { continue }
      add("\(name)_up", "Whether the \(name) runs.", [isUp(device, ["name": device["name"]?.string ?? ""])])
    }
    add("sound_xruns_total", .counter, "How often a sound card ran dry or full.", [sample(status["sound"]?["xruns"])])
    add("volume_percent", "How loud the box is.", [sample(status["sound"]?["volume"]?["percent"])])
  }

  private mutating func addUpdate(_ status: JSON) {
    guard let state = status["update"]?["state"]?.string else { return }
    let isGivenUp = state == UpdateOutcome.State.givenUp.rawValue
    add("update_given_up", "Whether the version that was installed last was never well.", [Sample(labels: [:], value: isGivenUp ? 1 : 0)])
  }

  private mutating func addDisplay(_ status: JSON, _ statistics: JSON) {
    let stage = status["stage"]
    add("display_connected", "Whether there is a monitor.", [Sample(labels: [:], value: (stage?["output"]?.string ?? "").isEmpty ? 0 : 1)])
    add("display_blanked", "Whether the monitors are switched off.", [sample(stage?["blanked"])])
    add("display_flips_per_second", "Changes of the picture in a second, over the last two.", [sample(stage?["flips_per_second"])])
    add("display_flips_total", .counter, "Changes of the picture that the display showed.", [sample(statistics["stage"]?["flips"])])
    add("display_missed_flips_total", .counter, "Refreshes that a picture was meant for and missed.", [sample(stage?["missed_flips"])])
  }

  // MARK: What statistics tell

  private mutating func addLatency(_ statistics: JSON) {
    let quantiles = [("p50_ms", "0.5"), ("p95_ms", "0.95"), ("p99_ms", "0.99"), ("max_ms", "1")]
    var samples: [Sample?] = []
    for (stream, steps) in statistics["latency"]?.sorted ?? [] {
      for (step, figures) in steps.sorted where figures["count"]?.number ?? 0 > 0 {
        samples += quantiles.map { sample(figures[$0.0], ["stream": stream, "step": step, "quantile": $0.1], times: 0.001) }
      }
    }
    add("latency_seconds", .summary, "Time that pictures take, step by step, over the last ten seconds.", samples)
    add(
      "discards_total", .counter, "Things dropped or refused, by reason.",
      (statistics["discards"]?.sorted ?? []).map { sample($1, ["reason": $0]) })
  }

  private mutating func addConnections(_ statistics: JSON) {
    let reports = (statistics["peerConnections"]?.items ?? []).enumerated().flatMap { index, report in
      report.sorted.map { (labels: ["connection": "\(index)", "kind": $1["kind"]?.string ?? "", "id": $0], values: $1) }
    }
    func all(_ type: String, _ member: String) -> [Sample?] {
      reports.filter { $0.values["type"]?.string == type }.map { sample($0.values[member], $0.labels.filter { !$0.value.isEmpty }) }
    }
    for (name, type, member, help) in [
      ("received_bytes_total", "inbound-rtp", "bytesReceived", "Bytes of media received."),
      ("received_packets_total", "inbound-rtp", "packetsReceived", "Packets of media received."),
      ("lost_packets_total", "inbound-rtp", "packetsLost", "Packets of media that never came."),
      ("decoded_frames_total", "inbound-rtp", "framesDecoded", "Pictures decoded."),
      ("freezes_total", "inbound-rtp", "freezeCount", "How often the other side's picture stood still."),
      ("sent_bytes_total", "outbound-rtp", "bytesSent", "Bytes of media sent."),
      ("sent_packets_total", "outbound-rtp", "packetsSent", "Packets of media sent."),
      ("encoded_frames_total", "outbound-rtp", "framesEncoded", "Pictures encoded."),
    ] { add(name, .counter, help, all(type, member)) }
    add("jitter_seconds", "How unevenly packets come.", all("inbound-rtp", "jitter"))
    add(
      "round_trip_seconds", "To the other side and back.",
      reports.filter { $0.values["type"] == "candidate-pair" && $0.values["nominated"] == true }.map {
        sample($0.values["currentRoundTripTime"], $0.labels.filter { !$0.value.isEmpty })
      })
  }

  private mutating func addProcesses(_ statistics: JSON) {
    let programs = statistics["process"]?.sorted ?? []
    add(
      "process_cpu_seconds_total", .counter, "Processor time used.", programs.map { sample($1["cpu_seconds"], ["program": $0]) })
    add(
      "process_memory_bytes", "Memory, shared parts shared out (PSS).",
      programs.map { sample($1["pss_mb"], ["program": $0], times: 1_048_576) })
    add("process_open_descriptors", "Open descriptors.", programs.map { sample($1["descriptors"], ["program": $0]) })
  }
}

extension JSON {
  /// The items of an array; none of anything else.
  var items: [JSON] { if case .array(let items) = self { items } else { [] } }

  /// The members of an object by their names; none of anything else.
  var sorted: [(key: String, value: JSON)] { if case .object(let members) = self { members.sorted { $0.key < $1.key } } else { [] } }
}

extension Verbs {
  /// `parlor metrics`.
  public func metrics() throws(VerbFailure) {
    let (status, statistics) = (try client.perform(ControlRequest(verb: "status")), try client.perform(ControlRequest(verb: "stats")))
    let metrics = Metrics(status: status, statistics: statistics)
    if !isJSON {
      _ = output(Array(metrics.text.utf8))
      return
    }
    do { _ = output(try JSON.text(metrics.families, isPretty: true) + [10]) } catch {
      throw VerbFailure(.internalError, "the figures cannot be written: \(error)")
    }
  }
}
