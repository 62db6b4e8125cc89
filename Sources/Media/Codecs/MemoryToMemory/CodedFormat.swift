import V4L2

/// A format that a stateful codec of the kernel writes or reads.
package struct CodedFormat: Sendable, Hashable {
  /// What the kernel calls it.
  package let pixelFormat: FourCC

  package static let h264 = CodedFormat(pixelFormat: .h264)
  package static let vp8 = CodedFormat(pixelFormat: .vp8)
  /// The kernel's own simple format (include/uapi/linux/v4l2-controls.h, `V4L2_FWHT_…`), which its virtual codec speaks. No call uses it.
  package static let fwht = CodedFormat(pixelFormat: .fwht)

  /// The format of a codec of calls.
  init(_ codec: VideoCodec) { self.init(pixelFormat: codec == .h264 ? .h264 : .vp8) }

  private init(pixelFormat: FourCC) { self.pixelFormat = pixelFormat }

  /// Whether decoding can start at a frame.
  func isKeyFrame(_ bytes: [UInt8], flags: QueueBuffer.Flags = []) -> Bool {
    switch pixelFormat {
    case .h264: AnnexB.startsDecoding(bytes)
    case .vp8: VP8FrameHeader(bytes)?.isKeyFrame ?? false
    // The flags are the sixth word of the header, big-endian; V4L2_FWHT_FL_I_FRAME is bit 10.
    case .fwht: bytes.count > 23 && bytes[22] & 4 != 0
    default: flags.contains(.keyFrame)
    }
  }

  /// Whether a frame brings a picture to show, as far as its header tells.
  func isShown(_ bytes: [UInt8]) -> Bool { pixelFormat == .vp8 ? VP8FrameHeader(bytes)?.isShown ?? true : true }
}

extension VideoControl.Identifier {
  private static func codec(_ number: UInt32) -> VideoControl.Identifier { .init(rawValue: 0x0099_0900 + number) }

  /// `V4L2_CID_MPEG_VIDEO_FRAME_RC_ENABLE`
  static let controlsRate = codec(215)
  /// `V4L2_CID_MPEG_VIDEO_MULTI_SLICE_MAX_BYTES`
  static let sliceByteLimit = codec(219)
  /// `V4L2_CID_MPEG_VIDEO_MULTI_SLICE_MODE`
  static let sliceMode = codec(221)
  /// `V4L2_CID_MPEG_VIDEO_H264_ENTROPY_MODE`
  static let h264EntropyMode = codec(357)
  /// `V4L2_CID_MPEG_VIDEO_H264_I_PERIOD`
  static let h264KeyFramePeriod = codec(358)
  /// `V4L2_CID_MPEG_VIDEO_PREPEND_SPSPPS_TO_IDR`
  static let prependsParameterSets = codec(644)
  /// `V4L2_CID_MPEG_VIDEO_FRAME_SKIP_MODE`
  static let mayDropFrames = codec(646)
  /// `V4L2_CID_MPEG_VIDEO_DEC_DISPLAY_DELAY`
  static let displayDelay = codec(653)
  /// `V4L2_CID_MPEG_VIDEO_DEC_DISPLAY_DELAY_ENABLE`
  static let limitsDisplayDelay = codec(654)
}
