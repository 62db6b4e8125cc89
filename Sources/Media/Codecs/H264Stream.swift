/// What H.264 headers say (ITU-T H.264 section 7.3), to a decoder in hardware and to whoever passes a stream on: frames of I and P slices, as calls send them.
enum H264Stream {
  /// An SPS.
  struct Sequence: Sendable, Equatable {
    var profile: UInt8 = 0
    /// `constraint_set0_flag` is the highest bit.
    var constraints: UInt8 = 0
    var level = 0
    var frameNumberBits = 4
    var orderType: UInt32 = 0
    var orderBits = 4
    var isDeltaOrderAlwaysZero = false
    var offsetForNonReference: Int32 = 0
    var orderCycle: [Int32] = []
    var referenceCount = 0
    var mayLackFrameNumbers = false
    var widthInMacroblocks = 0
    var heightInMacroblocks = 0
    var infersDirect8x8 = false
    /// Pixels cut off: left, right, top, bottom.
    var crop = (left: 0, right: 0, top: 0, bottom: 0)

    var width: Int { widthInMacroblocks * 16 - crop.left - crop.right }
    var height: Int { heightInMacroblocks * 16 - crop.top - crop.bottom }

    static func == (a: Sequence, b: Sequence) -> Bool {
      (a.profile, a.level, a.referenceCount, a.widthInMacroblocks, a.heightInMacroblocks)
        == (b.profile, b.level, b.referenceCount, b.widthInMacroblocks, b.heightInMacroblocks) && a.crop == b.crop
    }
  }

  /// A PPS.
  struct Picture: Sendable {
    var sequence = 0
    var isArithmetic = false
    var hasOrderInFrame = false
    var activeReferences = 1
    var activeSecondReferences = 1
    var weighsPrediction = false
    var bidirectionalWeights: UInt32 = 0
    var initialQuantizer: Int32 = 0
    var initialSwitchingQuantizer: Int32 = 0
    var chromaOffset: Int32 = 0
    var secondChromaOffset: Int32 = 0
    var setsDeblocking = false
    var isIntraConstrained = false
    var hasRedundantPictures = false
    var transforms8x8 = false
  }

  /// A change of the order of references (table 7-7): nearer, farther, or a long-term one.
  struct Modification: Sendable, Equatable {
    var operation: UInt32
    var value: Int
  }

  /// What becomes of references after a picture (table 7-9), as far as calls have it.
  enum Marking: Sendable, Equatable {
    case forget(difference: Int)
    case forgetLongTerm(Int)
    case makeLongTerm(difference: Int, index: Int)
    case limitLongTerm(Int)
    case forgetAll
    case becomeLongTerm(Int)
  }

  /// A slice header, up to the slice's data.
  struct Slice: Sendable {
    var firstMacroblock = 0
    var isIntra = false
    var picture = 0
    var isKeyFrame = false
    var isReference = false
    var frameNumber = 0
    var orderLowBits = 0
    var orderDelta: Int32 = 0
    var activeReferences = 0
    var modifications: [Modification] = []
    var becomesLongTerm = false
    /// Nil: references slide through a window.
    var markings: [Marking]?
    var arithmeticTable: UInt32 = 0
    var quantizerDelta: Int32 = 0
    var deblocking: UInt32 = 0
    var alphaOffset: Int32 = 0
    var betaOffset: Int32 = 0
    /// Bits from the NAL unit's header byte to the slice's data, emulation prevention bytes not counted.
    var dataBitOffset = 0
  }

  /// Why a stream is left to software, or not passed on.
  struct Unsupported: Error, Equatable, Sendable {
    var what: String
  }

