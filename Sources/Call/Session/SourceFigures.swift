import Base
import Codecs
import Frames
import Net
import Sound
import WebRTC

/// How many pictures came a second, by their times.
struct FrameRate: Sendable {
  private var times: [Instant] = []

  /// Takes note of a picture.
  mutating func note(_ time: Instant) {
    times.append(time)
    // Twice a second's worth at most is kept, so that the array is shortened rarely.
    if times.count >= 240 { times.removeAll { time - $0 > .seconds(1) } }
  }

  /// The pictures of the last second; nil when there was none.
  func perSecond(now: Instant) -> Double? {
    let count = times.count { now - $0 <= .seconds(1) }
    return count > 0 ? Double(count) : nil
  }
}

/// Counts of what a sender's source gives, with their W3C names (`media-source`). Written by the source's thread.
final class SourceFigures: Sendable {
  private struct Values: Sendable {
    var (width, height, frames) = (0, 0, 0)
    var rate = FrameRate()
    var (audioLevel, totalAudioEnergy, totalSamplesDuration) = (0.0, 0.0, 0.0)
  }

  private let values = Guarded(Values())

  func count(_ frame: VideoFrame) { count(width: frame.width, height: frame.height, frame.ledger) }

  func count(_ unit: AccessUnit) { count(width: unit.frame.width, height: unit.frame.height, unit.frame.ledger) }

  private func count(width: Int, height: Int, _ ledger: Ledger) {
    values.with { values in
      (values.width, values.height) = (width, height)
      values.frames += 1
      values.rate.note(ledger[.capture] ?? MonotonicClock.now())
    }
  }

  func count(_ block: AudioBlock) {
    let (peak, energy) = (block.peak, block.meanSquare)
    values.with { values in
      values.audioLevel = peak
      values.totalAudioEnergy += energy * 0.01
      values.totalSamplesDuration += 0.01
    }
  }

  func members(isVideo: Bool, now: Instant) -> [String: StatisticValue] {
    let values = values.with { $0 }
    guard isVideo else {
      return [
        "audioLevel": .number(values.audioLevel), "totalAudioEnergy": .number(values.totalAudioEnergy),
        "totalSamplesDuration": .number(values.totalSamplesDuration),
      ]
    }
    guard values.frames > 0 else { return [:] }
    var members: [String: StatisticValue] = [
      "width": .integer(values.width), "height": .integer(values.height), "frames": .integer(values.frames),
    ]
    if let rate = values.rate.perSecond(now: now) { members["framesPerSecond"] = .number(rate) }
    return members
  }
}
