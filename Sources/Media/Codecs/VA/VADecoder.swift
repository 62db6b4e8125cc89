import CVA
import Frames

/// H.264 by VA-API, where the driver wants each picture's and slice's parameters: frames of I and P slices, as calls send them. Other streams are left to
/// software. Its calls wait for the driver.
final class VADecoder: VideoDecoder {
  let implementationName: String
  var isHardware: Bool { true }
  /// The driver does not tell.
  var lastQuantizer: Int? { nil }

  private let driver: any VADriver
  private var sequences: [Int: H264Stream.Sequence] = [:]
  private var pictures: [Int: H264Stream.Picture] = [:]
  private var session: (any VASession)?
  /// What the session was opened for.
  private var sequence: H264Stream.Sequence?
  private var references = H264References()
  private var lastReferenceNumber = 0
  private var needsKeyFrame = true
  private let pool = VideoBufferPool()

  /// Takes a driver's decoder.
  init(_ driver: any VADriver, name: String) { (self.driver, implementationName) = (driver, name) }

  func decode(_ frame: EncodedVideoFrame) throws(CodecError) -> VideoFrame? {
    if needsKeyFrame, !AnnexB.startsDecoding(frame.bytes) { throw .keyFrameRequired }
    needsKeyFrame = true
    let shown: VideoBuffer?
    do { shown = try decode(frame.bytes) } catch let error as CodecError { throw error } catch let error as H264Stream.Unsupported {
      throw .unavailable("\(implementationName) is not used for \(error.what)")
    } catch { throw .encodingFailed("\(implementationName): \(error)") }
    needsKeyFrame = false
    return shown.map { VideoFrame(buffer: $0, rotation: frame.rotation, ledger: frame.ledger) }
  }

  private func decode(_ bytes: [UInt8]) throws -> VideoBuffer? {
    var slices: [(slice: H264Stream.Slice, unit: Range<Int>)] = []
    var offset = 0
    while let unit = AnnexB.unit(in: bytes, from: offset) {
      offset = unit.upperBound
      switch bytes[unit.lowerBound] & 0x1F {
      case AnnexB.UnitType.sequenceParameterSet:
        if let (number, sequence) = try H264Stream.sequence(bytes, in: unit) { sequences[number] = sequence }
      case AnnexB.UnitType.pictureParameterSet:
        if let (number, picture) = try H264Stream.picture(bytes, in: unit) { pictures[number] = picture }
      case AnnexB.UnitType.slice, AnnexB.UnitType.keyFrameSlice:
        guard let slice = try H264Stream.slice(bytes, in: unit, pictures: pictures, sequences: sequences) else {
          throw CodecError.malformed("a slice header that is cut short or wrong")
        }
        slices.append((slice, unit))
      case 2...4: throw H264Stream.Unsupported(what: "data partitions")
      default: break
      }
    }
    guard let first = slices.first?.slice, let picture = pictures[first.picture], let sequence = sequences[picture.sequence] else {
      return nil
    }
    if first.isKeyFrame { try open(sequence) }
    guard let session, sequence == self.sequence else { throw CodecError.malformed("another size in the middle of a stream") }
    let step = (first.frameNumber - lastReferenceNumber) & ((1 << sequence.frameNumberBits) - 1)
    guard first.isKeyFrame || step <= 1 else {
      if sequence.mayLackFrameNumbers { throw H264Stream.Unsupported(what: "frame numbers with gaps") }
      throw CodecError.malformed("a picture is missing before frame number \(first.frameNumber)")
    }

    let order = references.order(of: first, sequence)
    let known = first.isKeyFrame ? [] : references.references
    guard let surface = session.surfaces.first(where: { surface in !known.contains { $0.surface == surface } }) else {
      throw CodecError.malformed("more references than the stream says")
    }
    try session.add(VAPictureParameterBufferType, parameters(first, picture, sequence, known, surface: surface, order: order))
    try session.add(VAIQMatrixBufferType, VADecoder.flatMatrix)
    for (slice, unit) in slices {
      var list: [H264References.Reference] = []
      if !slice.isIntra {
        guard let found = references.list(for: slice, sequence) else { throw CodecError.malformed("a reference that is not there") }
        list = found
      }
      try session.add(VASliceParameterBufferType, parameters(slice, byteCount: unit.count, list))
      try unsafe bytes.withUnsafeBytes { unsafe try session.add(VASliceDataBufferType, UnsafeRawBufferPointer(rebasing: $0[unit])) }
    }
    try session.run(on: surface)
    let shown = pool.buffer(width: sequence.width, height: sequence.height)
    try session.download(surface, into: shown)
    references.finish(first, sequence, surface: surface, order: order)
    if first.isReference { lastReferenceNumber = first.markings?.contains(.forgetAll) ?? false ? 0 : first.frameNumber }
    return shown
  }

