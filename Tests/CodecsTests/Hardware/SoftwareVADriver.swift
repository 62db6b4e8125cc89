import CVA
import Frames
import Synchronization

@testable import Codecs

/// A VA-API driver with software in the place of hardware. It reads the parameters as `va.h` says, and notes what does not fit together.
final class SoftwareVADriver: VADriver {
  /// What kind of driver it is, and what is wrong with it.
  struct Options: Sendable {
    var entryPoint = VAEntrypointEncSlice
    var hasConstantRate = true
    /// Whether SPS and PPS are left to the application; those of the software are then replaced by what it was given.
    var takesHeaders = false
    var writesNoHeaders = false
    /// The run, counted from 0, that fails.
    var failedRun: Int?
    var canDecode = true
  }

  /// What a test looks at afterwards.
  final class Journal: Sendable {
    struct Entries: Sendable {
      var problems: [String] = []
      var bitrates: [UInt32] = []
      var frameRates: [UInt32] = []
      var headers: [[UInt8]] = []
      var openSessions = 0
      /// SPS and PPS of the stream to decode, which drivers get in pieces only.
      var parameterSets: [UInt8] = []
      /// The frame numbers of each P picture's references, in their order.
      var lists: [[UInt32]] = []
      /// The quantizer with which each picture begins.
      var quantizers: [Int] = []
    }
    private let entries = Mutex(Entries())
    var current: Entries { entries.withLock { $0 } }
    /// Tells the driver what stream comes.
    func expect(parameterSets: [UInt8]) { note { $0.parameterSets = parameterSets } }
    fileprivate func note(_ body: (inout Entries) -> Void) { entries.withLock { body(&$0) } }
  }

  let vendor = "software"
  private let options: Options
  private let journal: Journal

  init(_ options: Options = Options(), journal: Journal = Journal()) { (self.options, self.journal) = (options, journal) }

  func entryPoints(of profile: VAProfile) -> [VAEntrypoint] {
    switch profile {
    case VAProfileH264ConstrainedBaseline, VAProfileH264Main:
      options.canDecode ? [VAEntrypointVLD, options.entryPoint] : [options.entryPoint]
    case VAProfileVP8Version0_3: [options.entryPoint]
    case VAProfileH264High: options.canDecode ? [VAEntrypointVLD] : []
    default: []
    }
  }

  func attribute(_ type: VAConfigAttribType, _ profile: VAProfile, _ entryPoint: VAEntrypoint) -> UInt32? {
    switch type {
    case VAConfigAttribRateControl: UInt32(options.hasConstantRate ? VA_RC_CBR | VA_RC_CQP : VA_RC_CQP)
    case VAConfigAttribEncPackedHeaders: options.takesHeaders ? 3 : nil
    default: nil
    }
  }

  func open(
    _ profile: VAProfile, _ entryPoint: VAEntrypoint, attributes: [VAConfigAttrib], width: Int, height: Int, surfaceCount: Int
  ) throws(VAError) -> any VASession {
    guard
      entryPoint == VAEntrypointVLD || attributes.contains(where: { $0.type == VAConfigAttribRateControl && $0.value == UInt32(VA_RC_CBR) })
    else {
      throw VAError(call: "vaCreateConfig", text: "no constant rate")
    }
    journal.note { $0.openSessions += 1 }
    return Session(
      options, journal, profile == VAProfileVP8Version0_3 ? .vp8 : .h264, isDecoder: entryPoint == VAEntrypointVLD, width, height,
      surfaceCount)
  }

  private final class Session: VASession {
    let surfaces: [VASurfaceID]
    private let options: Options
    private let journal: Journal
    private let codec: VideoCodec
    private let isDecoder: Bool
    private var decoder: (any VideoDecoder)?
    private var shown: [VASurfaceID: UInt32] = [:]
    private let size: (width: Int, height: Int)
    private var pictures: [VASurfaceID: VideoBuffer] = [:]
    private var coded: [VABufferID: [UInt8]] = [:]
    private var added: [(type: VABufferType, bytes: [UInt8])] = []
    private var encoder: (any VideoEncoder)?
    private var settings: VideoEncoderSettings
    private var reconstructed: VASurfaceID?
    private var frameNumber: UInt16 = 0
    private var runCount = 0

    init(_ options: Options, _ journal: Journal, _ codec: VideoCodec, isDecoder: Bool, _ width: Int, _ height: Int, _ surfaceCount: Int) {
      self.isDecoder = isDecoder
      (self.options, self.journal, self.codec, size) = (options, journal, codec, (width, height))
      surfaces = (0..<surfaceCount).map { 100 + VASurfaceID($0) }
      settings = VideoEncoderSettings(width: width, height: height)
    }

    deinit { journal.note { $0.openSessions -= 1 } }

    func makeCodedBuffer(size: Int) throws(VAError) -> VABufferID {
      coded[7] = []
      return 7
    }

    func add(_ type: VABufferType, _ bytes: UnsafeRawBufferPointer) throws(VAError) { unsafe added.append((type, Array(bytes))) }

