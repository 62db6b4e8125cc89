import Base
import Camera
import Frames
import Glibc
import Testing
import V4L2

@testable import Codecs

/// Encoders and decoders of the kernel, against drivers as the kernel's documents describe them.
struct MemoryToMemoryTests {
  private typealias Options = StatefulCodec.Options

  private let settings = VideoEncoderSettings(width: 640, height: 360, bitrate: 1_000_000)
  private let camera = SyntheticCamera(width: 640, height: 360, framesPerSecond: 30)

  private func encoder(
    _ options: StatefulCodec.Options, settings: VideoEncoderSettings? = nil, journal: StatefulCodec.Journal = .init()
  ) throws(CodecError) -> MemoryToMemoryEncoder {
    try MemoryToMemoryEncoder(
      StatefulCodec(options, journal: journal), CodedFormat(options.codec), name: "V4L2 stateful", settings: settings ?? self.settings)
  }

  private func decoder(_ options: StatefulCodec.Options, journal: StatefulCodec.Journal = .init()) throws(CodecError)
    -> MemoryToMemoryDecoder
  {
    var options = options
    options.direction = .decode
    return try MemoryToMemoryDecoder(StatefulCodec(options, journal: journal), CodedFormat(options.codec), name: "V4L2 stateful")
  }

  private func description(of error: any Error) -> String { "\(error)" }

  // MARK: Encoders

  @Test(arguments: VideoCodec.allCases, [(FourCC.nv12, false), (.yuv420, false), (FourCC("NM12"), true), (FourCC("YM12"), true)])
  func aPictureGoesInAndItsFrameComesOut(codec: VideoCodec, layout: (FourCC, Bool)) throws {
    let encoder = try encoder(Options(codec: codec, rawFormat: layout.0, isMultiplanar: layout.1))
    let decoder = try CodecFactory.softwareDecoder(codec)
    for index in 0..<12 {
      var source = camera.frame(at: index)
      source.rotation = .quarter
      let coded = try #require(try encoder.encode(source, forceKeyFrame: index == 7))
      #expect(coded.isKeyFrame == (index == 0 || index == 7))
      #expect(coded.ledger == source.ledger && coded.rotation == .quarter)
      let shown = try #require(try decoder.decode(coded))
      #expect(shown.width == 640 && shown.height == 360, "what the driver added is not seen")
      #expect(lumaPSNR(source.buffer, shown.buffer) > 28)
      #expect(TimeCode.read(from: shown.buffer)?.index == UInt32(index))
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func withoutAControlForItAKeyFrameComesByAReset(codec: VideoCodec) throws {
    let journal = StatefulCodec.Journal()
    let encoder = try encoder(Options(codec: codec, canForceKeyFrames: false), journal: journal)
    let keyFrames = try (0..<10).filter { index in
      try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 4)).isKeyFrame
    }
    #expect(keyFrames == [0, 4])
    #expect(journal.current.commands == ["stop"])
  }

  @Test func theDriverIsToldWhatAConversationNeeds() throws {
    let journal = StatefulCodec.Journal()
    var settings = settings
    settings.level = 31
    _ = try encoder(Options(), settings: settings, journal: journal)
    let set = journal.current.settings
    #expect(set[.bitrate] == 1_000_000 && set[.bitrateMode] == 1 && set[.bFrames] == 0 && set[.groupSize] == 3_000)
    #expect(set[.headerMode] == 1 && set[.h264Profile] == 1 && set[.h264Level] == 9)
  }

