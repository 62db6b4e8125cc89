/// Makes access units of what a camera's encoder gives, buffer by buffer: checks headers, puts SPS and PPS before key frames that lack them, and notices
/// units that are missing.
public struct AccessUnitReader: Sendable {
  /// What was found in one buffer.
  private struct Contents {
    var sequenceSets: [UInt8] = []
    var pictureSets: [UInt8] = []
    /// Where the access unit delimiter ends, if there is one: nothing may stand before it.
    var start = 0
    var isKeyFrame = false
    var hasPicture = false
    /// The first slice's header; nil: more than calls have.
    var slice: H264Stream.Slice?
  }

  private var sequences: [Int: H264Stream.Sequence] = [:]
  private var pictures: [Int: H264Stream.Picture] = [:]
  /// The SPS and PPS that came last, with start codes.
  private var sequenceSets: [UInt8] = []
  private var pictureSets: [UInt8] = []
  /// Whether a parameter set holds what is not understood here.
  private var isBeyond = false
  private var number = 0
  /// `frame_num` that the next unit has; nil: not known.
  private var expected: Int?

  /// A reader at the start of a stream.
  public init() {}

  /// Takes note that a unit is missing.
  public mutating func lose() {
    number += 1
    expected = nil
  }

  /// The access unit that `bytes` are, its ledger empty; nil: they are parameter sets and the like, without a picture. What is at fault counts as a unit
  /// that is missing.
  public mutating func read(_ bytes: [UInt8]) throws(AccessUnitFault) -> AccessUnit? {
    do throws(AccessUnitFault) {
      let contents = try contents(of: bytes)
      if !contents.sequenceSets.isEmpty { sequenceSets = contents.sequenceSets }
      if !contents.pictureSets.isEmpty { pictureSets = contents.pictureSets }
      guard contents.hasPicture else { return nil }
      return try unit(bytes, contents)
    } catch {
      lose()
      throw error
    }
  }

  private mutating func contents(of bytes: [UInt8]) throws(AccessUnitFault) -> Contents {
    var contents = Contents()
    var offset = 0
    while let unit = AnnexB.unit(in: bytes, from: offset) {
      let isFirst = offset == 0
      offset = unit.upperBound
      let header = bytes[unit.lowerBound]
      guard header & 0x80 == 0 else { throw .damaged("a NAL unit that is marked as damaged") }
      switch header & 0x1F {
      case 9 where isFirst: contents.start = unit.upperBound
      case AnnexB.UnitType.sequenceParameterSet:
        contents.sequenceSets += [0, 0, 0, 1] + bytes[unit]
        try takeSequence(bytes, unit)
      case AnnexB.UnitType.pictureParameterSet:
        contents.pictureSets += [0, 0, 0, 1] + bytes[unit]
        try takePicture(bytes, unit)
      case AnnexB.UnitType.slice, AnnexB.UnitType.keyFrameSlice:
        // The number of the first macroblock, 0 for a picture's first slice, is an Exp-Golomb code: a single bit that is set.
        let beginsPicture = unit.count > 1 && bytes[unit.lowerBound + 1] & 0x80 != 0
        guard beginsPicture != contents.hasPicture else {
          throw .damaged(beginsPicture ? "two pictures in one buffer" : "a picture without its first slice")
        }
        if beginsPicture { contents.slice = try slice(bytes, unit) }
        contents.hasPicture = true
        if header & 0x1F == AnnexB.UnitType.keyFrameSlice { contents.isKeyFrame = true }
      default: break
      }
    }
    guard offset > 0 else { throw .empty }
    return contents
  }

  private mutating func takeSequence(_ bytes: [UInt8], _ unit: Range<Int>) throws(AccessUnitFault) {
    let parsed: (number: Int, H264Stream.Sequence)?
    do throws(H264Stream.Unsupported) { parsed = try H264Stream.sequence(bytes, in: unit) } catch {
      isBeyond = true
      return
    }
    guard let (number, sequence) = parsed else { throw .damaged("an SPS that is cut short") }
    sequences[number] = sequence
    isBeyond = false
  }

  private mutating func takePicture(_ bytes: [UInt8], _ unit: Range<Int>) throws(AccessUnitFault) {
    let parsed: (number: Int, H264Stream.Picture)?
    do throws(H264Stream.Unsupported) { parsed = try H264Stream.picture(bytes, in: unit) } catch {
      isBeyond = true
      return
    }
    guard let (number, picture) = parsed else { throw .damaged("a PPS that is cut short") }
    pictures[number] = picture
  }

  /// A picture's first slice header; nil: more than calls have.
  private func slice(_ bytes: [UInt8], _ unit: Range<Int>) throws(AccessUnitFault) -> H264Stream.Slice? {
    guard !isBeyond else { return nil }
    let parsed: H264Stream.Slice?
    do throws(H264Stream.Unsupported) {
      parsed = try H264Stream.slice(bytes, in: unit, pictures: pictures, sequences: sequences)
    } catch { return nil }
    guard let parsed else { throw .damaged("a slice header that is cut short, or whose SPS and PPS never came") }
    return parsed
  }

  private mutating func unit(_ bytes: [UInt8], _ contents: Contents) throws(AccessUnitFault) -> AccessUnit {
    var bytes = bytes
    if contents.isKeyFrame, contents.sequenceSets.isEmpty || contents.pictureSets.isEmpty {
      guard !sequenceSets.isEmpty, !pictureSets.isEmpty else { throw .damaged("a key frame whose SPS and PPS never came") }
      bytes.insert(contentsOf: sequenceSets + pictureSets, at: contents.start)
    }
    number += 1
    var frame = EncodedVideoFrame(bytes: bytes, isKeyFrame: contents.isKeyFrame)
    guard let slice = contents.slice, let picture = pictures[slice.picture], let sequence = sequences[picture.sequence] else {
      expected = nil
      return AccessUnit(frame: frame, number: number, format: nil)
    }
    if let expected, !slice.isKeyFrame, !sequence.mayLackFrameNumbers, slice.frameNumber != expected { number += 1 }
    let isReset = slice.markings?.contains(.forgetAll) ?? false
    expected = ((isReset ? 0 : slice.frameNumber) + (slice.isReference ? 1 : 0)) % (1 << sequence.frameNumberBits)
    (frame.width, frame.height) = (sequence.width, sequence.height)
    let quantizer = 26 + Int(picture.initialQuantizer) + Int(slice.quantizerDelta)
    frame.quantizer = (0...51).contains(quantizer) ? quantizer : nil
    return AccessUnit(
      frame: frame, number: number,
      format: AccessUnit.Format(
        width: sequence.width, height: sequence.height, profile: sequence.profile, constraints: sequence.constraints,
        level: UInt8(clamping: sequence.level)))
  }
}
