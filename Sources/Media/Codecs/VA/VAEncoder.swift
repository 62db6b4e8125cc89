import CVA
import Frames

/// An encoder by VA-API: a picture in, its frame out, at a constant rate. Its calls wait for the driver.
final class VAEncoder: VideoEncoder {
  let implementationName: String
  var isHardware: Bool { true }

  /// What is set up for pictures of one size.
  private struct Session {
    var width: Int
    var height: Int
    var session: any VASession
    var coded: VABufferID
    /// Where the picture to encode goes; the two others hold reconstructed pictures in turn.
    var source: VASurfaceID
    var reconstructed: [VASurfaceID]
    /// Since the last key frame.
    var pictureCount = 0
    var keyFrameCount = 0
    var needsRate = true
  }

  private let driver: any VADriver
  private let codec: VideoCodec
  private let profile: VAProfile
  private let entryPoint: VAEntrypoint
  private var settings: VideoEncoderSettings
  private var session: Session?
  private var writesHeaders = false
  private var conformance: H264Conformance
  private var quantizer = H264Quantizer()

  /// Takes a driver's encoder. Throws when it lacks what the settings ask for.
  init(_ driver: any VADriver, _ codec: VideoCodec, name: String, settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate()
    (self.driver, self.codec, self.settings, implementationName) = (driver, codec, settings, name)
    conformance = H264Conformance(settings)
    guard codec == .vp8 || settings.maximumSliceCount == nil else {
      throw .unavailable("\(name) cannot limit slices to a size in bytes, as packetization mode 0 needs it")
    }
    profile = VAProfile(codec, settings.profile)
    let offered = driver.entryPoints(of: profile)
    guard let entryPoint = [VAEntrypointEncSlice, VAEntrypointEncSliceLP].first(where: offered.contains) else {
      throw .unavailable("\(name) does not encode \(codec.rawValue)")
    }
    self.entryPoint = entryPoint
    guard let control = driver.attribute(VAConfigAttribRateControl, profile, entryPoint), control & UInt32(VA_RC_CBR) != 0 else {
      throw .unavailable("\(name) keeps no constant bitrate")
    }
    try open(width: settings.width, height: settings.height)
  }

  private func open(width: Int, height: Int) throws(CodecError) {
    session = nil
    conformance = H264Conformance(settings)
    var attributes = [
      VAConfigAttrib(type: VAConfigAttribRTFormat, value: UInt32(VA_RT_FORMAT_YUV420)),
      VAConfigAttrib(type: VAConfigAttribRateControl, value: UInt32(VA_RC_CBR)),
    ]
    // Some drivers write SPS and PPS themselves, others leave them to us.
    let both = UInt32(VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE)
    writesHeaders = codec == .h264 && (driver.attribute(VAConfigAttribEncPackedHeaders, profile, entryPoint) ?? 0) & both == both
    if writesHeaders { attributes.append(VAConfigAttrib(type: VAConfigAttribEncPackedHeaders, value: both)) }
    do throws(VAError) {
      let made = try driver.open(profile, entryPoint, attributes: attributes, width: width, height: height, surfaceCount: 3)
      let coded = try made.makeCodedBuffer(size: width * height * 3 / 2 + (64 << 10))
      session = Session(
        width: width, height: height, session: made, coded: coded, source: made.surfaces[0], reconstructed: Array(made.surfaces[1...2]))
    } catch { throw .unavailable("\(implementationName): \(error)") }
  }

  func setBitrate(_ bitrate: Int, framesPerSecond: Double) throws(CodecError) {
    try VideoEncoderSettings.validate(bitrate: bitrate, framesPerSecond: framesPerSecond)
    (settings.bitrate, settings.framesPerSecond) = (bitrate, framesPerSecond)
    session?.needsRate = true
  }

  func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedVideoFrame? {
    let buffer = frame.buffer
    if session.map({ $0.width != buffer.width || $0.height != buffer.height }) ?? true {
      var changed = settings
      (changed.width, changed.height) = (buffer.width, buffer.height)
      try changed.validate()
      settings = changed
      try open(width: buffer.width, height: buffer.height)
    }
    guard var current = session else { throw .encodingFailed("\(implementationName) is not set up") }
    let isKeyFrame = forceKeyFrame || current.pictureCount == 0
    if isKeyFrame {
      current.pictureCount = 0
      current.keyFrameCount += 1
    }
    var bytes: [UInt8]
    do throws(VAError) {
      try current.session.upload(buffer, to: current.source)
      switch codec {
      case .h264: try addH264(current, isKeyFrame: isKeyFrame)
      case .vp8: try addVP8(current, isKeyFrame: isKeyFrame)
      }
      if isKeyFrame || current.needsRate { try addRate(current.session) }
      try current.session.run(on: current.source)
      bytes = try current.session.codedBytes(in: current.coded)
    } catch { throw .encodingFailed("\(implementationName): \(error)") }
    current.needsRate = false
    current.pictureCount += 1
    current.reconstructed.swapAt(0, 1)
    session = current
    guard !bytes.isEmpty else { return nil }
    if codec == .h264 { bytes = try conformance.checked(bytes) }
    return EncodedVideoFrame(
      bytes: bytes, isKeyFrame: CodedFormat(codec).isKeyFrame(bytes), width: buffer.width, height: buffer.height, ledger: frame.ledger,
      rotation: frame.rotation, quantizer: codec == .h264 ? quantizer.read(bytes) : nil)
  }

