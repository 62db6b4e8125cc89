import Base

/// The first minutes of a version that was installed just now: whether it is good, or the one before it must come back.
///
/// Good is a box that does what it is for: its picture is on the screen, and its page is loaded or its call stands. A network or a server that is away says nothing about
/// the version, so then it is waited.
struct SlotTrial: Sendable, Equatable {
  /// What the box says of itself.
  enum Sight: Sendable, Equatable {
    /// It does what it is for.
    case well
    /// It cannot, and not because of itself.
    case prevented
    /// It does not, or says nothing.
    case unwell
  }

  /// What is to be done.
  enum Verdict: Sendable, Equatable {
    /// The version is good from now on.
    case good
    /// The machine starts anew; after three starts the boot loader takes the version before.
    case restart
  }

  /// How long it must be well without a break.
  static let proof = Interval.seconds(30)
  /// How long it may be unwell, starting included.
  let patience: Interval

  private var wellSince: Instant?
  private var unwell = Interval.zero
  private var last: Instant

  /// A trial that begins at `now`.
  init(patience: Interval, now: Instant) { (self.patience, last) = (patience, now) }

  /// Takes what the box says at `now`; returns what that leads to, if anything.
  mutating func take(_ sight: Sight, now: Instant) -> Verdict? {
    if sight == .unwell { unwell = unwell + (now - last) }
    last = now
    guard sight == .well else {
      wellSince = nil
      return unwell >= patience ? .restart : nil
    }
    let start = wellSince ?? now
    wellSince = start
    return now - start >= SlotTrial.proof ? .good : nil
  }
}

extension SlotTrial.Sight {
  /// What a status says; nil: nobody answers.
  init(_ status: Status?) {
    guard let status else {
      self = .unwell
      return
    }
    switch status.state {
    case .ready, .inCall, .unprovisioned: self = .well
    case .offline: self = .prevented
    case .starting, .loading: self = .unwell
    case .error:
      // What is away, or set up wrongly, would be so for any version.
      let outside: Set = ["page.dns", "page.connect", "page.tls", "page.http", "display.absent", "display.connector"]
      let area = status.code.map { $0.prefix { $0 != "." } } ?? ""
      let isOutside =
        outside.contains(status.code ?? "")
        || ["call", "config", "clock", "camera", "microphone", "speaker", "wifi", "cable"].contains(area)
      self = isOutside ? .prevented : .unwell
    }
  }
}
