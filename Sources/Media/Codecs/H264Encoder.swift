import COpenH264
import Frames

/// H.264 through openh264, set up for a conversation: no B pictures, no periodic key frames, SPS and PPS before each key frame.
final class H264Encoder: VideoEncoder {
  let implementationName = "OpenH264"

  private typealias Handle = UnsafeMutablePointer<ISVCEncoder?>
  private var settings: VideoEncoderSettings
  private let handle: Handle
  private let output = UnsafeMutablePointer<SFrameBSInfo>.allocate(capacity: 1)
  private var isOpen = false
  private var clock = PresentationClock()
  private var quantizer = H264Quantizer()

  init(settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate()
    var created: Handle?
    guard unsafe WelsCreateSVCEncoder(&created) == 0, let created = unsafe created else {
      throw .unavailable("openh264: no encoder")
    }
    unsafe handle = unsafe created
    self.settings = settings
    unsafe output.initialize(to: SFrameBSInfo())
    var quiet = Int32(WELS_LOG_QUIET)
    _ = unsafe calls.SetOption(handle, ENCODER_OPTION_TRACE_LEVEL, &quiet)
    try open()
  }

  deinit {
    close()
    unsafe WelsDestroySVCEncoder(handle)
    unsafe output.deallocate()
  }

  /// The encoder's table of functions.
  private var calls: ISVCEncoderVtbl { unsafe handle.pointee!.pointee }

  private func close() {
    if isOpen { _ = unsafe calls.Uninitialize(handle) }
    isOpen = false
  }

  // The format has no odd sides: the last column or row of such a picture is left out.
  private var width: Int32 { Int32(settings.width & ~1) }
  private var height: Int32 { Int32(settings.height & ~1) }

  private func open() throws(CodecError) {
    close()
    var parameters = SEncParamExt()
    _ = unsafe calls.GetDefaultParams(handle, &parameters)
    parameters.iUsageType = CAMERA_VIDEO_REAL_TIME
    parameters.iPicWidth = width
    parameters.iPicHeight = height
    parameters.iTargetBitrate = Int32(settings.bitrate)
    parameters.iMaxBitrate = UNSPECIFIED_BIT_RATE
    parameters.iRCMode = RC_BITRATE_MODE
    parameters.fMaxFrameRate = Float(settings.framesPerSecond)
    parameters.bEnableFrameSkip = settings.mayDropFrames
    parameters.iTemporalLayerNum = 1
    parameters.iSpatialLayerNum = 1
    parameters.iComplexityMode = LOW_COMPLEXITY
    parameters.uiIntraPeriod = 0
    parameters.iNumRefFrame = 1
    parameters.eSpsPpsIdStrategy = CONSTANT_ID
    parameters.bEnableSceneChangeDetect = false
    parameters.bEnableDenoise = false
    parameters.bEnableLongTermReference = false
    parameters.bUseLoadBalancing = false
    parameters.iEntropyCodingModeFlag = settings.profile == .constrainedBaseline ? 0 : 1
    let threads = settings.resolvedThreadCount
    parameters.iMultipleThreadIdc = UInt16(threads)
    parameters.sSpatialLayers.0.iVideoWidth = width
    parameters.sSpatialLayers.0.iVideoHeight = height
    parameters.sSpatialLayers.0.fFrameRate = parameters.fMaxFrameRate
    parameters.sSpatialLayers.0.iSpatialBitrate = parameters.iTargetBitrate
    parameters.sSpatialLayers.0.iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE
    parameters.sSpatialLayers.0.uiProfileIdc =
      switch settings.profile {
      case .constrainedBaseline: PRO_BASELINE
      case .main: PRO_MAIN
      case .high: PRO_HIGH
      }
    parameters.sSpatialLayers.0.uiLevelIdc = settings.level.map { ELevelIdc(rawValue: UInt32(clamping: $0)) } ?? LEVEL_UNKNOWN
    if let size = settings.maximumSliceCount {
      parameters.uiMaxNalSize = UInt32(size)
      parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SIZELIMITED_SLICE
      parameters.sSpatialLayers.0.sSliceArgument.uiSliceSizeConstraint = UInt32(size)
    } else {
      parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = threads > 1 ? SM_FIXEDSLCNUM_SLICE : SM_SINGLE_SLICE
      parameters.sSpatialLayers.0.sSliceArgument.uiSliceNum = UInt32(threads)
    }
    let result = unsafe calls.InitializeExt(handle, &parameters)
    guard result == 0 else {
      throw .unavailable("openh264: error \(result) for \(width)×\(height) at \(settings.bitrate) bit/s")
    }
    isOpen = true
    var format = Int32(videoFormatI420.rawValue)
    _ = unsafe calls.SetOption(handle, ENCODER_OPTION_DATAFORMAT, &format)
  }