  // MARK: Parameters

  /// The rate, and half a second of it as the buffer that a receiver is thought to have.
  private func addRate(_ session: any VASession) throws(VAError) {
    var rate = VAEncMiscParameterRateControl()
    (rate.bits_per_second, rate.target_percentage, rate.window_size) = (UInt32(settings.bitrate), 100, 500)
    try session.add(miscellaneous: VAEncMiscParameterTypeRateControl, rate)
    var buffer = VAEncMiscParameterHRD()
    (buffer.buffer_size, buffer.initial_buffer_fullness) = (UInt32(settings.bitrate / 2), UInt32(settings.bitrate / 4))
    try session.add(miscellaneous: VAEncMiscParameterTypeHRD, buffer)
    var frames = VAEncMiscParameterFrameRate()
    // A fraction: the denominator is in the upper half.
    frames.framerate = UInt32(min(65_535, (settings.framesPerSecond * 100).rounded())) | 100 << 16
    try session.add(miscellaneous: VAEncMiscParameterTypeFrameRate, frames)
  }

  private func addH264(_ current: Session, isKeyFrame: Bool) throws(VAError) {
    let (session, number) = (current.session, current.pictureCount)
    let headers = H264Headers(settings, width: current.width & ~1, height: current.height & ~1)
    if isKeyFrame {
      try session.add(VAEncSequenceParameterBufferType, VAEncSequenceParameterBufferH264(headers, settings))
      if writesHeaders {
        try addPacked(headers.sequenceParameterSet, VAEncPackedHeaderSequence, session)
        try addPacked(headers.pictureParameterSet, VAEncPackedHeaderPicture, session)
      }
    }
    let reference = isKeyFrame ? nil : VAPictureH264(surface: current.reconstructed[1], number: number - 1)
    var picture = VAEncPictureParameterBufferH264()
    picture.CurrPic = VAPictureH264(surface: current.reconstructed[0], number: number)
    unsafe withUnsafeMutableBytes(of: &picture.ReferenceFrames) { unsafe $0.fill(reference) }
    picture.coded_buf = current.coded
    picture.frame_num = UInt16(number & 0xFF)
    picture.pic_init_qp = 26
    picture.pic_fields.bits.idr_pic_flag = isKeyFrame ? 1 : 0
    picture.pic_fields.bits.reference_pic_flag = 1
    picture.pic_fields.bits.entropy_coding_mode_flag = headers.isArithmetic ? 1 : 0
    picture.pic_fields.bits.transform_8x8_mode_flag = headers.profile == .high ? 1 : 0
    picture.pic_fields.bits.deblocking_filter_control_present_flag = 1
    try session.add(VAEncPictureParameterBufferType, picture)

    var slice = VAEncSliceParameterBufferH264()
    slice.num_macroblocks = UInt32(headers.widthInMacroblocks * headers.heightInMacroblocks)
    slice.macroblock_info = VABufferID(VA_INVALID_ID)
    slice.slice_type = isKeyFrame ? 2 : 0
    slice.idr_pic_id = UInt16(current.keyFrameCount & 0xFF)
    slice.pic_order_cnt_lsb = UInt16(2 * number & 0xFF)
    unsafe withUnsafeMutableBytes(of: &slice.RefPicList0) { unsafe $0.fill(reference) }
    unsafe withUnsafeMutableBytes(of: &slice.RefPicList1) { unsafe $0.fill(nil) }
    try session.add(VAEncSliceParameterBufferType, slice)
  }

  private func addPacked(_ unit: [UInt8], _ type: VAEncPackedHeaderType, _ session: any VASession) throws(VAError) {
    var header = VAEncPackedHeaderParameterBuffer()
    (header.type, header.bit_length, header.has_emulation_bytes) = (type.rawValue, UInt32(unit.count * 8), 1)
    try session.add(VAEncPackedHeaderParameterBufferType, header)
    try session.add(VAEncPackedHeaderDataBufferType, unit)
  }

