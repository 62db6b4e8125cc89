import CVPX
import Frames

/// VP8 (RFC 6386) through libvpx.
final class VP8Decoder: VideoDecoder {
  let implementationName = "libvpx"
  private(set) var lastQuantizer: Int?

  private let context = UnsafeMutablePointer<vpx_codec_ctx_t>.allocate(capacity: 1)
  private let pool = VideoBufferPool()
  private var needsKeyFrame = true

  init(threadCount: Int) throws(CodecError) {
    unsafe context.initialize(to: vpx_codec_ctx_t())
    var configuration = vpx_codec_dec_cfg_t(threads: UInt32(threadCount), w: 0, h: 0)
    guard unsafe vpx_shim_start_decoder(context, &configuration) == VPX_CODEC_OK else {
      unsafe context.deallocate()
      throw .unavailable("libvpx: no VP8 decoder")
    }
  }

  deinit {
    unsafe vpx_codec_destroy(context)
    unsafe context.deallocate()
  }

  func decode(_ frame: EncodedVideoFrame) throws(CodecError) -> VideoFrame? {
    guard let header = VP8FrameHeader(frame.bytes) else { throw broken("a frame header that is cut short or wrong") }
    if header.isKeyFrame {
      // The library allocates what the header says: a few bytes must not cost a gigabyte.
      guard header.width > 0, header.height > 0, header.width * header.height <= VP8FrameHeader.maximumPixelCount else {
        throw broken("a picture of \(header.width)×\(header.height) pixels")
      }
    } else if needsKeyFrame {
      throw .keyFrameRequired
    }

    let result = unsafe frame.bytes.withUnsafeBufferPointer {
      unsafe vpx_codec_decode(context, $0.baseAddress, UInt32($0.count), nil, 0)
    }
    guard result == VPX_CODEC_OK else { throw broken("libvpx: \(String(cString: vpx_codec_err_to_string(result)))") }
    var isCorrupted: Int32 = 0
    if unsafe vpx_shim_get(context, Int32(VP8D_GET_FRAME_CORRUPTED.rawValue), &isCorrupted) == VPX_CODEC_OK, isCorrupted != 0 {
      throw broken("libvpx: the frame ends early")
    }
    needsKeyFrame = false

    var quantizer: Int32 = -1
    _ = unsafe vpx_shim_get(context, Int32(VPXD_GET_LAST_QUANTIZER.rawValue), &quantizer)
    lastQuantizer = quantizer < 0 ? nil : Int(quantizer)

    var iterator: vpx_codec_iter_t?
    guard let image = unsafe vpx_codec_get_frame(context, &iterator), let y = unsafe image.pointee.planes.0,
      let u = unsafe image.pointee.planes.1, let v = unsafe image.pointee.planes.2
    else { return nil }
    let buffer = unsafe pool.buffer(width: Int(image.pointee.d_w), height: Int(image.pointee.d_h))
    unsafe buffer.copy(
      luma: y, lumaStride: Int(image.pointee.stride.0), chromaU: u, chromaV: v, chromaStride: Int(image.pointee.stride.1))
    return VideoFrame(buffer: buffer, rotation: frame.rotation, ledger: frame.ledger)
  }

  private func broken(_ what: String) -> CodecError {
    needsKeyFrame = true
    return .malformed(what)
  }
}
