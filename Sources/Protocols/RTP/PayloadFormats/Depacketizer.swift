import Bytes

/// Reads RTP payloads and joins them to encoded frames.
public struct Depacketizer: Sendable {
  /// The format that payloads are read in.
  public let format: PayloadFormat
  /// Whether the last payload appended left a NAL unit unfinished.
  private var isInsideFragment = false

  /// A depacketizer for `format`.
  public init(format: PayloadFormat) { self.format = format }

  /// What a payload says of itself. Keeps no state: payloads may come in any order.
  public mutating func descriptor(of payload: RawSpan) throws(MalformedPayload) -> PayloadDescriptor {
    guard payload.byteCount > 0 else { throw .truncated("its first byte") }
    switch format {
    case .vp8: return try VP8Payload.descriptor(of: payload)
    case .h264: return try H264Payload.descriptor(of: payload)
    default: return PayloadDescriptor()
    }
  }

  /// Appends the media in `payload` to `frame`. Payloads of one frame must come in order and without gaps; a frame begins when `frame` is
  /// empty. H.264 comes out in the byte stream format (Annex B). When it throws, `frame` is as it was.
  public mutating func append(_ payload: RawSpan, to frame: inout [UInt8]) throws(MalformedPayload) {
    guard payload.byteCount > 0 else { throw .truncated("its first byte") }
    switch format {
    case .vp8:
      let descriptor = try VP8Payload.descriptor(of: payload)
      frame.append(bytes: payload.extracting(descriptor.mediaOffset..<payload.byteCount))
    case .h264:
      if frame.isEmpty { isInsideFragment = false }
      try H264Payload.append(payload, to: &frame, isInsideFragment: &isInsideFragment)
    default:
      frame.append(bytes: payload)
    }
  }
}
