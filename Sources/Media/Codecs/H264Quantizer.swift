/// Reads the quantizer out of H.264 slice headers (ITU-T H.264 sections 7.3.2 and 7.3.3): neither openh264's encoder nor its decoder tells it.
///
/// Fed with whole access units; remembers the parameter sets of one stream.
public struct H264Quantizer: Sendable {
  private struct SequenceParameters {
    var frameNumberBits = 4
    var orderType: UInt32 = 0
    var orderBits = 4
    var isDeltaOrderAlwaysZero = false
    var hasOnlyFrames = true
    var hasSeparatePlanes = false
  }

  private struct PictureParameters {
    var isArithmetic = false
    var hasOrderInFrame = false
    var weighsPrediction = false
    var bidirectionalWeights: UInt32 = 0
    var initialQuantizer = 26
    var hasRedundantPictures = false
  }

  private var sequence: SequenceParameters?
  private var picture: PictureParameters?

  /// A reader that has seen no parameter sets.
  public init() {}

  /// The quantizer (0…51) with which the first slice of an access unit begins; nil when its headers are not understood.
  public mutating func read(_ accessUnit: [UInt8]) -> Int? {
    var offset = 0
    while let unit = AnnexB.unit(in: accessUnit, from: offset) {
      offset = unit.upperBound
      let header = accessUnit[unit.lowerBound]
      var reader = H264BitReader(accessUnit, in: unit.lowerBound + 1..<unit.upperBound)
      switch header & 0x1F {
      case AnnexB.UnitType.sequenceParameterSet: sequence = H264Quantizer.sequenceParameters(&reader)
      case AnnexB.UnitType.pictureParameterSet: picture = H264Quantizer.pictureParameters(&reader)
      case AnnexB.UnitType.slice, AnnexB.UnitType.keyFrameSlice:
        guard let sequence, let picture else { return nil }
        return H264Quantizer.sliceQuantizer(&reader, header: header, sequence, picture)
      default: break
      }
    }
    return nil
  }