    func upload(_ picture: VideoBuffer, to surface: VASurfaceID) throws(VAError) { pictures[surface] = picture }
    func download(_ surface: VASurfaceID, into picture: VideoBuffer) throws(VAError) {
      guard let shown = pictures[surface] else { throw VAError(call: "vaGetImage", text: "nothing on the surface") }
      expect((picture.width, picture.height) == (shown.width, shown.height), "the part that is seen")
      unsafe picture.copy(
        luma: shown.luma, lumaStride: shown.lumaStride, chromaU: shown.chromaU, chromaV: shown.chromaV, chromaStride: shown.chromaStride)
    }
    func codedBytes(in buffer: VABufferID) throws(VAError) -> [UInt8] {
      guard let bytes = coded[buffer] else { throw VAError(call: "vaMapBuffer", text: "no such buffer") }
      return bytes
    }

    /// The parameters of one kind; they must have exactly the structure's size.
    private func parameters<Parameters>(_ type: VABufferType, as: Parameters.Type) -> Parameters? {
      guard let entry = added.first(where: { $0.type == type }) else { return nil }
      expect(entry.bytes.count == MemoryLayout<Parameters>.size, "parameters of \(entry.bytes.count) bytes")
      return unsafe entry.bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: Parameters.self) }
    }

    private func expect(_ isFine: Bool, _ problem: @autoclosure () -> String) {
      if !isFine { journal.note { $0.problems.append("run \(runCount): \(problem())") } }
    }

    func run(on surface: VASurfaceID) throws(VAError) {
      defer {
        added = []
        runCount += 1
      }
      if options.failedRun == runCount { throw VAError(call: "vaSyncSurface", text: "hardware busy") }
      if isDecoder { return try decode(surface) }
      guard let source = pictures[surface] else { throw VAError(call: "vaBeginPicture", text: "nothing on the surface") }
      var headers: [UInt8] = []
      for entry in added where entry.type == VAEncPackedHeaderDataBufferType { headers += entry.bytes }
      if !headers.isEmpty { journal.note { $0.headers.append(headers) } }
      for entry in added where entry.type == VAEncMiscParameterBufferType {
        let words = unsafe entry.bytes.withUnsafeBytes { unsafe [UInt32]($0.bindMemory(to: UInt32.self)) }
        if words[0] == VAEncMiscParameterTypeRateControl.rawValue {
          settings.bitrate = Int(words[1])
          journal.note { $0.bitrates.append(words[1]) }
          try? encoder?.setBitrate(settings.bitrate, framesPerSecond: 30)
        }
        if words[0] == VAEncMiscParameterTypeFrameRate.rawValue { journal.note { $0.frameRates.append(words[1]) } }
      }
      let (isKeyFrame, target) = codec == .h264 ? h264() : vp8()
      guard let target else { throw VAError(call: "vaRenderPicture", text: "parameters are missing") }
      if encoder == nil { encoder = try? CodecFactory.softwareEncoder(codec, settings: settings) }
      guard let result = try? encoder?.encode(VideoFrame(buffer: source), forceKeyFrame: isKeyFrame) else {
        throw VAError(call: "vaEndPicture", text: "the software fails")
      }
      expect(result.isKeyFrame == isKeyFrame, "key frame \(result.isKeyFrame)")
      var bytes = result.bytes
      if options.writesNoHeaders, isKeyFrame {
        let slice = AnnexB.units(of: bytes).first { bytes[$0.lowerBound] & 0x1F == AnnexB.UnitType.keyFrameSlice }
        if let slice { bytes.removeSubrange(..<(slice.lowerBound - 4)) }
      }
      coded[target] = bytes
    }

    private func h264() -> (isKeyFrame: Bool, target: VABufferID?) {
      guard let picture = parameters(VAEncPictureParameterBufferType, as: VAEncPictureParameterBufferH264.self),
        let slice = parameters(VAEncSliceParameterBufferType, as: VAEncSliceParameterBufferH264.self)
      else { return (false, nil) }
      let isKeyFrame = picture.pic_fields.bits.idr_pic_flag == 1
      let sequence = parameters(VAEncSequenceParameterBufferType, as: VAEncSequenceParameterBufferH264.self)
      expect((sequence != nil) == isKeyFrame, "sequence parameters with key frames")
      if let sequence {
        let macroblocks = (UInt16((size.width + 15) / 16), UInt16((size.height + 15) / 16))
        expect((sequence.picture_width_in_mbs, sequence.picture_height_in_mbs) == macroblocks, "size in macroblocks")
        let bottom = Int(macroblocks.1) * 16 - size.height
        expect(sequence.frame_crop_bottom_offset == UInt32(bottom / 2), "cropping")
        expect(sequence.ip_period == 1, "no B pictures")
      }
      frameNumber = isKeyFrame ? 0 : (frameNumber + 1) & 0xFF
      expect(picture.frame_num == frameNumber, "frame_num \(picture.frame_num), not \(frameNumber)")
      expect(UInt16(picture.CurrPic.TopFieldOrderCnt & 0xFF) == slice.pic_order_cnt_lsb, "picture order")
      expect(slice.slice_type == (isKeyFrame ? 2 : 0), "slice type")
      expect(slice.num_macroblocks == UInt32((size.width + 15) / 16 * ((size.height + 15) / 16)), "the slice is the picture")
      let reference = isKeyFrame ? VASurfaceID(VA_INVALID_SURFACE) : reconstructed
      expect(
        picture.ReferenceFrames.0.picture_id == reference && slice.RefPicList0.0.picture_id == reference,
        "the last picture is the reference")
      expect(picture.ReferenceFrames.1.picture_id == VASurfaceID(VA_INVALID_SURFACE), "no other reference")
      expect(picture.CurrPic.picture_id != reconstructed || isKeyFrame, "the reference is not written over")
      reconstructed = picture.CurrPic.picture_id
      return (isKeyFrame, picture.coded_buf)
    }

    private func decode(_ surface: VASurfaceID) throws(VAError) {
      guard let picture = parameters(VAPictureParameterBufferType, as: VAPictureParameterBufferH264.self),
        parameters(VAIQMatrixBufferType, as: VAIQMatrixBufferH264.self) != nil,
        let slice = parameters(VASliceParameterBufferType, as: VASliceParameterBufferH264.self)
      else { throw VAError(call: "vaRenderPicture", text: "parameters are missing") }
      var stream: [UInt8] = []
      for entry in added where entry.type == VASliceDataBufferType { stream += [0, 0, 0, 1] + entry.bytes }
      let isKeyFrame = AnnexB.startsDecoding(stream)
      expect(picture.CurrPic.picture_id == surface, "the picture's surface")
      let macroblocks = (Int(picture.picture_width_in_mbs_minus1) + 1, Int(picture.picture_height_in_mbs_minus1) + 1)
      expect(macroblocks == ((size.width + 15) / 16, (size.height + 15) / 16), "size in macroblocks")
      if isKeyFrame { shown = [:] }
      let known = unsafe withUnsafeBytes(of: picture.ReferenceFrames) { unsafe [VAPictureH264]($0.bindMemory(to: VAPictureH264.self)) }
        .filter { $0.flags & UInt32(VA_PICTURE_H264_INVALID) == 0 }
      for reference in known {
        expect(shown[reference.picture_id] == reference.frame_idx, "reference \(reference.frame_idx) lies elsewhere")
      }
      expect(!known.contains { $0.picture_id == surface }, "a reference is not written over")
      let list = unsafe withUnsafeBytes(of: slice.RefPicList0) { unsafe [VAPictureH264]($0.bindMemory(to: VAPictureH264.self)) }
        .filter { $0.flags & UInt32(VA_PICTURE_H264_INVALID) == 0 }
      expect(slice.slice_type == 2 ? list.isEmpty : list.count == Int(slice.num_ref_idx_l0_active_minus1) + 1, "\(list.count) references")
      for reference in list { expect(known.contains { $0.picture_id == reference.picture_id }, "a list names what is known") }
      let sets = journal.current.parameterSets
      journal.note { entries in
        if slice.slice_type != 2 { entries.lists.append(list.map(\.frame_idx)) }
        entries.quantizers.append(26 + Int(picture.pic_init_qp_minus26) + Int(slice.slice_qp_delta))
      }
      if decoder == nil { decoder = try? CodecFactory.softwareDecoder(.h264) }
      let result = try? decoder?.decode(EncodedVideoFrame(bytes: isKeyFrame ? sets + stream : stream, isKeyFrame: isKeyFrame))
      guard let buffer = result?.buffer else { throw VAError(call: "vaSyncSurface", text: "decoding error") }
      pictures[surface] = buffer
      shown[surface] = UInt32(picture.frame_num)
    }

    private func vp8() -> (isKeyFrame: Bool, target: VABufferID?) {
      guard let picture = parameters(VAEncPictureParameterBufferType, as: VAEncPictureParameterBufferVP8.self),
        parameters(VAQMatrixBufferType, as: VAQMatrixBufferVP8.self) != nil
      else { return (false, nil) }
      let isKeyFrame = picture.pic_flags.bits.frame_type == 0
      let sequence = parameters(VAEncSequenceParameterBufferType, as: VAEncSequenceParameterBufferVP8.self)
      expect((sequence != nil) == isKeyFrame, "sequence parameters with key frames")
      if let sequence { expect(sequence.frame_width == UInt32(size.width) && sequence.frame_height == UInt32(size.height), "size") }
      expect(picture.ref_flags.bits.force_kf == (isKeyFrame ? 1 : 0), "a key frame is forced")
      expect(picture.ref_last_frame == (isKeyFrame ? VASurfaceID(VA_INVALID_SURFACE) : reconstructed), "the last picture is the reference")
      expect(picture.reconstructed_frame != reconstructed || isKeyFrame, "the reference is not written over")
      reconstructed = picture.reconstructed_frame
      return (isKeyFrame, picture.coded_buf)
    }
  }
}
