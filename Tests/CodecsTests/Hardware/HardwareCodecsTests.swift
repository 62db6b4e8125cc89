import Base
import Camera
import Frames
import Testing

@testable import Codecs

/// Which implementation codes, and what becomes of a call whose hardware fails.
struct HardwareCodecsTests {
  /// For devices that work: no machine is too busy for this.
  private static let patient = CodingPatience(start: .seconds(60), frame: .seconds(60), probe: .seconds(60))
  /// For devices that hang, with pictures so small that everything else is done long before.
  private static let brief = CodingPatience(start: .seconds(2), frame: .seconds(2), probe: .seconds(60))

  private let camera = SyntheticCamera(width: 160, height: 120, framesPerSecond: 30)
  private let settings = VideoEncoderSettings(width: 160, height: 120, bitrate: 300_000)

  /// What the probe chose among `devices`.
  private func probed(_ devices: [FaultyDevice], patience: CodingPatience = patient) async throws -> HardwareCodecs {
    let codecs = HardwareCodecs(patience: patience) { devices }
    codecs.startProbe()
    while !codecs.isProbed { try await Task.sleep(for: .milliseconds(5)) }
    return codecs
  }

  private func choice(_ codecs: HardwareCodecs, _ codec: VideoCodec, _ direction: CodecChoice.Direction) throws -> CodecChoice {
    try #require(codecs.choices.first { $0.codec == codec && $0.direction == direction })
  }

  @Test func softwareCodesUntilTheProbeHasEnded() throws {
    let codecs = HardwareCodecs { [FaultyDevice()] }
    #expect(codecs.choices.count == 4)
    #expect(try choice(codecs, .vp8, .encode).reason == "hardware was not looked for")
    #expect(try codecs.videoEncoder(.vp8, settings: settings).implementationName == "libvpx")
    #expect(try codecs.videoDecoder(.h264, threadCount: 1).implementationName == "OpenH264")
  }

