/// A picture as a camera's own encoder coded it: an H.264 access unit, on its way to who sends it as it is.
public struct AccessUnit: Sendable {
  /// What a stream is, as its SPS says.
  public struct Format: Sendable, Equatable {
    /// In pixels, as they are seen.
    public var width: Int
    /// In pixels, as they are seen.
    public var height: Int
    /// `profile_idc`.
    public var profile: UInt8
    /// The constraint flags, `constraint_set0_flag` in the highest bit.
    public var constraints: UInt8
    /// `level_idc`.
    public var level: UInt8

    /// A format.
    public init(width: Int, height: Int, profile: UInt8, constraints: UInt8, level: UInt8) {
      (self.width, self.height, self.profile, self.constraints, self.level) = (width, height, profile, constraints, level)
    }

    /// Six hexadecimal digits such as `42e01f`, as in SDP (RFC 6184 section 8.1).
    public var profileLevelID: String {
      [profile, constraints, level].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }

  /// Its bytes as an Annex B byte stream, SPS and PPS before each key frame.
  public var frame: EncodedVideoFrame
  /// Counts up by one from unit to unit. Where a number is left out, units are missing that the next ones may refer to: who passes units on waits for a
  /// key frame then.
  public var number: Int
  /// What the stream is; nil: more than calls have, such as B slices, so that it can be decoded but not be passed on.
  public var format: Format?

  /// A unit.
  public init(frame: EncodedVideoFrame, number: Int, format: Format?) { (self.frame, self.number, self.format) = (frame, number, format) }
}

/// Why the bytes that a camera gave are no access unit.
public enum AccessUnitFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// There is nothing behind a start code.
  case empty
  /// The headers contradict the stream, or a part is missing; the text says what was wrong.
  case damaged(String)

  public var description: String {
    switch self {
    case .empty: "nothing behind a start code; an Annex B byte stream is accepted"
    case .damaged(let what): what
    }
  }
}