  func setBitrate(_ bitrate: Int, framesPerSecond: Double) throws(CodecError) {
    try VideoEncoderSettings.validate(bitrate: bitrate, framesPerSecond: framesPerSecond)
    (settings.bitrate, settings.framesPerSecond) = (bitrate, framesPerSecond)
    guard isOpen else { return }
    var target = SBitrateInfo(iLayer: SPATIAL_LAYER_ALL, iBitrate: Int32(bitrate))
    var rate = Float(framesPerSecond)
    guard unsafe calls.SetOption(handle, ENCODER_OPTION_FRAME_RATE, &rate) == 0,
      unsafe calls.SetOption(handle, ENCODER_OPTION_BITRATE, &target) == 0
    else { throw .invalidSetting("openh264 refuses \(bitrate) bit/s at \(framesPerSecond) frames per second") }
  }

  func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedVideoFrame? {
    let buffer = frame.buffer
    if buffer.width != settings.width || buffer.height != settings.height || !isOpen {
      var changed = settings
      (changed.width, changed.height) = (buffer.width, buffer.height)
      try changed.validate()
      settings = changed
      try open()
    }
    var picture = SSourcePicture()
    picture.iColorFormat = Int32(videoFormatI420.rawValue)
    let (luma, chroma) = (Int32(buffer.lumaStride), Int32(buffer.chromaStride))
    picture.iStride = (luma, chroma, chroma, 0)
    unsafe picture.pData = (buffer.luma, buffer.chromaU, buffer.chromaV, nil)
    (picture.iPicWidth, picture.iPicHeight) = (width, height)
    picture.uiTimeStamp = clock.next(captureTime: frame.ledger[.capture], framesPerSecond: settings.framesPerSecond) / 1_000

    if forceKeyFrame { _ = unsafe calls.ForceIntraFrame(handle, true) }
    let result = unsafe calls.EncodeFrame(handle, &picture, output)
    guard result == 0 else { throw .encodingFailed("openh264: error \(result)") }
    let type = unsafe output.pointee.eFrameType
    guard type != videoFrameTypeSkip, type != videoFrameTypeInvalid else { return nil }
    let bytes = outputBytes()
    guard !bytes.isEmpty else { return nil }

    return EncodedVideoFrame(
      bytes: bytes, isKeyFrame: type == videoFrameTypeIDR, width: Int(width), height: Int(height), ledger: frame.ledger,
      rotation: frame.rotation, quantizer: quantizer.read(bytes))
  }

  /// The NAL units of all layers, in order, each with its start code.
  private func outputBytes() -> [UInt8] {
    let layerCount = unsafe Int(output.pointee.iLayerNum)
    let capacity = unsafe Int(output.pointee.iFrameSizeInBytes)
    return unsafe withUnsafePointer(to: &output.pointee.sLayerInfo) { tuple in
      unsafe tuple.withMemoryRebound(to: SLayerBSInfo.self, capacity: Int(MAX_LAYER_NUM_OF_FRAME)) { layers in
        unsafe [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
          for layer in unsafe UnsafeBufferPointer(start: layers, count: layerCount) {
            var size = 0
            for unit in 0..<Int(layer.iNalCount) { unsafe size += Int(layer.pNalLengthInByte[unit]) }
            precondition(count + size <= capacity, "the layers add up to the frame")
            unsafe UnsafeMutableRawPointer(target.baseAddress! + count).copyMemory(from: layer.pBsBuf, byteCount: size)
            count += size
          }
        }
      }
    }
  }
}