  /// Opens a session, where the one that is there does not fit.
  private func open(_ wanted: H264Stream.Sequence) throws {
    guard session == nil || sequence != wanted else { return }
    session = nil
    guard wanted.crop.left == 0, wanted.crop.top == 0 else {
      throw H264Stream.Unsupported(what: "pictures that are cut off at the left or the top")
    }
    guard wanted.width * wanted.height <= VP8FrameHeader.maximumPixelCount else {
      throw CodecError.malformed("a picture of \(wanted.width)×\(wanted.height) pixels")
    }
    let profile: VAProfile =
      switch wanted.profile {
      case 66: VAProfileH264ConstrainedBaseline
      case 77: VAProfileH264Main
      case 100: VAProfileH264High
      default: throw H264Stream.Unsupported(what: "profile \(wanted.profile)")
      }
    guard driver.entryPoints(of: profile).contains(VAEntrypointVLD) else { throw H264Stream.Unsupported(what: "profile \(wanted.profile)") }
    references.reset()
    sequence = wanted
    session = try driver.open(
      profile, VAEntrypointVLD, attributes: [VAConfigAttrib(type: VAConfigAttribRTFormat, value: UInt32(VA_RT_FORMAT_YUV420))],
      width: wanted.widthInMacroblocks * 16, height: wanted.heightInMacroblocks * 16, surfaceCount: max(1, wanted.referenceCount) + 2)
  }

  // MARK: Parameters

  /// All factors 16: no scaling lists.
  private static let flatMatrix = {
    var matrix = VAIQMatrixBufferH264()
    unsafe withUnsafeMutableBytes(of: &matrix.ScalingList4x4) { bytes in for index in bytes.indices { unsafe bytes[index] = 16 } }
    unsafe withUnsafeMutableBytes(of: &matrix.ScalingList8x8) { bytes in for index in bytes.indices { unsafe bytes[index] = 16 } }
    return matrix
  }()