  @Test func withoutHardwareSoftwareCodes() async throws {
    let codecs = try await probed([])
    for choice in codecs.choices { #expect(!choice.isHardware && choice.reason == "no hardware offers it") }
  }

  @Test(arguments: VideoCodec.allCases)
  func hardwareThatWorksIsTaken(codec: VideoCodec) async throws {
    let codecs = try await probed([FaultyDevice("chip")])
    for direction in CodecChoice.Direction.allCases {
      let choice = try choice(codecs, codec, direction)
      #expect(choice.isHardware && choice.implementation == "chip")
    }
    let (encoder, decoder) = (
      try codecs.videoEncoder(codec, settings: settings), try codecs.videoDecoder(codec, threadCount: 1)
    )
    for index in 0..<3 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false))
      let shown = try #require(try decoder.decode(coded))
      #expect(shown.ledger[.capture] == camera.frame(at: index).ledger[.capture])
      #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 25)
    }
    #expect(encoder.implementationName == "chip" && encoder.isHardware)
    #expect(decoder.implementationName == "chip" && decoder.isHardware)
  }

  @Test func aDirectionThatADriverDoesNotOfferIsSoftware() async throws {
    let codecs = try await probed([FaultyDevice("chip", only: .decode)])
    #expect(try choice(codecs, .h264, .decode).implementation == "chip")
    #expect(try choice(codecs, .h264, .encode).implementation == "OpenH264")
  }

  @Test(
    arguments: [
      (FaultyDevice.Fault.fails, "failed: input/output error"), (.isFull, "cannot serve: all sessions are taken"),
      (.swapsColours, "failed: a picture came out changed"), (.holdsBack, "failed: picture 0 of the probe did not come out"),
      (.ignoresKeyFrameRequests, "failed: no key frame where one was asked for"),
    ])
  func theProbeFindsAnEncoderAtFault(fault: FaultyDevice.Fault, reason: String) async throws {
    let codecs = try await probed([FaultyDevice("chip", fault: fault)])
    let choice = try choice(codecs, .vp8, .encode)
    #expect(!choice.isHardware)
    #expect(choice.reason.hasPrefix("chip \(reason)"), "\(choice.reason)")
  }

  @Test(
    arguments: [
      (FaultyDevice.Fault.fails, "failed: input/output error"), (.swapsColours, "failed: a picture came out changed"),
      (.holdsBack, "failed: a picture of the probe is held back"), (.refuses, "failed: the device's error flag"),
    ])
  func theProbeFindsADecoderAtFault(fault: FaultyDevice.Fault, reason: String) async throws {
    let codecs = try await probed([FaultyDevice("chip", fault: fault)])
    let choice = try choice(codecs, .h264, .decode)
    #expect(!choice.isHardware)
    #expect(choice.reason.hasPrefix("chip \(reason)"), "\(choice.reason)")
  }

  @Test func theSecondDeviceServesWhereTheFirstIsAtFault() async throws {
    let codecs = try await probed([FaultyDevice("broken", fault: .fails), FaultyDevice("whole")])
    #expect(try choice(codecs, .vp8, .encode).implementation == "whole")
  }

  @Test(arguments: [FaultyDevice.Fault.hangs, .hangsWhenOpened])
  func aDriverThatHangsInTheProbeIsLeftAlone(fault: FaultyDevice.Fault) async throws {
    let device = FaultyDevice("chip", only: .encode, fault: fault)
    let codecs = try await probed([device], patience: CodingPatience(probe: .milliseconds(50)))
    #expect(try choice(codecs, .vp8, .encode).reason.hasPrefix("chip hung"))
    #expect(try codecs.videoEncoder(.vp8, settings: settings).implementationName == "libvpx")
    for _ in 0..<4 { device.letGo() }
  }

  @Test func aDriverThatDoesNotSayWhatItOffersLeavesEverythingToSoftware() async throws {
    let wait = WakeSignal()
    let codecs = HardwareCodecs(patience: CodingPatience(probe: .milliseconds(50))) {
      wait.wait()
      return []
    }
    codecs.startProbe()
    while !codecs.isProbed { try await Task.sleep(for: .milliseconds(5)) }
    for choice in codecs.choices { #expect(choice.reason == "hung: a driver does not say what it offers") }
    wait.signal()
  }

  @Test(arguments: VideoCodec.allCases, [FaultyDevice.Fault.hangs, .fails])
  func softwareTakesOverFromAnEncoderWithTheVeryPicture(codec: VideoCodec, fault: FaultyDevice.Fault) async throws {
    let device = FaultyDevice("chip")
    let codecs = HardwareCodecs(patience: HardwareCodecsTests.brief) { [device] }
    codecs.startProbe()
    while !codecs.isProbed { try await Task.sleep(for: .milliseconds(5)) }
    let encoder = try codecs.videoEncoder(codec, settings: settings)
    let decoder = try CodecFactory.softwareDecoder(codec)
    for index in 0..<6 {
      if index == 3 { device.begin(fault) }
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: false), "no picture is lost")
      #expect(coded.isKeyFrame == (index == 0 || index == 3))
      let shown = try #require(try decoder.decode(coded))
      #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 25)
      #expect(encoder.isHardware == (index < 3))
    }
    #expect(encoder.implementationName == CodecFactory.softwareName(codec))
    let choice = try choice(codecs, codec, .encode)
    #expect(!choice.isHardware && choice.reason.hasPrefix(fault == .hangs ? "chip hung" : "chip failed"), "\(choice.reason)")
    #expect(
      try codecs.videoEncoder(codec, settings: settings).implementationName == CodecFactory.softwareName(codec), "nor for the next call")
    device.letGo()
  }

  @Test(arguments: VideoCodec.allCases, [FaultyDevice.Fault.hangs, .fails])
  func softwareTakesOverFromADecoderAtTheNextKeyFrame(codec: VideoCodec, fault: FaultyDevice.Fault) async throws {
    let device = FaultyDevice("chip")
    let encoder = try CodecFactory.softwareEncoder(codec, settings: settings)
    let decoder = FallbackDecoder(codec, device: device, patience: HardwareCodecsTests.brief) { #expect($0.isLasting) }
    for index in 0..<8 {
      if index == 3 { device.begin(fault) }
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 5))
      if index == 3 || index == 4 {
        // What asks the sender for a key frame.
        #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(coded) }
      } else {
        let shown = try #require(try decoder.decode(coded))
        #expect(lumaPSNR(camera.frame(at: index).buffer, shown.buffer) > 25)
      }
    }
    #expect(decoder.implementationName == CodecFactory.softwareName(codec) && !decoder.isHardware)
    device.letGo()
  }

  @Test func aFullDeviceServesTheNextCallAgain() async throws {
    let device = FaultyDevice("chip")
    let codecs = try await probed([device])
    device.begin(.isFull)
    let encoder = try codecs.videoEncoder(.vp8, settings: settings)
    #expect(try #require(try encoder.encode(camera.frame(at: 0), forceKeyFrame: false)).isKeyFrame)
    #expect(encoder.implementationName == "libvpx")
    device.begin(.none)
    let next = try codecs.videoEncoder(.vp8, settings: settings)
    _ = try next.encode(camera.frame(at: 0), forceKeyFrame: false)
    #expect(next.implementationName == "chip")
  }

  @Test func aBrokenStreamIsNotTheDevicesFault() throws {
    let encoder = try CodecFactory.softwareEncoder(.vp8, settings: settings)
    let decoder = FallbackDecoder(.vp8, device: FaultyDevice("chip"), patience: HardwareCodecsTests.patient) {
      Issue.record("given up: \($0)")
    }
    for index in 0..<3 {
      let coded = try #require(try encoder.encode(camera.frame(at: index), forceKeyFrame: true))
      _ = try #require(try decoder.decode(coded))
      let broken = EncodedVideoFrame(bytes: [0, 1, 2], isKeyFrame: true)
      if index < 2 { #expect(throws: CodecError.self) { try decoder.decode(broken) } }
    }
    #expect(decoder.implementationName == "chip")
  }

  @Test func aDeviceThatRefusesGoodKeyFramesIsGivenUp() throws {
    let device = FaultyDevice("chip", fault: .refuses)
    let encoder = try CodecFactory.softwareEncoder(.h264, settings: settings)
    let decoder = FallbackDecoder(.h264, device: device, patience: HardwareCodecsTests.patient) { #expect($0.isLasting) }
    let coded = try #require(try encoder.encode(camera.frame(at: 0), forceKeyFrame: true))
    #expect(try decoder.decode(coded) != nil, "not even this picture is lost")
    #expect(!decoder.isHardware)
  }

  @Test func aNewBitrateReachesHardware() throws {
    let settings = VideoEncoderSettings(width: 640, height: 360, bitrate: 1_200_000)
    let camera = SyntheticCamera(width: 640, height: 360, framesPerSecond: 30)
    let encoder = try FallbackEncoder(.vp8, settings: settings, device: FaultyDevice(), patience: HardwareCodecsTests.patient) {
      Issue.record("given up: \($0)")
    }
    func rate(of frames: Range<Int>) throws -> Int {
      try frames.map { try encoder.encode(camera.frame(at: $0), forceKeyFrame: false)?.bytes.count ?? 0 }.reduce(0, +) * 240 / frames.count
    }
    _ = try rate(of: 0..<10)
    #expect(try rate(of: 10..<40) > 600_000)
    try encoder.setBitrate(300_000, framesPerSecond: 30)
    _ = try rate(of: 40..<70)
    #expect(try rate(of: 70..<100) < 450_000)
  }
}
