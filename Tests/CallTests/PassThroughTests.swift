import Base
import Codecs
import Frames
import SDP
import Testing

@testable import Call

/// What becomes of a camera's own H.264, unit by unit.
@Suite struct PassThroughTests {
  private let peer = H264Profile(.constrainedBaseline, .level31)

  private func format(_ profile: UInt8 = 66, _ constraints: UInt8 = 0xC0, _ level: UInt8 = 31) -> AccessUnit.Format {
    AccessUnit.Format(width: 1_280, height: 720, profile: profile, constraints: constraints, level: level)
  }

  private func unit(_ number: Int, key: Bool = false, of format: AccessUnit.Format? = nil, bytes: Int = 1_000) -> AccessUnit {
    var frame = EncodedVideoFrame(bytes: [UInt8](repeating: 0, count: bytes), isKeyFrame: key)
    frame.ledger[.capture] = .zero + .milliseconds(Int64(number) * 40)
    return AccessUnit(frame: frame, number: number, format: format ?? self.format())
  }

  private let limits = EncodingLimits()

  /// Whether a picture that comes now is coded.
  private func codes(_ passage: inout PassThrough) -> Bool { passage.takePicture() }

  @Test func fromPicturesToUnitsAndBackThereIsNoGap() {
    var passage = PassThrough(accepted: peer, sourceRate: 25)
    passage.begin(nil, limits)
    #expect(passage.needs(limits, bitrate: 500_000) == VideoNeeds(pictures: true, units: true, bitrate: 500_000))
    // A camera begins to code itself: pictures go on until a unit comes that the peer can begin with.
    #expect(passage.take(unit(1), limits, bitrate: 500_000) == .dropAskingForKeyFrame)
    #expect(codes(&passage) && passage.needs(limits, bitrate: 500_000).pictures)
    #expect(passage.take(unit(2, key: true), limits, bitrate: 500_000) == .pass)
    #expect(!passage.needs(limits, bitrate: 500_000).pictures)
    #expect(!codes(&passage), "one that was on its way")
    #expect(passage.take(unit(3), limits, bitrate: 500_000) == .pass)
    // The page wants half the size: units go on until there is a picture.
    var half = limits
    half.scaleDownBy = 2
    #expect(passage.needs(half, bitrate: 500_000) == VideoNeeds())
    #expect(passage.take(unit(4), half, bitrate: 500_000) == .pass)
    #expect(codes(&passage))
    #expect(passage.take(unit(5, key: true), half, bitrate: 500_000) == .drop)
    #expect(passage.take(unit(6, key: true), limits, bitrate: 500_000) == .pass)
    passage.end()
    #expect(passage.needs(limits, bitrate: 500_000).pictures && codes(&passage))
  }

  @Test func afterAMissingUnitNothingIsSentUntilAKeyFrame() {
    var passage = PassThrough(accepted: peer, sourceRate: 25)
    passage.begin(format(), limits)
    #expect(passage.mode == .awaiting && !passage.needs(limits, bitrate: 500_000).pictures)
    let units = [unit(1, key: true), unit(2), unit(4), unit(5), unit(6, key: true), unit(7)]
    var verdicts: [PassThrough.Verdict] = []
    for unit in units { verdicts.append(passage.take(unit, limits, bitrate: 500_000)) }
    #expect(verdicts == [.pass, .pass, .dropAskingForKeyFrame, .dropAskingForKeyFrame, .pass, .pass])
  }

  @Test func onlyWhatThePeerDecodesIsSent() {
    func passes(_ accepted: H264Profile?, _ format: AccessUnit.Format?) -> Bool {
      var passage = PassThrough(accepted: accepted, sourceRate: 25)
      passage.begin(nil, limits)
      var unit = unit(1, key: true)
      unit.format = format
      let isPassed = passage.take(unit, limits, bitrate: 500_000) == .pass
      #expect(passage.needs(limits, bitrate: 500_000).pictures != isPassed)
      // A camera whose stream fits nobody need not code itself.
      #expect(passage.needs(limits, bitrate: 500_000).units == isPassed)
      return isPassed
    }
    #expect(passes(peer, format()))
    #expect(passes(H264Profile(.main, .level31), format()), "of a lower profile")
    #expect(passes(H264Profile(.baseline, .level4), format(66, 0)))
    #expect(!passes(peer, format(66, 0)), "baseline has what constrained baseline lacks")
    #expect(!passes(peer, format(77, 0)))
    #expect(!passes(H264Profile(.main, .level31), format(100, 0)))
    #expect(!passes(peer, format(66, 0xC0, 40)), "of a higher level")
    #expect(!passes(peer, nil), "B pictures and the like")
    #expect(!passes(nil, format()), "VP8, or packets of one slice")
  }

  @Test func whatIsSwitchedOffSendsNothingAndBeginsAnew() {
    var passage = PassThrough(accepted: peer, sourceRate: 25)
    passage.begin(format(), limits)
    #expect(passage.take(unit(1, key: true), limits, bitrate: 500_000) == .pass)
    var off = limits
    off.isActive = false
    #expect(passage.take(unit(2, key: true), off, bitrate: 500_000) == .drop)
    #expect(passage.take(unit(3), limits, bitrate: 500_000) == .dropAskingForKeyFrame)
    #expect(passage.take(unit(4, key: true), limits, bitrate: 500_000) == .pass)
  }

  @Test func fewerPicturesThanTheCameraCodesAreCodedHere() {
    var passage = PassThrough(accepted: peer, sourceRate: 25)
    passage.begin(format(), limits)
    var slow = limits
    slow.maximumFramesPerSecond = 25
    #expect(passage.take(unit(1, key: true), slow, bitrate: 500_000) == .pass)
    slow.maximumFramesPerSecond = 10
    #expect(passage.needs(slow, bitrate: 500_000).pictures && passage.needs(slow, bitrate: 500_000).units == false)
  }

  /// A camera that does not do as it is told must not fill a narrow network.
  @Test func aCameraThatKeepsToNoBitrateIsCodedAnew() {
    var passage = PassThrough(accepted: peer, sourceRate: 25)
    passage.begin(format(), limits)
    var passed = 0
    var number = 0
    // 25 units a second of 2,500 bytes: 500 kbit/s.
    func second(_ bitrate: Int) {
      passed = 0
      for _ in 0..<25 {
        number += 1
        if passage.take(unit(number, key: true, bytes: 2_500), limits, bitrate: bitrate) == .pass { passed += 1 }
        if passage.needs(limits, bitrate: bitrate).pictures { _ = passage.takePicture() }
      }
    }
    for _ in 0..<20 { second(500_000) }
    #expect(passed == 25)
    for _ in 0..<3 { second(300_000) }
    #expect(passed == 25, "it is given the time to follow")
    for _ in 0..<5 { second(300_000) }
    #expect(passed == 0 && passage.needs(limits, bitrate: 300_000) == VideoNeeds(pictures: true, units: true, bitrate: 300_000))
    for _ in 0..<8 { second(600_000) }
    #expect(passed == 0, "and has to show that it keeps to it")
    for _ in 0..<8 { second(600_000) }
    #expect(passed == 25)
  }
}
