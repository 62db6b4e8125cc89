import Testing

@testable import SDP

@Suite struct H264ProfileTests {
  @Test(
    arguments: [
      ("42e01f", .constrainedBaseline, .level31), ("42C015", .constrainedBaseline, .level21), ("42001f", .baseline, .level31),
      ("4d001f", .main, .level31), ("4d401f", .main, .level31), ("4d801f", .constrainedBaseline, .level31),
      ("640c1f", .constrainedHigh, .level31),
      ("640028", .high, .level4), ("58001e", .extended, .level3), ("58c01e", .constrainedBaseline, .level3), ("58801e", .baseline, .level3),
      ("6e0033", .high10, .level51), ("7a0034", .high422, .level52), ("f4001f", .predictiveHigh444, .level31),
      ("42f00b", .constrainedBaseline, .level1b), ("42e00b", .constrainedBaseline, .level11), ("640009", .high, .level1b),
    ] as [(String, H264Profile.Profile, H264Profile.Level)])
  func readsProfileAndLevel(_ text: String, _ profile: H264Profile.Profile, _ level: H264Profile.Level) throws {
    let read = try #require(H264Profile(profileLevelID: text))
    #expect(read == H264Profile(profile, level))
    #expect(H264Profile(profileLevelID: read.profileLevelID) == read)
  }

  @Test(arguments: ["", "42e01", "42e01f0", "42e01g", "+2e01f", "42e000", "000000", "640f1f", "42e0ff", "42e10c"])
  func refusesWhatItDoesNotKnow(_ text: String) {
    #expect(H264Profile(profileLevelID: text) == nil)
  }

  @Test func everyProfileAndLevelIsWrittenSoThatItIsReadBack() {
    for profile in H264Profile.Profile.allCases {
      for level in H264Profile.Level.allCases {
        let value = H264Profile(profile, level)
        #expect(H264Profile(profileLevelID: value.profileLevelID) == value)
      }
    }
  }

  @Test func level1bLiesBetween1And1_1() {
    #expect(H264Profile.Level.level1 < .level1b && H264Profile.Level.level1b < .level11)
    let sorted = H264Profile.Level.allCases.sorted()
    #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.maximumMacroblockRate <= $1.maximumMacroblockRate })
    #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.maximumFrameSize <= $1.maximumFrameSize })
  }

  @Test func formatsMatchByProfileAndPacketizationMode() {
    func parameters(_ profile: String?, mode: String? = nil) -> FormatParameters {
      var result = FormatParameters("")
      result["profile-level-id"] = profile
      result["packetization-mode"] = mode
      return result
    }
    #expect(H264Profile.isCompatible(parameters("42e01f", mode: "1"), parameters("42c00a", mode: "1")))
    #expect(H264Profile.isCompatible(parameters("42e01f"), parameters("42e01f", mode: "0")))
    #expect(!H264Profile.isCompatible(parameters("42e01f", mode: "1"), parameters("42e01f")))
    #expect(!H264Profile.isCompatible(parameters("42e01f"), parameters("42001f")))
    #expect(H264Profile.isCompatible(nil, parameters("42e01f")))
    #expect(!H264Profile.isCompatible(parameters("ffffff"), parameters("ffffff")))
  }

  @Test func theAnswerHasTheLowerLevelUnlessBothAllowAsymmetry() {
    let high = FormatParameters("level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034")
    let low = FormatParameters("packetization-mode=1;profile-level-id=42e01f")
    var lowAsymmetric = low
    lowAsymmetric["level-asymmetry-allowed"] = "1"
    #expect(H264Profile.answer(to: high, local: low)?["profile-level-id"] == "42e01f")
    #expect(H264Profile.answer(to: low, local: high)?["profile-level-id"] == "42e01f")
    #expect(H264Profile.answer(to: lowAsymmetric, local: high)?["profile-level-id"] == "42e034")
    #expect(H264Profile.answer(to: high, local: lowAsymmetric)?["profile-level-id"] == "42e01f")
    #expect(H264Profile.answer(to: high, local: FormatParameters("packetization-mode=0;profile-level-id=42e01f")) == nil)
  }
}
