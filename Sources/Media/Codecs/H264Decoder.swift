import COpenH264
import Frames

/// H.264 through openh264, whole access units in, without concealment of missing parts.
final class H264Decoder: VideoDecoder {
  let implementationName = "OpenH264"
  private(set) var lastQuantizer: Int?

  private typealias Handle = UnsafeMutablePointer<ISVCDecoder?>
  private let handle: Handle
  private let pool = VideoBufferPool()
  private var needsKeyFrame = true
  private var quantizer = H264Quantizer()

  init() throws(CodecError) {
    var created: Handle?
    guard unsafe WelsCreateDecoder(&created) == 0, let created = unsafe created else {
      throw .unavailable("openh264: no decoder")
    }
    unsafe handle = unsafe created
    var quiet = Int32(WELS_LOG_QUIET)
    _ = unsafe calls.SetOption(handle, DECODER_OPTION_TRACE_LEVEL, &quiet)
    var parameters = SDecodingParam()
    parameters.uiTargetDqLayer = .max
    parameters.eEcActiveIdc = ERROR_CON_DISABLE
    parameters.sVideoProperty.size = UInt32(MemoryLayout<SVideoProperty>.size)
    parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC
    guard unsafe calls.Initialize(handle, &parameters) == 0 else {
      unsafe WelsDestroyDecoder(handle)
      throw .unavailable("openh264: the decoder does not start")
    }
  }

  deinit {
    _ = unsafe calls.Uninitialize(handle)
    unsafe WelsDestroyDecoder(handle)
  }

  /// The decoder's table of functions.
  private var calls: ISVCDecoderVtbl { unsafe handle.pointee!.pointee }

  func decode(_ frame: EncodedVideoFrame) throws(CodecError) -> VideoFrame? {
    if needsKeyFrame && !AnnexB.startsDecoding(frame.bytes) { throw .keyFrameRequired }
    guard frame.bytes.count <= 16 << 20 else { throw broken("an access unit of \(frame.bytes.count) bytes") }

    var planes: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?) = (nil, nil, nil)
    var information = SBufferInfo()
    var state = unsafe withUnsafeMutablePointer(to: &planes) { tuple in
      unsafe tuple.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 3) { planes in
        unsafe frame.bytes.withUnsafeBufferPointer {
          unsafe calls.DecodeFrameNoDelay(handle, $0.baseAddress, Int32($0.count), planes, &information)
        }
      }
    }
    if state == dsErrorFree && information.iBufferStatus != 1 {
      // Outside of Baseline the library holds pictures back for B pictures, which calls do not have.
      unsafe withUnsafeMutablePointer(to: &planes) { tuple in
        unsafe tuple.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 3) { planes in
          var held: Int32 = 0
          _ = unsafe calls.GetOption(handle, DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &held)
          if held > 0 { unsafe state = calls.FlushFrame(handle, planes, &information) }
        }
      }
    }
    guard state == dsErrorFree else { throw broken("openh264: decoding state \(state.rawValue)") }
    needsKeyFrame = false
    lastQuantizer = quantizer.read(frame.bytes)

    guard information.iBufferStatus == 1, let y = unsafe planes.0, let u = unsafe planes.1, let v = unsafe planes.2 else { return nil }
    let picture = information.UsrData.sSystemBuffer
    guard picture.iWidth > 0, picture.iHeight > 0 else { throw broken("a picture without pixels") }
    let buffer = pool.buffer(width: Int(picture.iWidth), height: Int(picture.iHeight))
    unsafe buffer.copy(
      luma: y, lumaStride: Int(picture.iStride.0), chromaU: u, chromaV: v, chromaStride: Int(picture.iStride.1))
    return VideoFrame(buffer: buffer, rotation: frame.rotation, ledger: frame.ledger)
  }

  private func broken(_ what: String) -> CodecError {
    needsKeyFrame = true
    return .malformed(what)
  }
}