  /// Reads an SPS; nil when it is cut short or makes no sense.
  static func sequence(_ bytes: [UInt8], in unit: Range<Int>) throws(Unsupported) -> (number: Int, Sequence)? {
    var reader = H264BitReader(bytes, in: unit.lowerBound + 1..<unit.upperBound)
    var result = Sequence()
    result.profile = UInt8(reader.bits(8))
    result.constraints = UInt8(reader.bits(8))
    result.level = Int(reader.bits(8))
    let number = Int(reader.unsigned())
    if [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(result.profile) {
      guard reader.unsigned() == 1, reader.unsigned() == 0, reader.unsigned() == 0 else {
        throw Unsupported(what: "other than 8 bits in 4:2:0")
      }
      reader.skip(1)
      if reader.flag() { throw Unsupported(what: "scaling lists") }
    }
    result.frameNumberBits = Int(min(reader.unsigned(), 12)) + 4
    result.orderType = reader.unsigned()
    switch result.orderType {
    case 0: result.orderBits = Int(min(reader.unsigned(), 12)) + 4
    case 1:
      result.isDeltaOrderAlwaysZero = reader.flag()
      result.offsetForNonReference = reader.signed()
      _ = reader.signed()
      for _ in 0..<min(reader.unsigned(), 255) { result.orderCycle.append(reader.signed()) }
    default: break
    }
    result.referenceCount = Int(reader.unsigned())
    result.mayLackFrameNumbers = reader.flag()
    result.widthInMacroblocks = Int(min(reader.unsigned(), 511)) + 1
    result.heightInMacroblocks = Int(min(reader.unsigned(), 511)) + 1
    guard reader.flag() else { throw Unsupported(what: "interlaced pictures") }
    result.infersDirect8x8 = reader.flag()
    if reader.flag() {
      result.crop.left = Int(reader.unsigned()) * 2
      result.crop.right = Int(reader.unsigned()) * 2
      result.crop.top = Int(reader.unsigned()) * 2
      result.crop.bottom = Int(reader.unsigned()) * 2
    }
    guard !reader.isExhausted, number < 32, result.referenceCount <= 16, result.width > 0, result.height > 0 else { return nil }
    return (number, result)
  }

  /// Reads a PPS; nil when it is cut short or makes no sense.
  static func picture(_ bytes: [UInt8], in unit: Range<Int>) throws(Unsupported) -> (number: Int, Picture)? {
    var reader = H264BitReader(bytes, in: unit.lowerBound + 1..<unit.upperBound)
    var result = Picture()
    let number = Int(reader.unsigned())
    result.sequence = Int(reader.unsigned())
    result.isArithmetic = reader.flag()
    result.hasOrderInFrame = reader.flag()
    guard reader.unsigned() == 0 else { throw Unsupported(what: "slice groups") }
    result.activeReferences = Int(reader.unsigned()) + 1
    result.activeSecondReferences = Int(reader.unsigned()) + 1
    result.weighsPrediction = reader.flag()
    result.bidirectionalWeights = reader.bits(2)
    result.initialQuantizer = reader.signed()
    result.initialSwitchingQuantizer = reader.signed()
    result.chromaOffset = reader.signed()
    result.secondChromaOffset = result.chromaOffset
    result.setsDeblocking = reader.flag()
    result.isIntraConstrained = reader.flag()
    result.hasRedundantPictures = reader.flag()
    guard !reader.isExhausted, number < 256, result.sequence < 32, result.activeReferences <= 32 else { return nil }
    if hasMore(bytes, in: unit, reader) {
      result.transforms8x8 = reader.flag()
      if reader.flag() { throw Unsupported(what: "scaling lists") }
      result.secondChromaOffset = reader.signed()
    }
    return (number, result)
  }

  /// Whether there is more than the closing bit and what fills the last byte (section 7.2, `more_rbsp_data`).
  private static func hasMore(_ bytes: [UInt8], in unit: Range<Int>, _ reader: H264BitReader) -> Bool {
    var copy = reader
    var ones = 0
    while !copy.isExhausted { if copy.flag() { ones += 1 } }
    return ones > 1
  }

  /// Reads a slice header; nil when it is cut short or makes no sense.
  static func slice(_ bytes: [UInt8], in unit: Range<Int>, pictures: [Int: Picture], sequences: [Int: Sequence]) throws(Unsupported)
    -> Slice?
  {
    let header = bytes[unit.lowerBound]
    var reader = H264BitReader(bytes, in: unit.lowerBound + 1..<unit.upperBound)
    var result = Slice()
    result.firstMacroblock = Int(reader.unsigned())
    let type = reader.unsigned() % 5
    guard type == 0 || type == 2 else { throw Unsupported(what: "slices other than I and P") }
    result.isIntra = type == 2
    result.picture = Int(reader.unsigned())
    guard let picture = pictures[result.picture], let sequence = sequences[picture.sequence] else { return nil }
    result.isKeyFrame = header & 0x1F == AnnexB.UnitType.keyFrameSlice
    result.isReference = header & 0x60 != 0
    result.frameNumber = Int(reader.bits(sequence.frameNumberBits))
    if result.isKeyFrame { _ = reader.unsigned() }
    if sequence.orderType == 0 {
      result.orderLowBits = Int(reader.bits(sequence.orderBits))
      if picture.hasOrderInFrame { _ = reader.signed() }
    } else if sequence.orderType == 1, !sequence.isDeltaOrderAlwaysZero {
      result.orderDelta = reader.signed()
      if picture.hasOrderInFrame { _ = reader.signed() }
    }
    if picture.hasRedundantPictures, reader.unsigned() > 0 { throw Unsupported(what: "redundant pictures") }
    if !result.isIntra {
      result.activeReferences = reader.flag() ? Int(reader.unsigned()) + 1 : picture.activeReferences
      if reader.flag() {
        while !reader.isExhausted {
          let operation = reader.unsigned()
          guard operation < 3 else { break }
          result.modifications.append(Modification(operation: operation, value: Int(reader.unsigned())))
        }
      }
      if picture.weighsPrediction { throw Unsupported(what: "weighted prediction") }
    }
    if result.isReference {
      if result.isKeyFrame {
        reader.skip(1)
        result.becomesLongTerm = reader.flag()
      } else if reader.flag() {
        result.markings = []
        loop: while !reader.isExhausted {
          switch reader.unsigned() {
          case 1: result.markings?.append(.forget(difference: Int(reader.unsigned()) + 1))
          case 2: result.markings?.append(.forgetLongTerm(Int(reader.unsigned())))
          case 3:
            let difference = Int(reader.unsigned()) + 1
            result.markings?.append(.makeLongTerm(difference: difference, index: Int(reader.unsigned())))
          case 4: result.markings?.append(.limitLongTerm(Int(reader.unsigned())))
          case 5: result.markings?.append(.forgetAll)
          case 6: result.markings?.append(.becomeLongTerm(Int(reader.unsigned())))
          default: break loop
          }
        }
      }
    }
    if picture.isArithmetic, !result.isIntra { result.arithmeticTable = reader.unsigned() }
    result.quantizerDelta = reader.signed()
    if picture.setsDeblocking {
      result.deblocking = reader.unsigned()
      if result.deblocking != 1 { (result.alphaOffset, result.betaOffset) = (reader.signed(), reader.signed()) }
    }
    result.dataBitOffset = 8 + reader.bitsRead
    guard !reader.isExhausted, result.activeReferences <= 32, result.deblocking <= 2, result.arithmeticTable <= 2 else { return nil }
    return result
  }
}
