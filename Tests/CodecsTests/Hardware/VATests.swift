import CVA
import Camera
import Frames
import Testing

@testable import Codecs

/// Encoders and decoders by VA-API, against a driver that reads its parameters as libva's headers describe them.
struct VATests {
  private let settings = VideoEncoderSettings(width: 640, height: 360, bitrate: 1_000_000)
  private let camera = SyntheticCamera(width: 640, height: 360, framesPerSecond: 30)

  private func device(_ options: SoftwareVADriver.Options = .init(), journal: SoftwareVADriver.Journal = .init()) throws -> VADevice {
    try #require(VADevice(path: "/dev/dri/renderD128") { _ throws(VAError) in SoftwareVADriver(options, journal: journal) })
  }

  @Test(arguments: VideoCodec.allCases)
  func aPictureGoesInAndItsFrameComesOut(codec: VideoCodec) throws {
    let journal = SoftwareVADriver.Journal()
    do {
      let device = try device(journal: journal)
      #expect(device.name == "VA-API software (/dev/dri/renderD128)" && device.supports(codec, .encode))
      let encoder = try device.makeEncoder(codec, settings: settings)
      let decoder = try CodecFactory.softwareDecoder(codec)
      // More pictures than frame numbers.
      for index in 0..<300 {
        var source = camera.frame(at: index)
        source.rotation = .half
        let coded = try #require(try encoder.encode(source, forceKeyFrame: index == 7))
        #expect(coded.isKeyFrame == (index == 0 || index == 7))
        #expect(coded.ledger == source.ledger && coded.rotation == .half && coded.width == 640)
        let shown = try #require(try decoder.decode(coded))
        if index % 30 < 10 { #expect(lumaPSNR(source.buffer, shown.buffer) > 28) }
      }
      #expect(encoder.isHardware)
    }
    #expect(journal.current.problems == [])
    #expect(journal.current.openSessions == 0, "the session is given back")
  }

  @Test(arguments: VideoCodec.allCases)
  func anotherSizeBeginsWithAKeyFrame(codec: VideoCodec) throws {
    let journal = SoftwareVADriver.Journal()
    let encoder = try device(journal: journal).makeEncoder(codec, settings: settings)
    let decoder = try CodecFactory.softwareDecoder(codec)
    for (width, height) in [(640, 360), (320, 180), (642, 362)] {
      let camera = SyntheticCamera(width: width, height: height)
      for index in 0..<3 {
        let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
        #expect(coded.isKeyFrame == (index == 0))
        let shown = try #require(try decoder.decode(coded))
        #expect(shown.width == width && shown.height == height)
      }
    }
    #expect(journal.current.problems == [])
  }

  /// SPS and PPS of a frame.
  private func parameterSets(_ bytes: [UInt8]) -> [UInt8] {
    AnnexB.units(of: bytes).filter { [7, 8].contains(bytes[$0.lowerBound] & 0x1F) }.reduce(into: []) { $0 += [0, 0, 0, 1] + bytes[$1] }
  }

  @Test(arguments: VideoEncoderSettings.H264Profile.allCases)
  func aFrameGoesInAndItsPictureComesOut(profile: VideoEncoderSettings.H264Profile) throws {
    let journal = SoftwareVADriver.Journal()
    let device = try device(journal: journal)
    #expect(device.supports(.h264, .decode) && !device.supports(.vp8, .decode))
    let decoder = try device.makeDecoder(.h264)
    var settings = settings
    settings.profile = profile
    let encoder = try CodecFactory.softwareEncoder(.h264, settings: settings)
    var quantizers: [Int] = []
    for (width, height) in [(640, 360), (320, 180), (640, 360)] {
      let camera = SyntheticCamera(width: width, height: height)
      for index in 0..<10 {
        var coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 6))
        coded.rotation = .quarter
        if coded.isKeyFrame { journal.expect(parameterSets: parameterSets(coded.bytes)) }
        quantizers.append(try #require(coded.quantizer))
        let shown = try #require(try decoder.decode(coded))
        #expect(shown.width == width && shown.height == height && shown.rotation == .quarter && shown.ledger == coded.ledger)
        #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 28)
      }
    }
    #expect(journal.current.problems == [])
    #expect(journal.current.quantizers == quantizers, "slice headers are read up to their end")
  }

