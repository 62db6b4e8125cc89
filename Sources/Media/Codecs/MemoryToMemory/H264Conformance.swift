/// Holds an encoder's H.264 to what RTP and the negotiated profile need: a byte stream with start codes, and SPS and PPS with each key frame.
struct H264Conformance {
  private let profile: VideoEncoderSettings.H264Profile
  private let level: Int?
  private var parameterSets: [UInt8] = []

  /// For a stream of these settings.
  init(_ settings: VideoEncoderSettings) { (profile, level) = (settings.profile, settings.level) }

  /// The access unit as it is to be sent. Throws when it is not what was negotiated.
  mutating func checked(_ unit: [UInt8]) throws(CodecError) -> [UInt8] {
    guard unit.starts(with: [0, 0, 1]) || unit.starts(with: [0, 0, 0, 1]) else {
      throw .unavailable("H.264 without start codes; an Annex B byte stream is needed")
    }
    var sets: [UInt8] = []
    var hasBoth = (false, false)
    for range in AnnexB.units(of: unit) {
      let type = unit[range.lowerBound] & 0x1F
      guard type == AnnexB.UnitType.sequenceParameterSet || type == AnnexB.UnitType.pictureParameterSet else { continue }
      if type == AnnexB.UnitType.sequenceParameterSet {
        guard range.count >= 4 else { throw .encodingFailed("a sequence parameter set that is cut short") }
        try check(profile: unit[range.lowerBound + 1], constraints: unit[range.lowerBound + 2], level: unit[range.lowerBound + 3])
        hasBoth.0 = true
      } else {
        hasBoth.1 = true
      }
      sets += [0, 0, 0, 1] + unit[range]
    }
    if hasBoth == (true, true) { parameterSets = sets }
    guard AnnexB.startsDecoding(unit), hasBoth != (true, true) else { return unit }
    guard !parameterSets.isEmpty else { throw .unavailable("H.264 key frames without SPS and PPS") }
    return parameterSets + unit
  }

  /// RFC 6184, section 8.1, tables 5 and 6: what a receiver of the negotiated profile can decode.
  private func check(profile stated: UInt8, constraints: UInt8, level statedLevel: UInt8) throws(CodecError) {
    let isConstrainedBaseline = stated == 66 && constraints & 0x40 != 0 || (stated == 77 || stated == 88) && constraints & 0x80 != 0
    let fits =
      switch profile {
      case .constrainedBaseline: isConstrainedBaseline
      case .main: isConstrainedBaseline || stated == 77
      case .high: isConstrainedBaseline || stated == 77 || stated == 100
      }
    // Level 1b is said by a constraint flag in the lower profiles.
    let isLevel1b = statedLevel == 11 && constraints & 0x10 != 0 && stated != 100
    guard fits, isLevel1b || Int(statedLevel) <= level ?? .max else {
      func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
      throw .unavailable(
        "H.264 with profile-level-id \(hex(stated))\(hex(constraints))\(hex(statedLevel)), where \(profile) up to level \(level.map { "\($0)" } ?? "any") was negotiated"
      )
    }
  }
}
