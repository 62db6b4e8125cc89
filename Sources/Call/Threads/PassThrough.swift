import Base
import Codecs
import SDP

/// Decides whether what a camera coded goes to a peer as it is, or is decoded and coded anew: a value, into which go units, pictures and what limits them.
///
/// From one way to the other it goes without a gap: units begin with a key frame, and until it comes pictures are coded; pictures take over when the first one
/// is there.
struct PassThrough {
  enum Mode: Equatable {
    /// Pictures are coded.
    case coding
    /// The source gives units that fit, and none has been passed on yet: pictures are not needed.
    case awaiting
    /// Units are passed on.
    case passing
    /// Units are passed on until there is a picture to code.
    case leaving
  }

  /// What becomes of a unit.
  enum Verdict: Equatable {
    case pass
    case drop
    /// It refers to what was not sent, or no one can begin with it.
    case dropAskingForKeyFrame
  }

  private(set) var mode = Mode.coding
  /// Whether units are passed on.
  var isPassing: Bool { mode == .passing || mode == .leaving }
  /// What the peer takes; nil: no H.264, or not in any size of units.
  private let accepted: H264Profile?
  private let sourceRate: Double
  private var following: Int?
  private var budget = UnitBudget()
  /// What was looked at last, and whether it fits.
  private var looked: (format: AccessUnit.Format?, fits: Bool) = (nil, false)
  private var isMisfit = false

  /// For a peer that takes `accepted`, and a source of about `sourceRate` pictures a second.
  init(accepted: H264Profile?, sourceRate: Double) { (self.accepted, self.sourceRate) = (accepted, sourceRate) }

  /// A source begins that gives units of this format; nil: pictures, as far as is known.
  mutating func begin(_ format: AccessUnit.Format?, _ limits: EncodingLimits) {
    (following, budget, isMisfit) = (nil, UnitBudget(), false)
    mode = format != nil && fits(format) && allows(limits) ? .awaiting : .coding
  }

  /// No more units come, or they are another stream.
  mutating func end() {
    (mode, following, budget, isMisfit) = (.coding, nil, UnitBudget(), false)
  }

  /// What is needed of the source, when at most `bitrate` bits per second may be sent.
  func needs(_ limits: EncodingLimits, bitrate: Int) -> VideoNeeds {
    let takesUnits = accepted != nil && !isMisfit && allows(limits)
    return VideoNeeds(
      pictures: mode == .coding || mode == .leaving || !takesUnits, units: takesUnits,
      bitrate: takesUnits ? min(bitrate, limits.maximumBitrate ?? .max) : nil)
  }

  /// What becomes of a unit, when at most `bitrate` bits per second may be sent.
  mutating func take(_ unit: AccessUnit, _ limits: EncodingLimits, bitrate: Int) -> Verdict {
    let fits = fits(unit.format)
    isMisfit = !fits
    if let time = unit.frame.ledger[.capture] {
      budget.count(unit.frame.bytes.count, at: time, limit: min(bitrate, limits.maximumBitrate ?? .max))
    }
    guard limits.isActive else {
      following = nil
      return .drop
    }
    let isUsable = fits && allows(limits) && !budget.isExceeded
    switch mode {
    case .coding, .awaiting:
      guard isUsable else {
        mode = .coding
        return .drop
      }
      guard unit.frame.isKeyFrame else { return .dropAskingForKeyFrame }
      mode = .passing
    case .passing, .leaving:
      mode = isUsable ? .passing : .leaving
      guard unit.frame.isKeyFrame || unit.number == following else { return .dropAskingForKeyFrame }
    }
    following = unit.number + 1
    return .pass
  }

  /// Whether a picture is to be coded. If so, what was passed on before is no more to be referred to.
  mutating func takePicture() -> Bool {
    guard mode != .passing else { return false }
    mode = .coding
    return true
  }

  /// Whether limits leave units as they are.
  private func allows(_ limits: EncodingLimits) -> Bool {
    limits.scaleDownBy <= 1 && limits.maximumFramesPerSecond ?? .infinity >= sourceRate * 0.95
  }

  private mutating func fits(_ format: AccessUnit.Format?) -> Bool {
    guard let accepted, let format else { return false }
    if looked.format != format {
      looked = (format, H264Profile(profileLevelID: format.profileLevelID).map { accepted.decodes($0) } ?? false)
    }
    return looked.fits
  }
}

/// Whether a camera keeps to the bitrate that it is told: one that exceeds it for four seconds does not, until it has kept to it for ten.
struct UnitBudget {
  private(set) var isExceeded = false
  private var start: Instant?
  private var byteCount = 0
  /// The most that was allowed meanwhile: a camera takes a while to follow.
  private var allowed = 0
  private var (overCount, underCount) = (0, 0)

  private static let window = Interval.seconds(2)

  /// Counts a unit when `limit` bits per second were allowed.
  mutating func count(_ bytes: Int, at time: Instant, limit: Int) {
    let begin = start ?? time
    start = begin
    let passed = time - begin
    guard passed >= UnitBudget.window else {
      byteCount += bytes
      allowed = max(allowed, limit)
      return
    }
    let (rate, most) = (Double(byteCount * 8) / passed.seconds, Double(allowed))
    (start, byteCount, allowed) = (time, bytes, limit)
    // What an encoder of ours overshoots by at times is no reason.
    overCount = rate > most * 1.3 ? overCount + 1 : 0
    underCount = rate <= most ? underCount + 1 : 0
    if overCount >= 2 { isExceeded = true }
    if underCount >= 5 { isExceeded = false }
  }
}

extension H264Profile {
  /// Whether a decoder of this profile and level can decode a stream of another (ITU-T H.264 annex A.2).
  func decodes(_ stream: H264Profile) -> Bool {
    guard stream.level <= level, stream.profile != profile else { return stream.level <= level }
    return switch profile {
    case .constrainedBaseline: false
    case .baseline, .main, .constrainedHigh: stream.profile == .constrainedBaseline
    case .extended: [.constrainedBaseline, .baseline].contains(stream.profile)
    case .high, .high10, .high422: [.constrainedBaseline, .main, .constrainedHigh, .high].contains(stream.profile)
    case .predictiveHigh444: [.constrainedBaseline, .main, .constrainedHigh, .high].contains(stream.profile)
    }
  }
}