  private static func sequenceParameters(_ reader: inout H264BitReader) -> SequenceParameters? {
    var result = SequenceParameters()
    let profile = reader.bits(8)
    reader.skip(16)
    _ = reader.unsigned()
    if [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(profile) {
      let chroma = reader.unsigned()
      if chroma == 3 { result.hasSeparatePlanes = reader.flag() }
      _ = reader.unsigned()
      _ = reader.unsigned()
      reader.skip(1)
      if reader.flag() {
        for list in 0..<(chroma == 3 ? 12 : 8) where reader.flag() { skipScalingList(&reader, count: list < 6 ? 16 : 64) }
      }
    }
    result.frameNumberBits = Int(min(reader.unsigned(), 12)) + 4
    result.orderType = reader.unsigned()
    switch result.orderType {
    case 0: result.orderBits = Int(min(reader.unsigned(), 12)) + 4
    case 1:
      result.isDeltaOrderAlwaysZero = reader.flag()
      _ = reader.signed()
      _ = reader.signed()
      for _ in 0..<min(reader.unsigned(), 255) { _ = reader.signed() }
    default: break
    }
    _ = reader.unsigned()  // reference frames
    reader.skip(1)
    _ = reader.unsigned()  // width and height in macroblocks
    _ = reader.unsigned()
    result.hasOnlyFrames = reader.flag()
    return reader.isExhausted ? nil : result
  }

  private static func skipScalingList(_ reader: inout H264BitReader, count: Int) {
    var (last, next): (Int32, Int32) = (8, 8)
    for _ in 0..<count {
      if next != 0 { next = (last &+ reader.signed()) & 0xFF }
      if next != 0 { last = next }
    }
  }

  private static func pictureParameters(_ reader: inout H264BitReader) -> PictureParameters? {
    var result = PictureParameters()
    _ = reader.unsigned()
    _ = reader.unsigned()
    result.isArithmetic = reader.flag()
    result.hasOrderInFrame = reader.flag()
    guard reader.unsigned() == 0 else { return nil }  // slice groups: nobody sends them
    _ = reader.unsigned()
    _ = reader.unsigned()
    result.weighsPrediction = reader.flag()
    result.bidirectionalWeights = reader.bits(2)
    result.initialQuantizer = 26 + Int(reader.signed())
    _ = reader.signed()
    _ = reader.signed()
    reader.skip(2)
    result.hasRedundantPictures = reader.flag()
    return reader.isExhausted ? nil : result
  }

  private static func sliceQuantizer(
    _ reader: inout H264BitReader, header: UInt8, _ sequence: SequenceParameters, _ picture: PictureParameters
  ) -> Int? {
    _ = reader.unsigned()  // first macroblock
    let type = reader.unsigned() % 5
    let (isP, isB, isI) = (type == 0 || type == 3, type == 1, type == 2 || type == 4)
    _ = reader.unsigned()
    if sequence.hasSeparatePlanes { reader.skip(2) }
    reader.skip(sequence.frameNumberBits)
    var isField = false
    if !sequence.hasOnlyFrames {
      isField = reader.flag()
      if isField { reader.skip(1) }
    }
    let isIDR = header & 0x1F == AnnexB.UnitType.keyFrameSlice
    if isIDR { _ = reader.unsigned() }
    if sequence.orderType == 0 {
      reader.skip(sequence.orderBits)
      if picture.hasOrderInFrame && !isField { _ = reader.signed() }
    } else if sequence.orderType == 1 && !sequence.isDeltaOrderAlwaysZero {
      _ = reader.signed()
      if picture.hasOrderInFrame && !isField { _ = reader.signed() }
    }
    if picture.hasRedundantPictures { _ = reader.unsigned() }
    if isB { reader.skip(1) }
    if !isI, reader.flag() {
      _ = reader.unsigned()
      if isB { _ = reader.unsigned() }
    }
    for _ in 0..<(isI ? 0 : isB ? 2 : 1) where reader.flag() {
      // The list of reference changes ends with a 3.
      while !reader.isExhausted, reader.unsigned() < 3 { _ = reader.unsigned() }
    }
    if picture.weighsPrediction && isP || picture.bidirectionalWeights == 1 && isB { return nil }
    if header & 0x60 != 0 {
      if isIDR {
        reader.skip(2)
      } else if reader.flag() {
        while !reader.isExhausted {
          let operation = reader.unsigned()
          if operation == 0 { break }
          if operation != 5 { _ = reader.unsigned() }
          if operation == 3 { _ = reader.unsigned() }
        }
      }
    }
    if picture.isArithmetic && !isI { _ = reader.unsigned() }
    let quantizer = picture.initialQuantizer + Int(reader.signed())
    return !reader.isExhausted && (0...51).contains(quantizer) ? quantizer : nil
  }
}

/// Reads the bits of a NAL unit, the emulation prevention bytes left out (ITU-T H.264 sections 7.3.1 and 9.1). Beyond the end all bits are zero.
struct H264BitReader {
  /// Whether more was asked for than there is.
  private(set) var isExhausted = false
  /// How many were read.
  private(set) var bitsRead = 0

  private let bytes: [UInt8]
  private let end: Int
  private var next: Int
  private var zeros = 0
  private var current: UInt8 = 0
  private var left = 0

  init(_ bytes: [UInt8], in range: Range<Int>) { (self.bytes, next, end) = (bytes, range.lowerBound, range.upperBound) }

  mutating func flag() -> Bool {
    if left == 0 {
      if zeros >= 2 && next < end && bytes[next] == 3 {
        next += 1
        zeros = 0
      }
      guard next < end else {
        isExhausted = true
        return false
      }
      current = bytes[next]
      next += 1
      left = 8
      zeros = current == 0 ? zeros + 1 : 0
    }
    left -= 1
    bitsRead += 1
    return current >> UInt8(left) & 1 == 1
  }

  mutating func bits(_ count: Int) -> UInt32 { (0..<count).reduce(0) { value, _ in value << 1 | (flag() ? 1 : 0) } }

  mutating func skip(_ count: Int) { for _ in 0..<count { _ = flag() } }

  /// An unsigned Exp-Golomb code; those of more than 31 bits do not occur in these headers.
  mutating func unsigned() -> UInt32 {
    var count = 0
    while !flag() {
      count += 1
      if count > 31 || isExhausted {
        isExhausted = true
        return 0
      }
    }
    return (1 << UInt32(count)) - 1 + bits(count)
  }

  /// A signed Exp-Golomb code.
  mutating func signed() -> Int32 {
    let code = Int64(unsigned())
    return Int32(truncatingIfNeeded: code & 1 == 1 ? (code + 1) / 2 : -(code / 2))
  }
}
