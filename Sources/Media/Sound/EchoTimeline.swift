import Base
import Frames

/// What was played, by the time at which it was heard: so the microphone's thread finds what belongs to a block that it captured, whatever the two
/// devices keep waiting.
///
/// Times are only known to some tenths of a millisecond. As long as a block's time is no further off than `tolerance` it is joined to the one before without
/// a seam, both when it is added and when it is read, since an echo canceller suffers from each jump.
public struct EchoTimeline: ~Copyable {
  /// How far the time of a block may be off from where the one before ended.
  public static let tolerance = Interval.milliseconds(4)

  // A bit more than a second: more than any device keeps waiting.
  private static let capacity = 1 << 16

  private let samples: UnsafeMutablePointer<Int16>
  private var origin: Instant?
  /// Samples since `origin`: where the next block is expected, and where the next is read.
  private var end = 0
  private var readEnd: Int?
  /// How often a block did not join the one before.
  public private(set) var jumpCount = 0

  /// Nothing was played.
  public init() {
    samples = .allocate(capacity: EchoTimeline.capacity)
    unsafe samples.initialize(repeating: 0, count: EchoTimeline.capacity)
  }

  deinit { unsafe samples.deallocate() }

  private static var toleranceCount: Int { Int(tolerance.nanoseconds * 48 / 1_000_000) }

  private func position(of time: Instant, from origin: Instant) -> Int {
    Int((Double((time - origin).nanoseconds) * 48e-6).rounded())
  }

  /// Adds a block whose first sample is heard at `time`.
  public mutating func add(_ block: UnsafePointer<Int16>, channelCount: Int, at time: Instant) {
    guard let origin else {
      (self.origin, end) = (time, 0)
      return append(block, channelCount)
    }
    let start = position(of: time, from: origin)
    if abs(start - end) > EchoTimeline.toleranceCount {
      jumpCount += 1
      // Silence in between; what is further away than all that is kept begins anew.
      if start > end, start - end < EchoTimeline.capacity {
        for position in end..<start { unsafe samples[position & (EchoTimeline.capacity - 1)] = 0 }
      } else if abs(start - end) >= EchoTimeline.capacity {
        unsafe samples.update(repeating: 0, count: EchoTimeline.capacity)
      }
      end = max(0, start)
    }
    append(block, channelCount)
  }

  private mutating func append(_ block: UnsafePointer<Int16>, _ channelCount: Int) {
    for index in 0..<AudioBlock.sampleCount {
      let value = unsafe channelCount == 1 ? block[index] : Int16((Int32(block[2 * index]) + Int32(block[2 * index + 1])) / 2)
      unsafe samples[(end + index) & (EchoTimeline.capacity - 1)] = value
    }
    end += AudioBlock.sampleCount
  }

  /// Writes the 10 ms that were heard from `time` on, as one channel; silence where nothing was played. Returns whether anything was.
  @discardableResult
  public mutating func read(into target: UnsafeMutablePointer<Int16>, at time: Instant) -> Bool {
    guard let origin else {
      unsafe target.update(repeating: 0, count: AudioBlock.sampleCount)
      return false
    }
    var start = position(of: time, from: origin)
    if let readEnd, abs(readEnd - start) <= EchoTimeline.toleranceCount { start = readEnd }
    readEnd = start + AudioBlock.sampleCount
    let known = max(0, end - EchoTimeline.capacity)..<end
    for index in 0..<AudioBlock.sampleCount {
      let position = start + index
      unsafe target[index] = known.contains(position) ? samples[position & (EchoTimeline.capacity - 1)] : 0
    }
    return known.overlaps(start..<start + AudioBlock.sampleCount)
  }
}
