import Base
import CYUV
import Frames

/// Tries whether coding hardware does what a call needs: a few pictures through it and through the software at the other end.
enum CodecProbe {
  /// The likeness, in dB, below which a picture is taken to be another.
  private static let codedLikeness = 25.0
  private static let decodedLikeness = 40.0

  /// What is wrong with `device`; nil when everything came out right, in time.
  static func fault(of device: any CodingDevice, _ codec: VideoCodec, _ direction: CodecChoice.Direction, within limit: Interval)
    -> HardwareFailure?
  {
    let worker = CodecWorker<Void, HardwareFailure?>(name: "parlor-probe") {
      { _ in
        do throws(HardwareFailure) {
          switch direction {
          case .encode: try tryEncoder(of: device, codec)
          case .decode: try tryDecoder(of: device, codec)
          }
          return nil
        } catch { return error }
      }
    }
    guard let answer = worker.perform((), within: limit) else { return .hung("the probe did not end within \(limit.seconds) s") }
    return answer
  }

  // The height is no multiple of 16, as that of many cameras: hardware has to hide the last rows.
  private static let (width, height) = (640, 360)

  private static func tryEncoder(of device: any CodingDevice, _ codec: VideoCodec) throws(HardwareFailure) {
    do throws(CodecError) {
      let settings = VideoEncoderSettings(width: width, height: height, framesPerSecond: 30, bitrate: 1_000_000)
      let encoder = try device.makeEncoder(codec, settings: settings)
      // The second one begins at the key frame that is asked for.
      let (decoder, latecomer) = (try CodecFactory.softwareDecoder(codec), try CodecFactory.softwareDecoder(codec))
      for index in 0..<5 {
        if index == 2 { try encoder.setBitrate(500_000, framesPerSecond: 30) }
        let picture = picture(index, width: width, height: height)
        guard let coded = try encoder.encode(VideoFrame(buffer: picture), forceKeyFrame: index == 3) else {
          throw .encodingFailed("picture \(index) of the probe did not come out")
        }
        if (index == 0 || index == 3) && !coded.isKeyFrame { throw .encodingFailed("no key frame where one was asked for") }
        try compare(try decoder.decode(coded), with: picture, at: codedLikeness)
        if index >= 3 { try compare(try latecomer.decode(coded), with: picture, at: codedLikeness) }
      }
    } catch { throw HardwareFailure(error) }
  }

  private static func tryDecoder(of device: any CodingDevice, _ codec: VideoCodec) throws(HardwareFailure) {
    do throws(CodecError) {
      let settings = VideoEncoderSettings(width: width, height: height, framesPerSecond: 30, bitrate: 1_000_000)
      let (encoder, reference) = (try CodecFactory.softwareEncoder(codec, settings: settings), try CodecFactory.softwareDecoder(codec))
      let decoder = try device.makeDecoder(codec)
      for index in 0..<6 {
        let isLarge = index < 3
        let picture = picture(index, width: isLarge ? width : width / 2, height: isLarge ? height : height / 2)
        guard let coded = try encoder.encode(VideoFrame(buffer: picture), forceKeyFrame: false), let expected = try reference.decode(coded)
        else { throw .unavailable("the software at the other end gives no picture") }
        try compare(try decoder.decode(coded), with: expected.buffer, at: decodedLikeness)
      }
    } catch { throw HardwareFailure(error) }
  }

  private static func compare(_ shown: VideoFrame?, with expected: VideoBuffer, at likeness: Double) throws(CodecError) {
    guard let buffer = shown?.buffer else { throw .encodingFailed("a picture of the probe is held back") }
    guard buffer.width == expected.width, buffer.height == expected.height else {
      throw .encodingFailed(
        "a picture came out with \(buffer.width)×\(buffer.height) pixels instead of \(expected.width)×\(expected.height)")
    }
    let psnr = unsafe I420Psnr(
      buffer.luma, Int32(buffer.lumaStride), buffer.chromaU, Int32(buffer.chromaStride), buffer.chromaV, Int32(buffer.chromaStride),
      expected.luma, Int32(expected.lumaStride), expected.chromaU, Int32(expected.chromaStride), expected.chromaV,
      Int32(expected.chromaStride), Int32(buffer.width), Int32(buffer.height))
    guard psnr >= likeness else { throw .encodingFailed("a picture came out changed (PSNR \(Int(psnr)) dB)") }
  }

  /// Slopes of brightness and of both colours, which move, so that no plane, row or picture can be taken for another.
  static func picture(_ index: Int, width: Int, height: Int) -> VideoBuffer {
    let buffer = VideoBuffer(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width { unsafe buffer.luma[y * buffer.lumaStride + x] = UInt8(32 + (x + 2 * y + 4 * index) / 12 % 160) }
    }
    for y in 0..<buffer.chromaHeight {
      for x in 0..<buffer.chromaWidth {
        unsafe buffer.chromaU[y * buffer.chromaStride + x] = UInt8(64 + (x + 2 * index) * 96 / (buffer.chromaWidth + 16))
        unsafe buffer.chromaV[y * buffer.chromaStride + x] = UInt8(192 - (y + 2 * index) * 96 / (buffer.chromaHeight + 16))
      }
    }
    return buffer
  }
}
