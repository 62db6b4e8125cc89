import FoundationEssentials

/// What the box is doing and what is wrong with it: facts in, one state with one code out.
public struct Health: Sendable, Equatable {
  /// How far the call is.
  public enum Call: Sendable, Equatable {
    /// No call is wanted now.
    case idle
    /// A call is being set up.
    case connecting
    /// A call is established.
    case connected
  }

  private struct Problem: Sendable, Equatable {
    var reason: String
    var since: Date
  }

  private var isStarted = false
  private var isProvisioned = true
  private var call = Call.idle
  private var problems: [HealthCode: Problem] = [:]

  /// What the box is doing.
  public private(set) var state = Status.State.starting
  /// Since when it has been.
  public private(set) var since: Date

  /// A box that starts now.
  public init(now: Date) { since = now }

  /// The start is over: what the box does from now on depends on the rest.
  public mutating func start(isProvisioned: Bool, now: Date) {
    (isStarted, self.isProvisioned) = (true, isProvisioned)
    settle(now)
  }

  /// The call has come to `call`. A connected one proves that nothing stands in its way any more.
  public mutating func setCall(_ call: Call, now: Date) {
    self.call = call
    if call == .connected { problems = problems.filter { $0.key.area != "call" } }
    settle(now)
  }

  /// Something is wrong. The reason may be told anew; since when it is wrong stays.
  public mutating func raise(_ code: HealthCode, _ reason: String, now: Date) {
    problems[code] = Problem(reason: reason, since: problems[code]?.since ?? now)
    settle(now)
  }

  /// A direct call failed, which says more than why it failed before. A certificate that is not valid yet, on a box whose clock nothing has set, is the clock's fault.
  mutating func raiseCall(_ code: HealthCode, _ reason: String, isClockSet: Bool, now: Date) {
    let isClockToBlame = code == .callTLS && !isClockSet && reason.contains("not valid yet")
    set((code, isClockToBlame ? Health.clockReason : reason), area: "call", now: now)
    if isClockToBlame { raise(.clockUnset, "nothing has set the clock", now: now) } else { clear(.clockUnset, now: now) }
  }

  /// Why a certificate seems not valid yet.
  static let clockReason = "The clock is not set, and so the server's certificate seems not valid yet"

  /// What is wrong in an area is this alone; nil: nothing is.
  public mutating func set(_ problem: (code: HealthCode, reason: String)?, area: String, now: Date) {
    problems = problems.filter { $0.key.area != area || $0.key == problem?.code }
    if let problem { raise(problem.code, problem.reason, now: now) } else { settle(now) }
  }

  /// What is known of why there is no network where there ought to be one; empty: nothing is wrong.
  public mutating func setConnections(_ troubles: [ConnectionTrouble], now: Date) {
    for code in problems.keys where code.connection != nil && !troubles.contains(where: { $0.cause == code.connection }) {
      problems[code] = nil
    }
    for trouble in troubles { raise(.connection(trouble.cause), trouble.reason, now: now) }
    settle(now)
  }

  /// Something is not wrong any more. Harmless when it was not.
  public mutating func clear(_ code: HealthCode, now: Date) {
    problems[code] = nil
    settle(now)
  }

  /// Everything of an area (`call`, `camera`, …) is not wrong any more.
  public mutating func clear(area: String, now: Date) {
    problems = problems.filter { $0.key.area != area }
    settle(now)
  }

  /// Everything that is wrong now, in the codes' order.
  public var codes: [HealthCode] { problems.keys.sorted() }

  /// What matters most of what is wrong; nil when nothing is.
  public var code: HealthCode? {
    func rank(_ code: HealthCode) -> Int {
      if code == .configurationInvalid { return 0 }
      // Why there is no network says more than that there is none.
      if code.connection != nil, problems[.networkDown] != nil { return 1 }
      if code == .networkDown { return 2 }
      return code.isBearable ? 4 : 3
    }
    return problems.keys.min { (rank($0), problems[$0]!.since, $0) < (rank($1), problems[$1]!.since, $1) }
  }

  /// What matters most of what is wrong, in words.
  public var reason: String? { code.flatMap { problems[$0]?.reason } }

  /// Whether a call is established, whatever else is wrong.
  var isInCall: Bool { call == .connected }

  private mutating func settle(_ now: Date) {
    let new: Status.State =
      if problems[.configurationInvalid] != nil {
        .error
      } else if !isStarted {
        .starting
      } else if !isProvisioned {
        .unprovisioned
      } else if call == .connected {
        .inCall
      } else if problems[.networkDown] != nil {
        .offline
      } else if let code, !code.isBearable {
        .error
      } else if call == .connecting {
        .loading
      } else {
        .ready
      }
    guard new != state else { return }
    (state, since) = (new, now)
  }

}
