import Frames
import Glibc

extension AudioBlock {
  /// How loud the block is, as RFC 6464 counts: 0 is a full-scale square wave, 127 is silence, in steps of -1 dBov.
  public var level: UInt8 {
    let meanSquare = meanSquare
    guard meanSquare > 0 else { return 127 }
    return UInt8(max(0, min(127, (-10 * log10(meanSquare)).rounded())))
  }

  /// Mean of the squared samples, 1 being full scale: what W3C `totalAudioEnergy` adds up.
  public var meanSquare: Double {
    let sum = samples.reduce(0) { $0 + Int64($1) * Int64($1) }
    return Double(sum) / Double(samples.count) / (32_767 * 32_767)
  }

  /// The loudest sample, 0 to 1: W3C `audioLevel` is linear.
  public var peak: Double { Double(samples.reduce(Int32(0)) { max($0, abs(Int32($1))) }) / 32_768 }

  /// The block with `wanted` channels: two are averaged to one, one is doubled.
  public func converted(toChannelCount wanted: Int) -> AudioBlock {
    precondition((1...2).contains(wanted), "sound has one or two channels")
    if wanted == channelCount { return self }
    let converted: [Int16] =
      wanted == 2
      ? samples.flatMap { [$0, $0] }
      : (0..<AudioBlock.sampleCount).map { Int16((Int32(samples[2 * $0]) + Int32(samples[2 * $0 + 1])) / 2) }
    return AudioBlock(samples: converted, channelCount: wanted, captureTime: captureTime)
  }

  /// Adds `blocks` up; where they are too loud together the sum is cut at full scale. Without blocks: silence.
  public static func mixed(_ blocks: [AudioBlock], channelCount: Int = 1) -> AudioBlock {
    guard let first = blocks.first?.converted(toChannelCount: channelCount) else { return .silence(channelCount: channelCount) }
    if blocks.count == 1 { return first }
    var sums = first.samples.map { Int32($0) }
    for block in blocks.dropFirst() {
      let converted = block.converted(toChannelCount: channelCount)
      for index in sums.indices { sums[index] &+= Int32(converted.samples[index]) }
    }
    return AudioBlock(samples: sums.map { Int16(clamping: $0) }, channelCount: channelCount, captureTime: first.captureTime)
  }
}