  private func parameters(
    _ slice: H264Stream.Slice, _ picture: H264Stream.Picture, _ sequence: H264Stream.Sequence, _ known: [H264References.Reference],
    surface: VASurfaceID, order: Int32
  ) -> VAPictureParameterBufferH264 {
    var result = VAPictureParameterBufferH264()
    result.CurrPic = VAPictureH264(H264References.Reference(surface: surface, frameNumber: slice.frameNumber, order: order))
    result.CurrPic.flags = slice.isReference ? UInt32(VA_PICTURE_H264_SHORT_TERM_REFERENCE) : 0
    unsafe withUnsafeMutableBytes(of: &result.ReferenceFrames) { unsafe $0.fill(known) }
    result.picture_width_in_mbs_minus1 = UInt16(sequence.widthInMacroblocks - 1)
    result.picture_height_in_mbs_minus1 = UInt16(sequence.heightInMacroblocks - 1)
    result.num_ref_frames = UInt8(sequence.referenceCount)
    result.seq_fields.bits.chroma_format_idc = 1
    result.seq_fields.bits.gaps_in_frame_num_value_allowed_flag = sequence.mayLackFrameNumbers ? 1 : 0
    result.seq_fields.bits.frame_mbs_only_flag = 1
    result.seq_fields.bits.direct_8x8_inference_flag = sequence.infersDirect8x8 ? 1 : 0
    // Table A-1: from level 3.1 on.
    result.seq_fields.bits.MinLumaBiPredSize8x8 = sequence.level >= 31 ? 1 : 0
    result.seq_fields.bits.log2_max_frame_num_minus4 = UInt32(sequence.frameNumberBits - 4)
    result.seq_fields.bits.pic_order_cnt_type = sequence.orderType
    result.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = UInt32(sequence.orderBits - 4)
    result.seq_fields.bits.delta_pic_order_always_zero_flag = sequence.isDeltaOrderAlwaysZero ? 1 : 0
    result.pic_init_qp_minus26 = Int8(truncatingIfNeeded: picture.initialQuantizer)
    result.pic_init_qs_minus26 = Int8(truncatingIfNeeded: picture.initialSwitchingQuantizer)
    result.chroma_qp_index_offset = Int8(truncatingIfNeeded: picture.chromaOffset)
    result.second_chroma_qp_index_offset = Int8(truncatingIfNeeded: picture.secondChromaOffset)
    result.pic_fields.bits.entropy_coding_mode_flag = picture.isArithmetic ? 1 : 0
    result.pic_fields.bits.weighted_pred_flag = picture.weighsPrediction ? 1 : 0
    result.pic_fields.bits.weighted_bipred_idc = picture.bidirectionalWeights
    result.pic_fields.bits.transform_8x8_mode_flag = picture.transforms8x8 ? 1 : 0
    result.pic_fields.bits.constrained_intra_pred_flag = picture.isIntraConstrained ? 1 : 0
    result.pic_fields.bits.pic_order_present_flag = picture.hasOrderInFrame ? 1 : 0
    result.pic_fields.bits.deblocking_filter_control_present_flag = picture.setsDeblocking ? 1 : 0
    result.pic_fields.bits.redundant_pic_cnt_present_flag = picture.hasRedundantPictures ? 1 : 0
    result.pic_fields.bits.reference_pic_flag = slice.isReference ? 1 : 0
    result.frame_num = UInt16(slice.frameNumber)
    return result
  }

  private func parameters(_ slice: H264Stream.Slice, byteCount: Int, _ list: [H264References.Reference]) -> VASliceParameterBufferH264 {
    var result = VASliceParameterBufferH264()
    result.slice_data_size = UInt32(byteCount)
    result.slice_data_flag = UInt32(VA_SLICE_DATA_FLAG_ALL)
    result.slice_data_bit_offset = UInt16(truncatingIfNeeded: slice.dataBitOffset)
    result.first_mb_in_slice = UInt16(truncatingIfNeeded: slice.firstMacroblock)
    result.slice_type = slice.isIntra ? 2 : 0
    result.num_ref_idx_l0_active_minus1 = UInt8(max(0, slice.activeReferences - 1))
    result.cabac_init_idc = UInt8(slice.arithmeticTable)
    result.slice_qp_delta = Int8(truncatingIfNeeded: slice.quantizerDelta)
    result.disable_deblocking_filter_idc = UInt8(slice.deblocking)
    result.slice_alpha_c0_offset_div2 = Int8(truncatingIfNeeded: slice.alphaOffset)
    result.slice_beta_offset_div2 = Int8(truncatingIfNeeded: slice.betaOffset)
    unsafe withUnsafeMutableBytes(of: &result.RefPicList0) { unsafe $0.fill(list) }
    unsafe withUnsafeMutableBytes(of: &result.RefPicList1) { unsafe $0.fill([]) }
    return result
  }
}

extension VAPictureH264 {
  fileprivate init(_ reference: H264References.Reference) {
    self.init()
    picture_id = reference.surface
    frame_idx = UInt32(reference.longTermIndex ?? reference.frameNumber)
    flags = UInt32(reference.longTermIndex == nil ? VA_PICTURE_H264_SHORT_TERM_REFERENCE : VA_PICTURE_H264_LONG_TERM_REFERENCE)
    (TopFieldOrderCnt, BottomFieldOrderCnt) = (reference.order, reference.order)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Makes a C array of pictures hold `references`, and no more.
  fileprivate func fill(_ references: [H264References.Reference]) {
    let pictures = unsafe bindMemory(to: VAPictureH264.self)
    for index in pictures.indices { unsafe pictures[index] = index < references.count ? VAPictureH264(references[index]) : .none }
  }
}