  @Test(arguments: [(false, true), (true, false)])
  func eachKeyFrameBringsItsParameterSets(separate: Bool, once: Bool) throws {
    let encoder = try encoder(Options(givesParameterSetsOnce: once, separatesParameterSets: separate))
    for index in 0..<8 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 5))
      guard index == 0 || index == 5 else { continue }
      let types = AnnexB.units(of: coded.bytes).map { coded.bytes[$0.lowerBound] & 0x1F }
      #expect(types.filter { $0 == AnnexB.UnitType.sequenceParameterSet }.count == 1)
      let shown = try #require(try CodecFactory.softwareDecoder(.h264).decode(coded), "a latecomer can begin here")
      #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 28)
    }
  }

  @Test func aProfileThatWasNotNegotiatedIsRefused() throws {
    let encoder = try encoder(Options(writesMainProfile: true))
    let error = #expect(throws: CodecError.self) { try encoder.encode(camera.frame(at: 0), forceKeyFrame: false) }
    let text = description(of: try #require(error))
    #expect(text.contains("profile-level-id 4d") && text.contains("constrainedBaseline"), "\(text)")
    var settings = settings
    settings.profile = .main
    let other = try self.encoder(Options(), settings: settings)
    #expect(try other.encode(camera.frame(at: 0), forceKeyFrame: false) != nil)
  }

  @Test func aDriverThatCannotHideItsPaddingIsRefused() {
    let error = #expect(throws: CodecError.self) { try encoder(Options(canCrop: false)) }
    #expect(error.map { description(of: $0).contains("cannot hide") } ?? false)
  }

  @Test func slicesAreLimitedOrTheDriverIsRefused() throws {
    var settings = settings
    settings.maximumSliceCount = 1_000
    let journal = StatefulCodec.Journal()
    let encoder = try encoder(Options(hasSliceControls: true), settings: settings, journal: journal)
    let coded = try #require(try encoder.encode(camera.frame(at: 0), forceKeyFrame: false))
    for unit in AnnexB.units(of: coded.bytes) { #expect(unit.count <= 1_000) }
    #expect(throws: CodecError.self) { try self.encoder(Options(), settings: settings) }
  }

  @Test(arguments: [false, true])
  func aNewBitrateIsFollowed(isBusy: Bool) throws {
    let journal = StatefulCodec.Journal()
    let encoder = try encoder(Options(codec: .vp8, isBusyWhileStreaming: isBusy), journal: journal)
    func rate(of frames: Range<Int>) throws -> Int {
      try frames.map { try encoder.encode(camera.frame(at: $0), forceKeyFrame: false)?.bytes.count ?? 0 }.reduce(0, +) * 240 / frames.count
    }
    _ = try rate(of: 0..<10)
    #expect(try rate(of: 10..<40) > 500_000)
    try encoder.setBitrate(300_000, framesPerSecond: 30)
    _ = try rate(of: 40..<70)
    #expect(try rate(of: 70..<100) < 450_000)
    #expect(journal.current.settings[.bitrate] == 300_000)
  }

  @Test(arguments: VideoCodec.allCases)
  func anotherSizeBeginsWithAKeyFrame(codec: VideoCodec) throws {
    let journal = StatefulCodec.Journal()
    let encoder = try encoder(Options(codec: codec), journal: journal)
    let decoder = try CodecFactory.softwareDecoder(codec)
    for (width, height) in [(640, 360), (320, 180), (642, 362)] {
      let camera = SyntheticCamera(width: width, height: height)
      for index in 0..<3 {
        let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
        #expect(coded.isKeyFrame == (index == 0))
        let shown = try #require(try decoder.decode(coded))
        #expect(shown.width == width && shown.height == height)
        #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 28)
      }
    }
    #expect(journal.current.openBuffers == 5, "one session's buffers")
  }

  @Test func whatWasTakenIsGivenBack() throws {
    let journal = StatefulCodec.Journal()
    do {
      let (encoder, decoder) = (try encoder(Options(), journal: journal), try decoder(Options(), journal: journal))
      let coded = try #require(try encoder.encode(camera.frame(at: 0), forceKeyFrame: false))
      _ = try decoder.decode(coded)
      #expect(journal.current.openMappings > 0)
    }
    #expect(journal.current.openMappings == 0)
    #expect(journal.current.openBuffers == 0)
  }

  @Test func timesThatADriverDoesNotCopyAreNotMissed() throws {
    let (encoder, decoder) = (try encoder(Options(copiesTimes: false)), try decoder(Options(copiesTimes: false)))
    for index in 0..<5 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
      let shown = try #require(try decoder.decode(coded))
      #expect(TimeCode.read(from: shown.buffer)?.index == UInt32(index))
    }
  }

  @Test func picturesInTheCamerasMemoryAreReadThere() throws {
    let (width, height) = (640, 480)
    let camera = SyntheticCamera(width: width, height: height)
    let journal = StatefulCodec.Journal()
    let settings = VideoEncoderSettings(width: width, height: height, bitrate: 2_000_000)
    let encoder = try encoder(Options(), settings: settings, journal: journal)
    let decoder = try CodecFactory.softwareDecoder(.h264)
    for index in 0..<6 {
      let source = camera.frame(at: index)
      // From number 4 on, the picture is in the process's own memory only.
      var frame = VideoFrame(buffer: index < 4 ? VideoBuffer(width: width, height: height) : source.buffer, ledger: source.ledger)
      if index < 4 { frame.deviceBuffer = try sharedPicture(source.buffer) }
      let coded = try #require(try encoder.encode(frame, forceKeyFrame: false))
      #expect(coded.isKeyFrame == (index == 0 || index == 4))
      let shown = try #require(try decoder.decode(coded))
      #expect(lumaPSNR(source.buffer, shown.buffer) > 28)
    }
    #expect(journal.current.importedDescriptors.count == 4)
  }

  @Test func memoryInAnotherLayoutIsCopiedFrom() throws {
    let journal = StatefulCodec.Journal()
    let encoder = try encoder(Options(), journal: journal)
    var source = camera.frame(at: 0)
    // 360 rows are not what this driver wants.
    source.deviceBuffer = try sharedPicture(source.buffer)
    let coded = try #require(try encoder.encode(source, forceKeyFrame: false))
    let shown = try #require(try CodecFactory.softwareDecoder(.h264).decode(coded))
    #expect(lumaPSNR(source.buffer, shown.buffer) > 28)
    #expect(journal.current.importedDescriptors.isEmpty)
  }

  /// A picture as NV12 in memory that has a descriptor.
  private func sharedPicture(_ picture: VideoBuffer) throws -> DeviceBuffer {
    let size = picture.width * picture.height * 3 / 2
    var path = Array("/tmp/parlor-picture-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    unlink(path)
    try #require(descriptor >= 0 && ftruncate(descriptor, size) == 0)
    let start = try #require(unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0))
    defer { unsafe munmap(start, size) }
    let format = PictureFormat(
      pixelFormat: .nv12, width: picture.width, height: picture.height, planes: [.init(stride: picture.width, size: size)])
    unsafe RawLayout(format)?.write(picture, to: [UnsafeMutableRawBufferPointer(start: start, count: size)])
    return DeviceBuffer(
      width: picture.width, height: picture.height, format: FourCC.nv12.rawValue,
      planes: [
        .init(descriptor: descriptor, offset: 0, stride: picture.width),
        .init(descriptor: descriptor, offset: picture.width * picture.height, stride: picture.width),
      ])
  }

  // MARK: Decoders

  @Test(
    arguments: VideoCodec.allCases,
    [(FourCC.nv12, false), (.yuv420, false), (FourCC("NV21"), false), (FourCC("NM12"), true), (FourCC("YM12"), true)])
  func aFrameGoesInAndItsPictureComesOut(codec: VideoCodec, layout: (FourCC, Bool)) throws {
    let decoder = try decoder(Options(codec: codec, rawFormat: layout.0, isMultiplanar: layout.1))
    let (encoder, reference) = (try CodecFactory.softwareEncoder(codec, settings: settings), try CodecFactory.softwareDecoder(codec))
    for (width, height) in [(640, 360), (320, 180), (640, 360)] {
      let camera = SyntheticCamera(width: width, height: height)
      for index in 0..<4 {
        var coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
        coded.rotation = .half
        let (expected, shown) = (try #require(try reference.decode(coded)), try #require(try decoder.decode(coded)))
        #expect(shown.width == width && shown.height == height)
        #expect(shown.rotation == .half && shown.ledger == coded.ledger)
        #expect(shown.buffer.samples == expected.buffer.samples, "every sample of all planes")
      }
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func afterADamagedFrameAKeyFrameIsNeeded(codec: VideoCodec) throws {
    let decoder = try decoder(Options(codec: codec, damagedFrame: 2))
    let encoder = try CodecFactory.softwareEncoder(codec, settings: settings)
    for index in 0..<7 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 5))
      switch index {
      case 2:
        let error = #expect(throws: CodecError.self) { try decoder.decode(coded) }
        #expect(error.map { description(of: $0).hasPrefix("malformed frame") } ?? false)
      case 3, 4: #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(coded) }
      default: #expect(try decoder.decode(coded) != nil)
      }
    }
  }

  @Test func aFrameThatShowsNothingGivesNothing() throws {
    let decoder = try decoder(Options(codec: .vp8))
    let encoder = try CodecFactory.softwareEncoder(.vp8, settings: settings)
    for index in 0..<4 {
      var coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
      // RFC 6386 section 9.1: show_frame.
      if index == 2 { coded.bytes[0] &= ~0x10 }
      #expect((try decoder.decode(coded) == nil) == (index == 2))
    }
  }

  @Test func aDriverThatSaysNothingFailsInTheEnd() throws {
    let encoder = try encoder(Options(lastFrame: 0))
    _ = try encoder.encode(camera.frame(at: 0), forceKeyFrame: false)
    let error = #expect(throws: CodecError.self) { try encoder.encode(camera.frame(at: 1), forceKeyFrame: false) }
    #expect(error.map { description(of: $0).contains("within 2 s") } ?? false)
  }

  // MARK: In a call

  private func device(_ options: StatefulCodec.Options) throws -> MemoryToMemoryDevice {
    try #require(MemoryToMemoryDevice(path: "/dev/video11") { _ throws(V4L2Error) in StatefulCodec(options) })
  }

  @Test(arguments: VideoCodec.allCases, CodecChoice.Direction.allCases)
  func theProbeTakesADriverThatWorks(codec: VideoCodec, direction: CodecChoice.Direction) throws {
    let device = try device(Options(codec: codec, direction: direction))
    #expect(device.name == "V4L2 stateful (/dev/video11)")
    for other in CodecChoice.Direction.allCases { #expect(device.supports(codec, other) == (other == direction)) }
    #expect(CodecProbe.fault(of: device, codec, direction, within: .seconds(60)) == nil)
  }

  @Test func theProbeLeavesADecoderAloneThatHoldsPicturesBack() throws {
    let device = try device(Options(direction: .decode, holdsBack: true))
    let fault = try #require(CodecProbe.fault(of: device, .h264, .decode, within: .seconds(60)))
    #expect("\(fault)".contains("gives no picture within"), "\(fault)")
  }

  @Test func theProbeFindsAWrongProfile() throws {
    let fault = try #require(CodecProbe.fault(of: try device(Options(writesMainProfile: true)), .h264, .encode, within: .seconds(60)))
    #expect("\(fault)".contains("profile-level-id"), "\(fault)")
  }

  @Test(arguments: VideoCodec.allCases, ["damaged", "gone", "silent"])
  func softwareTakesOverFromADriver(codec: VideoCodec, fault: String) throws {
    var options = Options(codec: codec)
    switch fault {
    case "damaged": options.damagedFrame = 4
    case "gone": options.goneFrame = 4
    default: options.lastFrame = 3
    }
    let patience = CodingPatience(start: .seconds(60), frame: .seconds(60))
    let encoder = try FallbackEncoder(codec, settings: settings, device: try device(options), patience: patience) { #expect($0.isLasting) }
    let decoder = try CodecFactory.softwareDecoder(codec)
    for index in 0..<8 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
      #expect(coded.isKeyFrame == (index == 0 || index == 4))
      let shown = try #require(try decoder.decode(coded))
      #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 28)
    }
    #expect(!encoder.isHardware)
  }
}

extension VideoBuffer {
  /// All samples, rows without gaps.
  fileprivate var samples: [UInt8] {
    var result: [UInt8] = []
    func add(_ plane: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int) {
      for y in 0..<height { unsafe result.append(contentsOf: UnsafeBufferPointer(start: plane + y * stride, count: width)) }
    }
    unsafe add(luma, lumaStride, width, height)
    unsafe add(chromaU, chromaStride, chromaWidth, chromaHeight)
    unsafe add(chromaV, chromaStride, chromaWidth, chromaHeight)
    return result
  }
}
