import FoundationEssentials

/// What `parlor status` tells: the box as it is at one moment. The JSON names are stable; what is not known is null.
public struct Status: Codable, Sendable, Equatable {
  /// What the box is doing.
  public enum State: String, Codable, Sendable, CaseIterable {
    case starting, unprovisioned, offline, loading, ready, error
    case inCall = "in-call"
  }

  /// What the box is doing.
  public var state = State.starting
  /// The stable code of what is wrong, such as `network.down`; nil when nothing is.
  public var code: String?
  /// What is wrong, in words.
  public var reason: String?
  /// Since when the box has been in this state.
  public var since: Date
  /// Parlor's version.
  public var version: String
  /// The box's name for people.
  public var name: String
  /// The box's number for inventories.
  public var serial: String
  /// Whom the box calls: the page's URL, or the direct call's.
  public var url: String?
  /// The call page; nil when a direct call needs none.
  public var page: Page?
  /// The screen.
  public var stage: Screen
  /// The cameras.
  public var cameras: [Camera] = []
  /// The sound devices.
  public var sound: Sound
  /// Who codes pictures, and why.
  public var codecs: [Codec] = []
  /// The calls.
  public var calls: [Call] = []
  /// The network.
  public var network: Network
  /// The clock.
  public var clock: Clock
  /// The system image's slot; nil where there are none.
  public var slot: String?
  /// What became of the version that was installed last; nil: there was no update.
  public var update: UpdateOutcome?
  /// Who may use camera and microphone.
  public var grants: [Grant] = []

  /// The call page.
  public struct Page: Codable, Sendable, Equatable {
    public var state: String
    public var title: String?
    public var url: String
    public var restarts: Int

    public init(state: String, title: String? = nil, url: String, restarts: Int = 0) {
      (self.state, self.title, self.url, self.restarts) = (state, title, url, restarts)
    }
  }

  /// The screen.
  public struct Screen: Codable, Sendable, Equatable {
    /// The names of the connectors that show the picture, `headless`, or nothing.
    public var output: String
    /// Such as `1920x1080@60`.
    public var mode: String
    /// Why it is in this mode: `configured`, `preferred`, `fallback`; nil: nobody chose.
    public var modeSource: String?
    /// Clockwise turn in degrees.
    public var rotation: Int
    /// Hardware planes in use.
    public var planes: Int
    /// Page flips in a second: changes of the picture that the display showed.
    public var flipsPerSecond: Double
    /// Refreshes that a picture was meant for and came too late, so far.
    public var missedFlips = 0
    /// Whether the monitors are switched off.
    public var isBlanked = false
    /// 0.5 to 2, above 1 is lighter, 1 where nobody changed it; nil: it cannot be changed.
    public var gamma: Double?
    /// What is wrong with the display, in words.
    public var problem: String?

    public init(output: String, mode: String, rotation: Int = 0, planes: Int = 0, flipsPerSecond: Double = 0) {
      (self.output, self.mode, self.rotation, self.planes, self.flipsPerSecond) = (output, mode, rotation, planes, flipsPerSecond)
    }

    /// Where the picture is, in a few words.
    var summary: String {
      guard !output.isEmpty else { return "no monitor" }
      let turn = rotation == 0 ? "" : ", turned by \(rotation)°"
      let light = gamma.flatMap { $0 == 1 ? nil : ", gamma \($0)" } ?? ""
      return "\(output) \(mode)" + (modeSource.map { " (\($0))" } ?? "") + turn + light + (isBlanked ? ", dark" : "")
    }

    enum CodingKeys: String, CodingKey {
      case output, mode, rotation, planes, gamma, problem
      case modeSource = "mode_source"
      case flipsPerSecond = "flips_per_second"
      case missedFlips = "missed_flips"
      case isBlanked = "blanked"
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(output, forKey: .output)
      try container.encode(mode, forKey: .mode)
      try container.encode(modeSource, forKey: .modeSource)
      try container.encode(rotation, forKey: .rotation)
      try container.encode(planes, forKey: .planes)
      try container.encode(flipsPerSecond, forKey: .flipsPerSecond)
      try container.encode(missedFlips, forKey: .missedFlips)
      try container.encode(isBlanked, forKey: .isBlanked)
      try container.encode(gamma, forKey: .gamma)
      try container.encode(problem, forKey: .problem)
    }
  }

