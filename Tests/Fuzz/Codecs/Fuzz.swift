import Base
import Bytes
import Codecs
import Frames

/// Decoders are made once, as a call does: they must survive whatever came before.
nonisolated(unsafe) private let vp8 = try! CodecFactory.videoDecoder(.vp8)
nonisolated(unsafe) private let h264 = try! CodecFactory.videoDecoder(.h264)
nonisolated(unsafe) private let audio = AudioCodec.allCases.map { try! CodecFactory.audioDecoder($0) }
nonisolated(unsafe) private var quantizer = H264Quantizer()
nonisolated(unsafe) private var units = AccessUnitReader()

/// The first byte chooses the parser; the rest is what it reads.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: data + 1, count: size - 1))
  switch data[0] % 5 {
  case 0:
    for unit in AnnexB.units(of: bytes) { precondition(!unit.isEmpty && unit.upperBound <= bytes.count, "a unit lies inside") }
    _ = AnnexB.startsDecoding(bytes)
    _ = quantizer.read(bytes)
    var fresh = H264Quantizer()
    _ = fresh.read(bytes)
    if let unit = try? units.read(bytes) { precondition(unit.frame.bytes.count >= bytes.count, "what a camera gave is all there") }
  case 1:
    _ = VP8FrameHeader(bytes)
    _ = try? vp8.decode(EncodedVideoFrame(bytes: bytes, isKeyFrame: true))
  case 2: _ = try? h264.decode(EncodedVideoFrame(bytes: bytes, isKeyFrame: true))
  case 3:
    for decoder in audio {
      let count = decoder.sampleCount(of: bytes.span.bytes)
      if let decoded = try? decoder.decode(bytes) { precondition(decoded.count == count, "the count foretold is the count decoded") }
    }
  default:
    for decoder in audio {
      if let samples = try? decoder.recover(from: bytes) { precondition(samples.count == 960, "one frame is restored") }
      precondition(decoder.conceal(sampleCount: 480).count == 480, "what is asked for is invented")
    }
  }
  return 0
}
