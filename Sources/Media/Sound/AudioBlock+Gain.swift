import Frames

extension AudioBlock {
  /// The block louder or quieter: by the factor `start` at its beginning, going over evenly to `end`, so that a change of volume makes no click.
  public func scaled(from start: Double, to end: Double) -> AudioBlock {
    if start == 1, end == 1 { return self }
    var result = self
    let step = (end - start) / Double(AudioBlock.sampleCount)
    for index in result.samples.indices {
      let factor = start + step * Double(index / channelCount + 1)
      result.samples[index] = Int16(clamping: Int((Double(samples[index]) * factor).rounded()))
    }
    return result
  }
}