  @Test func whatTheDecoderCannotIsLeftToSoftware() throws {
    let decoder = try device().makeDecoder(.h264)
    let encoder = try CodecFactory.softwareEncoder(.h264, settings: settings)
    let coded = try #require(try encoder.encode(camera.frame(at: 0), forceKeyFrame: false))
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(EncodedVideoFrame(bytes: [0, 0, 1, 0x61, 0x9A], isKeyFrame: false)) }
    // The same frame with a slice of B macroblocks: the type is the second code, ue(7) or ue(2) becomes ue(1).
    let unit = try #require(AnnexB.units(of: coded.bytes).first { coded.bytes[$0.lowerBound] & 0x1F == AnnexB.UnitType.keyFrameSlice })
    var changed = coded
    changed.bytes[unit.lowerBound + 1] = 0b1010_1111
    let error = #expect(throws: CodecError.self) { try decoder.decode(changed) }
    #expect(error.map { "\($0)".contains("other than I and P") } ?? false, "\(error as Any)")
    #expect(try device(.init(canDecode: false)).supports(.h264, .decode) == false)
  }

  @Test func aMissingPictureIsNotDecodedAround() throws {
    let journal = SoftwareVADriver.Journal()
    let decoder = try device(journal: journal).makeDecoder(.h264)
    let encoder = try CodecFactory.softwareEncoder(.h264, settings: settings)
    for index in 0..<6 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 5))
      if coded.isKeyFrame { journal.expect(parameterSets: parameterSets(coded.bytes)) }
      switch index {
      case 2: break
      case 3, 4: #expect(throws: CodecError.self) { try decoder.decode(coded) }
      default: #expect(try decoder.decode(coded) != nil)
      }
    }
    #expect(journal.current.problems == [])
  }

  @Test func theDriverIsToldOfRates() throws {
    let journal = SoftwareVADriver.Journal()
    let encoder = try device(journal: journal).makeEncoder(.vp8, settings: settings)
    for index in 0..<4 {
      if index == 2 { try encoder.setBitrate(300_000, framesPerSecond: 15) }
      _ = try encoder.encode(camera.frame(at: index), forceKeyFrame: false)
    }
    #expect(journal.current.bitrates == [1_000_000, 300_000])
    #expect(journal.current.frameRates == [3_000 | 100 << 16, 1_500 | 100 << 16])
  }

  @Test func driversThatLackSomethingAreRefused() throws {
    func refusal(_ options: SoftwareVADriver.Options, _ settings: VideoEncoderSettings) throws -> String {
      let device = try device(options)
      let error = #expect(throws: CodecError.self) {
        _ = try device.makeEncoder(.h264, settings: settings).encode(camera.frame(at: 0), forceKeyFrame: false)
      }
      return error.map { "\($0)" } ?? ""
    }
    #expect(try refusal(.init(hasConstantRate: false), settings).contains("no constant bitrate"))
    #expect(try refusal(.init(writesNoHeaders: true), settings).contains("without SPS and PPS"))
    var sliced = settings
    sliced.maximumSliceCount = 1_000
    #expect(try refusal(.init(), sliced).contains("packetization mode 0"))
    var high = settings
    high.profile = .high
    #expect(try refusal(.init(), high).contains("does not encode"))
    #expect(
      VADevice(path: "/dev/dri/renderD128") { _ throws(VAError) in
        SoftwareVADriver(.init(entryPoint: VAEntrypointVideoProc, canDecode: false))
      } == nil)
  }

  @Test(arguments: VideoCodec.allCases)
  func theProbeTakesADriverThatWorks(codec: VideoCodec) throws {
    #expect(CodecProbe.fault(of: try device(), codec, .encode, within: .seconds(60)) == nil)
    #expect(CodecProbe.fault(of: try device(.init(entryPoint: VAEntrypointEncSliceLP)), codec, .encode, within: .seconds(60)) == nil)
  }

  @Test(arguments: VideoCodec.allCases)
  func softwareTakesOverFromADriverThatFails(codec: VideoCodec) throws {
    let patience = CodingPatience(start: .seconds(60), frame: .seconds(60))
    let encoder = try FallbackEncoder(codec, settings: settings, device: try device(.init(failedRun: 3)), patience: patience) {
      #expect("\($0)" == "failed: VA-API software (/dev/dri/renderD128): vaSyncSurface: hardware busy")
    }
    for index in 0..<6 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
      #expect(coded.isKeyFrame == (index == 0 || index == 3))
    }
    #expect(!encoder.isHardware)
  }

  @Test func headersAreGivenToDriversThatWantThem() throws {
    let journal = SoftwareVADriver.Journal()
    let encoder = try device(.init(takesHeaders: true), journal: journal).makeEncoder(.h264, settings: settings)
    for index in 0..<4 { _ = try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 2) }
    let headers = H264Headers(settings, width: 640, height: 360)
    let expected = headers.sequenceParameterSet + headers.pictureParameterSet
    #expect(journal.current.headers == [expected, expected], "with each key frame")
  }

  @Test(arguments: VideoEncoderSettings.H264Profile.allCases, [(640, 360), (1_920, 1_080), (322, 182), (64, 64)])
  func headersSayWhatWasAskedFor(profile: VideoEncoderSettings.H264Profile, size: (Int, Int)) throws {
    var settings = VideoEncoderSettings(width: size.0, height: size.1)
    settings.profile = profile
    let headers = H264Headers(settings, width: size.0, height: size.1)
    let bytes = headers.sequenceParameterSet
    let unit = try #require(AnnexB.unit(in: bytes, from: 0))
    #expect(bytes[unit.lowerBound] == 0x67 && unit.lowerBound == 4)
    var conformance = H264Conformance(settings)
    let frame = bytes + headers.pictureParameterSet + [0, 0, 1, 0x65, 0x88]
    #expect(try conformance.checked(frame) == frame, "the profile is the one that was negotiated")
    // ITU-T H.264 section 7.3.2.1.1, read back.
    var reader = H264BitReader(bytes, in: unit.lowerBound + 1..<unit.upperBound)
    reader.skip(24)
    let number = reader.unsigned()
    #expect(number == 0)
    if profile == .high {
      let formats = (0..<3).map { _ in reader.unsigned() }
      #expect(formats == [1, 0, 0])
      reader.skip(2)
    }
    let numbers = (0..<4).map { _ in reader.unsigned() }
    #expect(numbers == [4, 0, 4, 1])
    reader.skip(1)
    let (width, height) = ((Int(reader.unsigned()) + 1) * 16, (Int(reader.unsigned()) + 1) * 16)
    reader.skip(2)
    let isCropped = reader.flag()
    let crop = isCropped ? (0..<4).map { _ in Int(reader.unsigned()) } : [0, 0, 0, 0]
    #expect(width - 2 * (crop[0] + crop[1]) == size.0 && height - 2 * (crop[2] + crop[3]) == size.1)
    let hasUsability = reader.flag()
    reader.skip(8)
    let isRestricted = reader.flag()
    reader.skip(1)
    let limits = (0..<6).map { _ in reader.unsigned() }
    #expect(hasUsability && isRestricted && limits[4] == 0 && limits[5] == 1, "no picture waits for another")
    #expect(!reader.isExhausted)
  }

  @Test func theLibrarySaysWhatIsWrong() {
    let absent = #expect(throws: VAError.self) { try LibVADriver(path: "/dev/dri/absent") }
    #expect(absent?.description == "open: /dev/dri/absent: No such file or directory")
    let other = #expect(throws: VAError.self) { try LibVADriver(path: "/dev/null") }
    #expect(other?.call == "vaGetDisplayDRM", "\(other as Any)")
  }

  @Test func levelsFollowSizeAndRate() {
    #expect(H264Headers.level(width: 640, height: 360, framesPerSecond: 30, bitrate: 1_000_000) == 30)
    #expect(H264Headers.level(width: 1_280, height: 720, framesPerSecond: 30, bitrate: 2_000_000) == 31)
    #expect(H264Headers.level(width: 1_920, height: 1_080, framesPerSecond: 30, bitrate: 4_000_000) == 40)
    #expect(H264Headers.level(width: 1_920, height: 1_080, framesPerSecond: 60, bitrate: 4_000_000) == 42)
    #expect(H264Headers.level(width: 1_280, height: 720, framesPerSecond: 30, bitrate: 16_000_000) == 32)
  }
}