  /// A call.
  public struct Call: Codable, Sendable, Equatable {
    /// The W3C connection state.
    public var state: String
    public var since: Date
    /// Who is at the other end.
    public var peer: String

    public init(state: String, since: Date, peer: String) { (self.state, self.since, self.peer) = (state, since, peer) }
  }

  /// The network.
  public struct Network: Codable, Sendable, Equatable {
    /// `up` or `down`.
    public var state: String
    public var interfaces: [Interface]

    public init(state: String, interfaces: [Interface] = []) { (self.state, self.interfaces) = (state, interfaces) }
  }

  /// A network interface.
  public struct Interface: Codable, Sendable, Equatable {
    public var name: String
    public var addresses: [String]

    public init(name: String, addresses: [String]) { (self.name, self.addresses) = (name, addresses) }
  }

  /// The clock.
  public struct Clock: Codable, Sendable, Equatable {
    public var synchronised: Bool

    public init(synchronised: Bool) { self.synchronised = synchronised }
  }

  /// A grant.
  public struct Grant: Codable, Sendable, Equatable {
    public var origin: String
    public var camera: Bool
    public var microphone: Bool
    public var since: Date

    public init(_ grant: Grants.Grant, since: Date) {
      (origin, camera, microphone, self.since) = (grant.origin.description, grant.camera, grant.microphone, since)
    }
  }

  /// A box that is starting.
  public init(version: String, name: String, serial: String, stage: Screen, sound: Sound, network: Network, clock: Clock, since: Date) {
    (self.version, self.name, self.serial, self.stage, self.sound) = (version, name, serial, stage, sound)
    (self.network, self.clock, self.since) = (network, clock, since)
  }

  /// Writes every member, null where nothing is known: a reader never has to ask whether it is there.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(state, forKey: .state)
    try container.encode(code, forKey: .code)
    try container.encode(reason, forKey: .reason)
    try container.encode(since, forKey: .since)
    try container.encode(version, forKey: .version)
    try container.encode(name, forKey: .name)
    try container.encode(serial, forKey: .serial)
    try container.encode(url, forKey: .url)
    try container.encode(page, forKey: .page)
    try container.encode(stage, forKey: .stage)
    try container.encode(cameras, forKey: .cameras)
    try container.encode(sound, forKey: .sound)
    try container.encode(codecs, forKey: .codecs)
    try container.encode(calls, forKey: .calls)
    try container.encode(network, forKey: .network)
    try container.encode(clock, forKey: .clock)
    try container.encode(slot, forKey: .slot)
    try container.encode(update, forKey: .update)
    try container.encode(grants, forKey: .grants)
  }
}

extension Status {
  /// Takes state, code, reason and since from the box's health.
  public mutating func take(_ health: Health) {
    (state, code, reason, since) = (health.state, health.code?.rawValue, health.reason, health.since)
  }

  /// A few lines for a person.
  public var text: String {
    var lines = ["\(name): \(state.rawValue) since \(since.formatted(.iso8601))"]
    if let code { lines.append("  \(code): \(reason ?? "")") }
    if let url { lines.append("  calls     \(url)") }
    for call in calls { lines.append("  call      \(call.state) since \(call.since.formatted(.iso8601)), \(call.peer)") }
    let flips = "\(Int(stage.flipsPerSecond.rounded())) flips/s, \(stage.missedFlips) missed"
    lines.append("  screen    \(stage.summary), \(flips)")
    if let problem = stage.problem { lines.append("            \(problem)") }
    for camera in cameras { lines.append("  camera    \(camera.text)") }
    lines.append("  sound     capture \(sound.capture), playback \(sound.playback) at \(sound.volume.text), \(sound.xruns) xruns")
    for (what, device) in [("microphone", sound.microphone), ("speaker", sound.speaker)] {
      if let device { lines.append("            \(what) \(device.text)") }
    }
    for codec in codecs { lines.append("  codec     \(codec.text)") }
    let interfaces = network.interfaces.map { "\($0.name) \($0.addresses.joined(separator: " "))" }
    lines.append("  network   \(([network.state] + interfaces).joined(separator: "; "))")
    lines.append("  version   \(version)\(slot.map { " in slot \($0)" } ?? ""), serial \(serial)")
    if let update { lines.append("  update    \(update.text)") }
    return lines.joined(separator: "\n")
  }
}
