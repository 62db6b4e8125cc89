import Base

/// Learns how a sound card's clock runs against the machine's monotonic clock.
///
/// Fed with positions (frames that the card has captured or played) and when they were true, it tells the position at any time, the time of
/// any position, and the card's true rate. It is a Kalman filter of two quantities, the position and the drift, whose gains follow from how
/// much the observations scatter: pointers that move in steps of 1 ms (USB) or 4 ms (timers that count jiffies) are averaged over tens of
/// seconds, exact ones over one. What it says changes smoothly, so whoever follows it needs no filter of his own.
public struct ClockLock: Sendable {
  /// Frames a second that the card claims.
  public let nominalRate: Double
  /// How far cards are believed to be off, as a fraction: 3,000 ppm.
  public static let greatestDrift = 0.003

  // In seconds and seconds squared. The drift wanders by the square root of `driftWander` times the seconds that have passed.
  private static let driftWander = 1e-11
  private static let leastNoise = 5e-6 * 5e-6
  private static let greatestNoise = 5e-3 * 5e-3
  private static let firstNoise = 1e-3 * 1e-3
  /// How far an observation may be off before it is taken for one of another stretch of sound.
  private static let discontinuity = 0.05

  private var anchorTime = Instant.zero
  private var anchorPosition = 0.0
  private var relativeDrift = 0.0
  private var noise = ClockLock.firstNoise
  private var positionVariance = 0.0
  private var covariance = 0.0
  private var driftVariance = 1.5e-4 * 1.5e-4
  private var strayCount = 0

  /// How many observations there are since the last `relock`.
  public private(set) var observationCount = 0

  /// A lock that knows no more than the card's claim.
  public init(nominalRate: Int) { self.nominalRate = Double(nominalRate) }

  /// Whether it can tell positions and times.
  public var isReady: Bool { observationCount > 0 }
  /// Whether the drift is known to some 30 ppm.
  public var hasConverged: Bool { driftVariance < 30e-6 * 30e-6 && observationCount > 50 }
  /// Frames in a second of the monotonic clock.
  public var rate: Double { nominalRate * (1 + relativeDrift) }
  /// How much faster than it claims the card runs, in millionths.
  public var drift: Double { relativeDrift * 1e6 }
  /// Standard deviation of the observations.
  public var scatter: Interval { .seconds(noise.squareRoot()) }

  /// The card's position at `time`, with fractions of a frame.
  public func position(at time: Instant) -> Double { anchorPosition + (time - anchorTime).seconds * rate }

  /// When the card is or was at `position`.
  public func time(of position: Double) -> Instant { anchorTime + .seconds((position - anchorPosition) / rate) }

  /// Forgets the position, after a gap; what is known of the drift stays.
  public mutating func relock() {
    observationCount = 0
    strayCount = 0
    driftVariance = max(driftVariance, 20e-6 * 20e-6)
  }

  /// The card was at `position` at `time`.
  public mutating func observe(_ position: Int64, at time: Instant) {
    let position = Double(position)
    guard observationCount > 0 else {
      (anchorTime, anchorPosition) = (time, position)
      (positionVariance, covariance) = (max(noise, ClockLock.firstNoise), 0)
      observationCount = 1
      return
    }
    let elapsed = (time - anchorTime).seconds
    guard elapsed > 0 else { return }
    let predicted = anchorPosition + elapsed * rate
    var innovation = (position - predicted) / nominalRate
    if abs(innovation) > ClockLock.discontinuity {
      // One stray time stamp says nothing; several in a row are a new stretch.
      strayCount += 1
      if strayCount > 3 {
        relock()
        observe(Int64(position), at: time)
      }
      return
    }
    strayCount = 0
    observationCount += 1
    positionVariance += elapsed * (2 * covariance + elapsed * driftVariance) + ClockLock.driftWander * elapsed * elapsed * elapsed / 3
    covariance += elapsed * driftVariance + ClockLock.driftWander * elapsed * elapsed / 2
    driftVariance += ClockLock.driftWander * elapsed

    // Late interrupts must not pull at the clock: they, and nothing else, make a position look old.
    let deviation = (positionVariance + noise).squareRoot()
    innovation = max(-2 * deviation, min(4 * deviation, innovation))
    noise += (innovation * innovation - positionVariance - noise) / 64
    noise = max(ClockLock.leastNoise, min(ClockLock.greatestNoise, noise))

    let sum = positionVariance + noise
    let (positionGain, driftGain) = (positionVariance / sum, covariance / sum)
    (anchorTime, anchorPosition) = (time, predicted + positionGain * innovation * nominalRate)
    relativeDrift = max(-ClockLock.greatestDrift, min(ClockLock.greatestDrift, relativeDrift + driftGain * innovation))
    driftVariance -= driftGain * covariance
    covariance *= 1 - positionGain
    positionVariance *= 1 - positionGain
  }
}
