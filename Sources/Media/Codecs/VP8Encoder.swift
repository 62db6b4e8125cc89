import CVPX
import Frames

/// VP8 (RFC 6386) through libvpx, set up for a conversation: one pass, no look-ahead, constant bitrate, key frames only when asked for.
final class VP8Encoder: VideoEncoder {
  let implementationName = "libvpx"

  private var settings: VideoEncoderSettings
  private let context = UnsafeMutablePointer<vpx_codec_ctx_t>.allocate(capacity: 1)
  private let configuration = UnsafeMutablePointer<vpx_codec_enc_cfg_t>.allocate(capacity: 1)
  private let image = UnsafeMutablePointer<vpx_image_t>.allocate(capacity: 1)
  private var isOpen = false
  private var clock = PresentationClock()

  init(settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate()
    self.settings = settings
    unsafe context.initialize(to: vpx_codec_ctx_t())
    unsafe configuration.initialize(to: vpx_codec_enc_cfg_t())
    unsafe image.initialize(to: vpx_image_t())
    try open()
  }

  deinit {
    close()
    unsafe context.deallocate()
    unsafe configuration.deallocate()
    unsafe image.deallocate()
  }

  private func close() {
    if isOpen { unsafe vpx_codec_destroy(context) }
    isOpen = false
  }

  private func open() throws(CodecError) {
    close()
    guard unsafe vpx_codec_enc_config_default(vpx_codec_vp8_cx(), configuration, 0) == VPX_CODEC_OK else {
      throw .unavailable("libvpx: no VP8 encoder")
    }
    let pixels = settings.width * settings.height
    unsafe configuration.pointee.g_w = UInt32(settings.width)
    unsafe configuration.pointee.g_h = UInt32(settings.height)
    unsafe configuration.pointee.g_timebase = vpx_rational_t(num: 1, den: 1_000_000)
    unsafe configuration.pointee.g_threads = UInt32(settings.resolvedThreadCount)
    unsafe configuration.pointee.g_pass = VPX_RC_ONE_PASS
    unsafe configuration.pointee.g_lag_in_frames = 0
    unsafe configuration.pointee.g_error_resilient = vpx_codec_er_flags_t(VPX_ERROR_RESILIENT_DEFAULT)
    unsafe configuration.pointee.rc_end_usage = VPX_CBR
    unsafe configuration.pointee.rc_target_bitrate = UInt32(settings.bitrate / 1_000)
    unsafe configuration.pointee.rc_dropframe_thresh = settings.mayDropFrames ? 30 : 0
    unsafe configuration.pointee.rc_resize_allowed = 0
    unsafe configuration.pointee.rc_min_quantizer = 2
    unsafe configuration.pointee.rc_max_quantizer = 56
    unsafe configuration.pointee.rc_undershoot_pct = 100
    unsafe configuration.pointee.rc_overshoot_pct = 15
    // The buffer, in milliseconds, is how far one frame may overdraw the rate: what a packet queue must hold at most.
    unsafe configuration.pointee.rc_buf_initial_sz = 400
    unsafe configuration.pointee.rc_buf_optimal_sz = 500
    unsafe configuration.pointee.rc_buf_sz = 800
    unsafe configuration.pointee.kf_mode = VPX_KF_DISABLED
    guard unsafe vpx_shim_start_encoder(context, configuration) == VPX_CODEC_OK else {
      throw .unavailable("libvpx: \(detail())")
    }
    isOpen = true
    // A negative speed is fixed; a positive one would follow the processor's load. Larger pictures get the faster motion search.
    set(VP8E_SET_CPUUSED, pixels > 640 * 480 ? -8 : -6)
    set(VP8E_SET_STATIC_THRESHOLD, 1)
    set(VP8E_SET_NOISE_SENSITIVITY, 0)
    set(VP8E_SET_SCREEN_CONTENT_MODE, 0)
    set(VP8E_SET_TOKEN_PARTITIONS, Int(VP8_ONE_TOKENPARTITION.rawValue))
    limitKeyFrames()
  }

  private func set(_ control: vp8e_enc_control_id, _ value: Int) {
    let result = unsafe vpx_shim_set(context, Int32(control.rawValue), Int32(value))
    precondition(result == VPX_CODEC_OK, "libvpx accepts every control that this file sets")
  }

  /// A key frame may cost what the buffer can hold: more would stand in the pacer while the picture waits.
  private func limitKeyFrames() {
    set(VP8E_SET_MAX_INTRA_BITRATE_PCT, max(300, Int(0.5 * 500 * settings.framesPerSecond / 10)))
  }

  private func detail() -> String {
    guard let text = unsafe vpx_codec_error_detail(context) ?? vpx_codec_error(context) else { return "unknown error" }
    return unsafe String(cString: text)
  }

  func setBitrate(_ bitrate: Int, framesPerSecond: Double) throws(CodecError) {
    try VideoEncoderSettings.validate(bitrate: bitrate, framesPerSecond: framesPerSecond)
    (settings.bitrate, settings.framesPerSecond) = (bitrate, framesPerSecond)
    guard isOpen else { return }
    unsafe configuration.pointee.rc_target_bitrate = UInt32(bitrate / 1_000)
    guard unsafe vpx_codec_enc_config_set(context, configuration) == VPX_CODEC_OK else {
      throw .invalidSetting("libvpx: \(detail())")
    }
    limitKeyFrames()
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
    unsafe vpx_img_wrap(image, VPX_IMG_FMT_I420, UInt32(buffer.width), UInt32(buffer.height), 1, buffer.luma)
    unsafe image.pointee.planes = (buffer.luma, buffer.chromaU, buffer.chromaV, nil)
    let (luma, chroma) = (Int32(buffer.lumaStride), Int32(buffer.chromaStride))
    unsafe image.pointee.stride = (luma, chroma, chroma, 0)

    let time = clock.next(captureTime: frame.ledger[.capture], framesPerSecond: settings.framesPerSecond)
    let flags = forceKeyFrame ? vpx_enc_frame_flags_t(vpx_shim_force_key_frame) : 0
    let result = unsafe vpx_codec_encode(
      context, image, time, UInt(1_000_000 / settings.framesPerSecond), flags, UInt(vpx_shim_realtime))
    guard result == VPX_CODEC_OK else { throw .encodingFailed("libvpx: \(detail())") }

    var iterator: vpx_codec_iter_t?
    var encoded: EncodedVideoFrame?
    while let packet = unsafe vpx_codec_get_cx_data(context, &iterator) {
      guard unsafe packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT, let start = unsafe packet.pointee.data.frame.buf else { continue }
      let bytes = unsafe UnsafeRawBufferPointer(start: start, count: packet.pointee.data.frame.sz)
      let isKeyFrame = unsafe packet.pointee.data.frame.flags & UInt32(vpx_shim_is_key_frame) != 0
      var quantizer: Int32 = -1
      _ = unsafe vpx_shim_get(context, Int32(VP8E_GET_LAST_QUANTIZER.rawValue), &quantizer)
      encoded = EncodedVideoFrame(
        bytes: unsafe Array(bytes), isKeyFrame: isKeyFrame, width: buffer.width, height: buffer.height, ledger: frame.ledger,
        rotation: frame.rotation, quantizer: quantizer < 0 ? nil : Int(quantizer))
    }
    return encoded
  }
}
