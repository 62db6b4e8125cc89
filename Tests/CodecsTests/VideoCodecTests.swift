import Base
import Camera
import Frames
import Testing

@testable import Codecs

/// What both video codecs owe a call.
struct VideoCodecTests {
  private let camera = SyntheticCamera(width: 640, height: 360, framesPerSecond: 30)

  @Test(arguments: VideoCodec.allCases)
  func thePictureSentIsThePictureShown(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 640, height: 360, bitrate: 1_000_000))
    let decoder = try CodecFactory.videoDecoder(codec)
    var (worst, codesRead, byteCount) = (Double.infinity, 0, 0)
    for index in 0..<60 {
      let source = camera.frame(at: index)
      let encoded = try #require(try encoder.encode(source, forceKeyFrame: false))
      #expect(encoded.isKeyFrame == (index == 0))
      #expect(encoded.width == 640 && encoded.height == 360)
      byteCount += encoded.bytes.count
      let shown = try #require(try decoder.decode(encoded))
      #expect(shown.ledger[.capture] == source.ledger[.capture], "the ledger travels with the frame")
      worst = min(worst, lumaPSNR(source.buffer, shown.buffer))
      if TimeCode.read(from: shown.buffer)?.index == UInt32(index) { codesRead += 1 }
    }
    #expect(worst > 30)
    #expect(codesRead == 60)
    #expect(byteCount * 8 / 2 < 1_500_000, "two seconds at 1 Mbit/s")
  }

  @Test(arguments: VideoCodec.allCases)
  func aKeyFrameComesWhenAskedForAndOnlyThen(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 300_000))
    let camera = SyntheticCamera(width: 320, height: 180)
    let keyFrames = try (0..<40).filter { index in
      try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 20)).isKeyFrame
    }
    #expect(keyFrames == [0, 20])
  }

  @Test(arguments: VideoCodec.allCases)
  func decodingCanStartAtARequestedKeyFrame(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 300_000))
    let camera = SyntheticCamera(width: 320, height: 180)
    let decoder = try CodecFactory.videoDecoder(codec)
    for index in 0..<10 {
      let encoded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 6))
      if index == 5 {
        #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(encoded) }
      } else if index >= 6 {
        let shown = try #require(try decoder.decode(encoded))
        #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 28)
      }
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func aNewBitrateIsFollowed(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 640, height: 360, bitrate: 1_200_000))
    func rate(of frames: Range<Int>) throws -> Int {
      let bytes = try frames.map { try encoder.encode(camera.frame(at: $0), forceKeyFrame: false)?.bytes.count ?? 0 }
      return bytes.reduce(0, +) * 8 * 30 / frames.count
    }
    _ = try rate(of: 0..<10)
    let high = try rate(of: 10..<60)
    try encoder.setBitrate(300_000, framesPerSecond: 30)
    _ = try rate(of: 60..<90)
    let low = try rate(of: 90..<150)
    #expect((600_000...1_500_000).contains(high))
    #expect((150_000...400_000).contains(low))
  }

  @Test(arguments: VideoCodec.allCases)
  func anotherPictureSizeIsTakenUpWithAKeyFrame(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 500_000))
    let decoder = try CodecFactory.videoDecoder(codec)
    for (width, height) in [(320, 180), (640, 360), (180, 320), (642, 362)] {
      let camera = SyntheticCamera(width: width, height: height)
      for index in 0..<3 {
        let source = camera.frame(at: index)
        let encoded = try #require(try encoder.encode(source, forceKeyFrame: false))
        #expect(encoded.isKeyFrame == (index == 0))
        let shown = try #require(try decoder.decode(encoded))
        #expect(shown.width == width && shown.height == height)
        #expect(lumaPSNR(source.buffer, shown.buffer) > 26)
      }
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func rotationTravelsWithTheFrame(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180))
    let decoder = try CodecFactory.videoDecoder(codec)
    var source = SyntheticCamera(width: 320, height: 180).frame(at: 0)
    source.rotation = .quarter
    let encoded = try #require(try encoder.encode(source, forceKeyFrame: false))
    #expect(try #require(try decoder.decode(encoded)).rotation == .quarter)
  }

  @Test(arguments: VideoCodec.allCases)
  func theQuantizerIsReportedInTheCodecsScale(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 640, height: 360, bitrate: 200_000))
    let decoder = try CodecFactory.videoDecoder(codec)
    func quantizer(at index: Int) throws -> Int {
      let encoded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
      _ = try decoder.decode(encoded)
      let quantizer = try #require(encoded.quantizer)
      #expect(quantizer == decoder.lastQuantizer)
      return quantizer
    }
    let coarse = try (0..<30).map { try quantizer(at: $0) }
    try encoder.setBitrate(2_000_000, framesPerSecond: 30)
    let fine = try (30..<60).map { try quantizer(at: $0) }
    #expect((coarse + fine).allSatisfy { (1...(codec == .vp8 ? 127 : 51)).contains($0) })
    #expect(coarse.last! > fine.last! + 5)
  }

  @Test(arguments: VideoCodec.allCases)
  func settingsOutOfRangeAreRefusedByName(codec: VideoCodec) throws {
    #expect(throws: CodecError.invalidSetting("size 8×360, accepted are sides from 16 to 8192")) {
      try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 8, height: 360))
    }
    #expect(throws: CodecError.self) {
      try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 640, height: 360, bitrate: 10))
    }
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180))
    #expect(throws: CodecError.self) { try encoder.setBitrate(500_000, framesPerSecond: 0) }
    #expect(throws: CodecError.self) { try encoder.setBitrate(-1, framesPerSecond: 30) }
  }

  @Test(arguments: VideoCodec.allCases)
  func garbageIsAnErrorAndTheNextKeyFrameWorks(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 400_000))
    let decoder = try CodecFactory.videoDecoder(codec)
    let camera = SyntheticCamera(width: 320, height: 180)
    var random = RandomSource(seed: 7)
    for round in 0..<60 {
      let source = camera.frame(at: round)
      let encoded = try #require(try encoder.encode(source, forceKeyFrame: true))
      var damaged = encoded
      switch round % 4 {
      case 0: damaged.bytes = random.bytes(Int.random(in: 0..<400, using: &random))
      case 1: damaged.bytes.removeLast(Int.random(in: 1..<encoded.bytes.count, using: &random))
      case 2:
        for _ in 0..<20 {
          damaged.bytes[Int.random(in: 0..<damaged.bytes.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        }
      default: damaged.bytes = []
      }
      _ = try? decoder.decode(damaged)
      let shown = try #require(try decoder.decode(encoded))
      #expect(lumaPSNR(source.buffer, shown.buffer) > 26)
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func afterABrokenFrameNothingIsShownUntilAKeyFrame(codec: VideoCodec) throws {
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 400_000))
    let decoder = try CodecFactory.videoDecoder(codec)
    let camera = SyntheticCamera(width: 320, height: 180)
    let frames = try (0..<4).map { try #require(try encoder.encode(camera.frame(at: $0), forceKeyFrame: $0 == 3)) }
    _ = try decoder.decode(frames[0])
    var broken = frames[1]
    broken.bytes = [0xFF, 0xFF]
    #expect(throws: (any Error).self) { try decoder.decode(broken) }
    if codec == .vp8 { #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(frames[2]) } }
    #expect(try decoder.decode(frames[3]) != nil)
  }

  @Test func aVP8HeaderCannotAskForAGigabyte() throws {
    let decoder = try CodecFactory.videoDecoder(.vp8)
    let huge = EncodedVideoFrame(bytes: [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F, 0, 0, 0, 0], isKeyFrame: true)
    #expect(throws: CodecError.malformed("a picture of 16383×16383 pixels")) { try decoder.decode(huge) }
  }

  @Test(arguments: [
    (VideoEncoderSettings.H264Profile.constrainedBaseline, UInt8(66)), (.main, 77), (.high, 100),
  ])
  func theNegotiatedH264ProfileIsSentAndDecodedWithoutDelay(profile: VideoEncoderSettings.H264Profile, identifier: UInt8) throws {
    var settings = VideoEncoderSettings(width: 320, height: 180, bitrate: 400_000)
    settings.profile = profile
    settings.level = 31
    let encoder = try CodecFactory.videoEncoder(.h264, settings: settings)
    let decoder = try CodecFactory.videoDecoder(.h264)
    let camera = SyntheticCamera(width: 320, height: 180)
    for index in 0..<10 {
      let source = camera.frame(at: index)
      let encoded = try #require(try encoder.encode(source, forceKeyFrame: false))
      if index == 0 {
        let units = AnnexB.units(of: encoded.bytes).map { Array(encoded.bytes[$0]) }
        #expect(units.map { $0[0] & 0x1F }.prefix(3) == [7, 8, 5], "parameter sets come before each key frame")
        #expect(units[0][1] == identifier)
        if profile == .constrainedBaseline { #expect(units[0][2] & 0x40 != 0, "constraint_set1: constrained") }
        #expect(units[0][3] <= 31)
      }
      let shown = try #require(try decoder.decode(encoded), "no picture is held back")
      #expect(TimeCode.read(from: shown.buffer)?.index == UInt32(index))
    }
  }
}