  /// One reference, the last picture: golden and alternate reference stay what the key frame was.
  private func addVP8(_ current: Session, isKeyFrame: Bool) throws(VAError) {
    var sequence = VAEncSequenceParameterBufferVP8()
    (sequence.frame_width, sequence.frame_height) = (UInt32(current.width), UInt32(current.height))
    sequence.error_resilient = 1
    sequence.bits_per_second = UInt32(settings.bitrate)
    // A key frame is asked for, or does not come.
    (sequence.kf_auto, sequence.intra_period, sequence.kf_max_dist) = (0, 0xFFFF, 0xFFFF)
    let invalid = VASurfaceID(VA_INVALID_SURFACE)
    sequence.reference_frames = (invalid, invalid, invalid, invalid)
    if isKeyFrame { try current.session.add(VAEncSequenceParameterBufferType, sequence) }

    var picture = VAEncPictureParameterBufferVP8()
    picture.reconstructed_frame = current.reconstructed[0]
    let reference = isKeyFrame ? invalid : current.reconstructed[1]
    (picture.ref_last_frame, picture.ref_gf_frame, picture.ref_arf_frame) = (reference, reference, reference)
    picture.coded_buf = current.coded
    picture.ref_flags.bits.force_kf = isKeyFrame ? 1 : 0
    // Two surfaces hold no older pictures: every picture becomes all three references.
    (picture.ref_flags.bits.no_ref_gf, picture.ref_flags.bits.no_ref_arf) = (1, 1)
    picture.pic_flags.bits.frame_type = isKeyFrame ? 0 : 1
    picture.pic_flags.bits.show_frame = 1
    picture.pic_flags.bits.refresh_last = 1
    picture.pic_flags.bits.refresh_golden_frame = 1
    picture.pic_flags.bits.refresh_alternate_frame = 1
    picture.pic_flags.bits.mb_no_coeff_skip = 1
    picture.loop_filter_level = (20, 20, 20, 20)
    (picture.clamp_qindex_low, picture.clamp_qindex_high) = (4, 120)
    try current.session.add(VAEncPictureParameterBufferType, picture)
    var matrix = VAQMatrixBufferVP8()
    matrix.quantization_index = (60, 60, 60, 60)
    try current.session.add(VAQMatrixBufferType, matrix)
  }
}

extension VAProfile {
  /// The profile of a codec of calls.
  init(_ codec: VideoCodec, _ profile: VideoEncoderSettings.H264Profile = .constrainedBaseline) {
    switch (codec, profile) {
    case (.vp8, _): self = VAProfileVP8Version0_3
    case (.h264, .constrainedBaseline): self = VAProfileH264ConstrainedBaseline
    case (.h264, .main): self = VAProfileH264Main
    case (.h264, .high): self = VAProfileH264High
    }
  }
}

extension VAPictureH264 {
  static let none = {
    var picture = VAPictureH264()
    (picture.picture_id, picture.flags) = (VASurfaceID(VA_INVALID_SURFACE), UInt32(VA_PICTURE_H264_INVALID))
    return picture
  }()

  /// Picture `number` since the last key frame.
  init(surface: VASurfaceID, number: Int) {
    self.init()
    (picture_id, frame_idx, flags) = (surface, UInt32(number & 0xFF), UInt32(VA_PICTURE_H264_SHORT_TERM_REFERENCE))
    (TopFieldOrderCnt, BottomFieldOrderCnt) = (Int32(2 * number), Int32(2 * number))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Makes a C array of pictures hold `first`, or nothing, and no more.
  fileprivate func fill(_ first: VAPictureH264?) {
    let pictures = unsafe bindMemory(to: VAPictureH264.self)
    for index in pictures.indices { unsafe pictures[index] = index == 0 ? first ?? .none : .none }
  }
}

extension VAEncSequenceParameterBufferH264 {
  fileprivate init(_ headers: H264Headers, _ settings: VideoEncoderSettings) {
    self.init()
    level_idc = UInt8(headers.level)
    // A key frame is asked for, or does not come.
    (intra_period, intra_idr_period, ip_period) = (0xFFFF, 0xFFFF, 1)
    (bits_per_second, max_num_ref_frames) = (UInt32(settings.bitrate), 1)
    (picture_width_in_mbs, picture_height_in_mbs) = (UInt16(headers.widthInMacroblocks), UInt16(headers.heightInMacroblocks))
    seq_fields.bits.chroma_format_idc = 1
    seq_fields.bits.frame_mbs_only_flag = 1
    seq_fields.bits.direct_8x8_inference_flag = 1
    seq_fields.bits.log2_max_frame_num_minus4 = UInt32(H264Headers.frameNumberBits - 4)
    seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = UInt32(H264Headers.orderBits - 4)
    let (right, bottom) = (headers.widthInMacroblocks * 16 - headers.width, headers.heightInMacroblocks * 16 - headers.height)
    if right + bottom > 0 {
      frame_cropping_flag = 1
      (frame_crop_right_offset, frame_crop_bottom_offset) = (UInt32(right / 2), UInt32(bottom / 2))
    }
    vui_parameters_present_flag = 1
    vui_fields.bits.bitstream_restriction_flag = 1
    vui_fields.bits.motion_vectors_over_pic_boundaries_flag = 1
    (vui_fields.bits.log2_max_mv_length_horizontal, vui_fields.bits.log2_max_mv_length_vertical) = (16, 16)
  }
}
