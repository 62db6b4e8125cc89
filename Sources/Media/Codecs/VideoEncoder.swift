import Frames
import Glibc

/// Turns pictures into a codec's bytes, one in, at most one out, without delay. Used by one thread at a time.
///
/// A frame of another size than the last one reconfigures the encoder, which then begins with a key frame.
public protocol VideoEncoder: AnyObject {
  /// The library or device behind it, as W3C `encoderImplementation` reports it.
  var implementationName: String { get }
  /// Whether hardware does the work. Like the name, it changes when software takes over.
  var isHardware: Bool { get }

  /// Compresses `frame`; nil when rate control dropped it (see `VideoEncoderSettings.mayDropFrames`).
  /// The ledger's `.encode` stage is left for the caller, who has the clock.
  func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedVideoFrame?

  /// Follows a new target from the next frame on: `bitrate` in bits per second, at least 1,000, and the frame rate to expect.
  func setBitrate(_ bitrate: Int, framesPerSecond: Double) throws(CodecError)
}

/// Turns a codec's bytes into pictures. Used by one thread at a time.
public protocol VideoDecoder: AnyObject {
  /// The library or device behind it, as W3C `decoderImplementation` reports it.
  var implementationName: String { get }
  /// Whether hardware does the work. Like the name, it changes when software takes over.
  var isHardware: Bool { get }

  /// Decompresses `frame` into a pooled buffer; nil when the codec shows nothing for it.
  ///
  /// Ledger and rotation are carried over; the `.decode` stage is left for the caller, who has the clock.
  /// After an error only a key frame is accepted: a picture that refers to a broken one is never shown.
  func decode(_ frame: EncodedVideoFrame) throws(CodecError) -> VideoFrame?

  /// The quantizer of the frame decoded last, in the codec's own scale, where the library tells.
  var lastQuantizer: Int? { get }
}

extension VideoEncoder {
  public var isHardware: Bool { false }
}

extension VideoDecoder {
  public var isHardware: Bool { false }
}

/// How to set up a video encoder for a call.
public struct VideoEncoderSettings: Sendable, Equatable {
  /// H.264 profiles that calls use (RFC 6184, `profile-level-id`).
  public enum H264Profile: Sendable, CaseIterable { case constrainedBaseline, main, high }

  /// Width of the first frames in pixels, 16 to 8,192.
  public var width: Int
  /// Height of the first frames in pixels, 16 to 8,192.
  public var height: Int
  /// Expected frame rate, more than 0 and at most 120.
  public var framesPerSecond: Double
  /// Target in bits per second, at least 1,000.
  public var bitrate: Int
  /// The most bytes that an H.264 slice may have: for packetization mode 0, where each one is a packet of its own. Nil: any size.
  public var maximumSliceCount: Int?
  /// Whether rate control may drop frames to hold the bitrate; without, it coarsens them instead.
  public var mayDropFrames = false
  /// The H.264 profile that was negotiated.
  public var profile = H264Profile.constrainedBaseline
  /// The H.264 level that was negotiated, as `level_idc` (31 is level 3.1); nil lets the encoder choose by size and rate.
  public var level: Int?
  /// Threads for one picture; nil chooses by size and processor count.
  public var threadCount: Int?

  /// Settings for a call; the rest has defaults.
  public init(width: Int, height: Int, framesPerSecond: Double = 30, bitrate: Int = 1_000_000) {
    (self.width, self.height, self.framesPerSecond, self.bitrate) = (width, height, framesPerSecond, bitrate)
  }

  func validate() throws(CodecError) {
    guard (16...8_192).contains(width), (16...8_192).contains(height) else {
      throw .invalidSetting("size \(width)×\(height), accepted are sides from 16 to 8192")
    }
    try VideoEncoderSettings.validate(bitrate: bitrate, framesPerSecond: framesPerSecond)
    if let threadCount, !(1...16).contains(threadCount) { throw .invalidSetting("\(threadCount) threads, accepted are 1 to 16") }
  }

  static func validate(bitrate: Int, framesPerSecond: Double) throws(CodecError) {
    guard (1_000...1_000_000_000).contains(bitrate) else {
      throw .invalidSetting("bitrate \(bitrate), accepted are 1000 to 1000000000 bits per second")
    }
    guard framesPerSecond > 0, framesPerSecond <= 120 else {
      throw .invalidSetting("\(framesPerSecond) frames per second, accepted are more than 0 and at most 120")
    }
  }

  /// One thread up to 1280×720: a frame takes a few milliseconds, and libvpx's threads wait for each other spinning, which starves the rest
  /// of a small machine. Larger pictures get a second one where there are processors to spare.
  var resolvedThreadCount: Int {
    threadCount ?? (width * height > 1_280 * 720 && VideoEncoderSettings.processorCount >= 4 ? 2 : 1)
  }

  static let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
