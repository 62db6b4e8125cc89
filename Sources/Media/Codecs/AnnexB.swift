/// The H.264 byte stream format (ITU-T H.264 Annex B): NAL units behind start codes.
public enum AnnexB {
  /// NAL unit types that matter to a receiver (ITU-T H.264 table 7-1).
  public enum UnitType {
    public static let slice: UInt8 = 1
    public static let keyFrameSlice: UInt8 = 5
    public static let sequenceParameterSet: UInt8 = 7
    public static let pictureParameterSet: UInt8 = 8
  }

  /// Where each NAL unit lies in `bytes`, start codes and trailing zeros left out. An empty unit is passed over.
  public static func units(of bytes: [UInt8]) -> [Range<Int>] {
    var units: [Range<Int>] = []
    var start: Int?
    var index = 0
    func close(at end: Int) {
      guard let lower = start, lower < end else { return }
      var upper = end
      while upper > lower && bytes[upper - 1] == 0 { upper -= 1 }
      if lower < upper { units.append(lower..<upper) }
    }
    while index + 2 < bytes.count {
      if bytes[index + 2] > 1 {
        index += 3
      } else if bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
        close(at: index)
        start = index + 3
        index += 3
      } else {
        index += 1
      }
    }
    close(at: bytes.count)
    return units
  }

  /// Whether a decoder can begin with this access unit: it holds a slice of an IDR picture.
  public static func startsDecoding(_ bytes: [UInt8]) -> Bool {
    units(of: bytes).contains { bytes[$0.lowerBound] & 0x1F == UnitType.keyFrameSlice }
  }
}
