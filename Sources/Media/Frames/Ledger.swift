import Base

/// One time stamp per stage that a frame passed, from capture to the page flip: where its latency arose.
public struct Ledger: Sendable, Equatable {
  /// The stages, in the order a frame passes them: the first four where it is sent, the others where it is received. Between `assemble` and
  /// `release` a whole frame waits for its decoder, and for its time if lip sync or the application wants it later.
  public enum Stage: Int, Sendable, CaseIterable { case capture, encode, pace, send, receive, assemble, release, decode, present }

  private var times: InlineArray<9, Int64> = .init(repeating: .min)

  /// An empty ledger.
  public init() {}

  /// When the frame left `stage`; nil when it has not.
  public subscript(stage: Stage) -> Instant? {
    get { times[stage.rawValue] == .min ? nil : Instant(nanoseconds: times[stage.rawValue]) }
    set { times[stage.rawValue] = newValue?.nanoseconds ?? .min }
  }

  /// The time between two stages; nil while either is missing.
  public func time(from start: Stage, to end: Stage) -> Interval? {
    guard let a = self[start], let b = self[end] else { return nil }
    return b - a
  }

  public static func == (a: Ledger, b: Ledger) -> Bool { Stage.allCases.allSatisfy { a[$0] == b[$0] } }
}
