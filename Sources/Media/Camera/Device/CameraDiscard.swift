import Base

/// Why a picture that a camera gave was not used.
public enum CameraDiscard: String, Sendable, CaseIterable, Hashable, Error {
  /// A newer one was there already.
  case superseded
  /// The driver says that it is damaged.
  case flagged
  /// There is less of it than a picture takes.
  case short
  /// A coded picture that cannot be decoded whole.
  case corrupt
  /// A coded picture of another size than agreed.
  case wrongSize
  /// The driver never gave it, but others that it gave refer to it: of how many is not known, they count as one.
  case missing
}

/// A camera's pictures, counted.
public struct CameraFigures: Sendable, Equatable {
  /// Pictures that were handed on.
  public var frames = 0
  /// Pictures a second, measured over the last second or so; 0: not known yet.
  public var framesPerSecond = 0.0
  /// What the newest picture took from the driver's memory to a picture of ours.
  public var conversionTime = Interval.zero
  /// Where the driver's time says when a picture began (as with USB cameras): from then until the newest picture's buffer was ready. Zero where it says when
  /// the picture was whole. Of a picture that came while nobody waited for one, only what had passed when the driver was last seen without one.
  public var transferTime = Interval.zero
  private var counts: InlineArray<6, Int> = .init(repeating: 0)
  private var windowStart: Int64?
  private var windowFrames = 0

  /// No pictures yet.
  public init() {}

  /// How many pictures were not used, by why.
  public subscript(reason: CameraDiscard) -> Int {
    get { counts[reason.position] }
    set { counts[reason.position] = newValue }
  }

  /// Pictures that were not used.
  public var discards: [CameraDiscard: Int] {
    Dictionary(uniqueKeysWithValues: CameraDiscard.allCases.map { ($0, self[$0]) }).filter { $0.value > 0 }
  }

  /// How many pictures were not used.
  public var discardCount: Int { counts[0] + counts[1] + counts[2] + counts[3] + counts[4] + counts[5] }

  /// These counts, and those of a camera that was opened after.
  public func followed(by later: CameraFigures) -> CameraFigures {
    var sum = later
    sum.frames += frames
    for index in 0..<6 { sum.counts[index] += counts[index] }
    return sum
  }

  /// Counts a picture taken at a time in nanoseconds.
  public mutating func count(frameAt nanoseconds: Int64) {
    frames += 1
    guard let start = windowStart, nanoseconds > start else {
      (windowStart, windowFrames) = (nanoseconds, 0)
      return
    }
    windowFrames += 1
    guard nanoseconds - start >= 1_000_000_000 else { return }
    framesPerSecond = Double(windowFrames) * 1e9 / Double(nanoseconds - start)
    (windowStart, windowFrames) = (nanoseconds, 0)
  }

  public static func == (a: CameraFigures, b: CameraFigures) -> Bool {
    a.frames == b.frames && a.conversionTime == b.conversionTime && a.transferTime == b.transferTime
      && a.framesPerSecond == b.framesPerSecond && a.discards == b.discards
  }
}

extension CameraDiscard {
  fileprivate var position: Int {
    switch self {
    case .superseded: 0
    case .flagged: 1
    case .short: 2
    case .corrupt: 3
    case .wrongSize: 4
    case .missing: 5
    }
  }
}
