/// The H.264 byte stream format (ITU-T H.264 Annex B): NAL units behind start codes.
public enum AnnexB {
  /// NAL unit types that matter to a receiver (ITU-T H.264 table 7-1).
  public enum UnitType {
    /// A slice of a picture that refers to others.
    public static let slice: UInt8 = 1
    /// A slice of an IDR picture.
    public static let keyFrameSlice: UInt8 = 5
    /// SPS.
    public static let sequenceParameterSet: UInt8 = 7
    /// PPS.
    public static let pictureParameterSet: UInt8 = 8
  }

  /// Where the first NAL unit behind a start code at or after `offset` lies, start codes and trailing zeros left out. Empty units are passed over.
  public static func unit(in bytes: [UInt8], from offset: Int) -> Range<Int>? {
    var position = offset
    while let start = startCode(in: bytes, from: position)?.upperBound {
      let limit = startCode(in: bytes, from: start)?.lowerBound ?? bytes.count
      var end = limit
      while end > start && bytes[end - 1] == 0 { end -= 1 }
      if start < end { return start..<end }
      position = limit
    }
    return nil
  }

  /// Where each NAL unit lies in `bytes`.
  public static func units(of bytes: [UInt8]) -> [Range<Int>] {
    var units: [Range<Int>] = []
    while let unit = unit(in: bytes, from: units.last?.upperBound ?? 0) { units.append(unit) }
    return units
  }

  /// Whether a decoder can begin with this access unit: it holds a slice of an IDR picture.
  public static func startsDecoding(_ bytes: [UInt8]) -> Bool {
    var offset = 0
    while let unit = unit(in: bytes, from: offset) {
      let type = bytes[unit.lowerBound] & 0x1F
      if type == UnitType.keyFrameSlice { return true }
      if type == UnitType.slice { return false }
      offset = unit.upperBound
    }
    return false
  }

  /// Whether a picture's slice is among the units.
  static func holdsPicture(_ bytes: [UInt8]) -> Bool {
    var offset = 0
    while let unit = unit(in: bytes, from: offset) {
      if [UnitType.slice, UnitType.keyFrameSlice].contains(bytes[unit.lowerBound] & 0x1F) { return true }
      offset = unit.upperBound
    }
    return false
  }

  /// Where the next three bytes 0, 0, 1 lie.
  private static func startCode(in bytes: [UInt8], from offset: Int) -> Range<Int>? {
    var index = offset
    while index + 2 < bytes.count {
      if bytes[index + 2] > 1 {
        index += 3
      } else if bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
        return index..<index + 3
      } else {
        index += 1
      }
    }
    return nil
  }
}
