import Frames

/// Turns 10 ms blocks into a codec's packets. Used by one thread at a time.
public protocol AudioEncoder: AnyObject {
  /// The library behind it.
  var implementationName: String { get }
  /// Samples per channel at 48 kHz in one packet: 960, that is 20 ms.
  var samplesPerFrame: Int { get }
  /// What one packet adds to the RTP time stamp. (It also passes while nothing is sent.)
  var timestampStep: UInt32 { get }

  /// Takes a block; returns a packet with every second one, or nil: the frame is not whole yet, or it is silence that is not sent (DTX).
  func encode(_ block: AudioBlock) throws(CodecError) -> [UInt8]?
  /// Follows a new target in bits per second. A codec of fixed rate ignores it.
  func setBitrate(_ bitrate: Int) throws(CodecError)
  /// Prepares for the loss that receivers report, 0 to 1: Opus repeats the last frame coarsely in the next one (in-band FEC).
  func setPacketLoss(_ fraction: Double) throws(CodecError)
}

/// Turns a codec's packets into samples at 48 kHz. Used by one thread at a time.
///
/// The samples of consecutive calls join without a seam, whichever of the three calls made them.
public protocol AudioDecoder: AnyObject {
  /// The library behind it.
  var implementationName: String { get }
  /// 1 or 2: how many channels are interleaved in the output.
  var channelCount: Int { get }

  /// Decodes one packet; `samples` is replaced (its capacity is kept) by interleaved samples.
  func decode(_ payload: RawSpan, into samples: inout [Int16]) throws(CodecError)
  /// Invents `sampleCount` samples per channel in place of what was lost; a multiple of 120 (2.5 ms), at most 5,760.
  func conceal(sampleCount: Int, into samples: inout [Int16])
  /// Decodes the coarse copy of the lost frame that `next`, the packet after it, carries. False when it carries none; `samples` is untouched then.
  func recover(from next: RawSpan, sampleCount: Int, into samples: inout [Int16]) throws(CodecError) -> Bool
  /// How many samples per channel `payload` decodes to, without decoding it; nil when it is malformed.
  func sampleCount(of payload: RawSpan) -> Int?
}

extension AudioDecoder {
  /// Decodes one packet to interleaved samples.
  public func decode(_ payload: [UInt8]) throws(CodecError) -> [Int16] {
    var samples: [Int16] = []
    try decode(payload.span.bytes, into: &samples)
    return samples
  }

  /// Invents `sampleCount` samples per channel in place of what was lost.
  public func conceal(sampleCount: Int) -> [Int16] {
    var samples: [Int16] = []
    conceal(sampleCount: sampleCount, into: &samples)
    return samples
  }

  /// The lost 20 ms frame before `next`, from the copy that `next` carries; nil when it carries none.
  public func recover(from next: [UInt8]) throws(CodecError) -> [Int16]? {
    var samples: [Int16] = []
    return try recover(from: next.span.bytes, sampleCount: 960, into: &samples) ? samples : nil
  }
}

/// How to set up an audio encoder for a call.
public struct AudioEncoderSettings: Sendable, Equatable {
  /// 1 or 2; G.711 is always mono.
  public var channelCount = 1
  /// Opus's target in bits per second, 6,000 to 510,000.
  public var bitrate = 32_000
  /// Whether Opus repeats frames coarsely (RFC 7587 `useinbandfec`).
  public var usesForwardErrorCorrection = true
  /// Whether silence is sent as rare packets (RFC 7587 `usedtx`).
  public var usesDiscontinuousTransmission = false
  /// Opus's effort, 0 to 10.
  public var complexity = 5

  /// The defaults: mono speech.
  public init() {}
}
