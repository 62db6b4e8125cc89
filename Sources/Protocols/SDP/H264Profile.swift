/// What a `profile-level-id` of H.264 says (RFC 6184 section 8.1), and how an offer of it is answered (section 8.2.2).
public struct H264Profile: Sendable, Hashable, CustomStringConvertible {
  /// The profiles that real-time video uses.
  public enum Profile: Sendable, Hashable, CaseIterable {
    case constrainedBaseline, baseline, main, extended, constrainedHigh, high, high10, high422, predictiveHigh444
  }

  /// A level, which bounds frame size and rate; compares as the standard orders them, so that 1 < 1b < 1.1.
  public enum Level: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    case level1b = 9
    case level1 = 10
    case level11 = 11
    case level12 = 12
    case level13 = 13
    case level2 = 20
    case level21 = 21
    case level22 = 22
    case level3 = 30
    case level31 = 31
    case level32 = 32
    case level4 = 40
    case level41 = 41
    case level42 = 42
    case level5 = 50
    case level51 = 51
    case level52 = 52

    private var rank: Int { self == .level1b ? 2 * 10 + 1 : 2 * Int(rawValue) }
    public static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }

    /// Frame size limit in macroblocks of 16 × 16 (ITU-T H.264 table A-1, MaxFS).
    public var maximumFrameSize: Int {
      switch self {
      case .level1, .level1b: 99
      case .level11, .level12, .level13, .level2: 396
      case .level21: 792
      case .level22, .level3: 1_620
      case .level31: 3_600
      case .level32: 5_120
      case .level4, .level41: 8_192
      case .level42: 8_704
      case .level5: 22_080
      case .level51, .level52: 36_864
      }
    }

    /// Limit of macroblocks per second (MaxMBPS).
    public var maximumMacroblockRate: Int {
      switch self {
      case .level1, .level1b: 1_485
      case .level11: 3_000
      case .level12: 6_000
      case .level13, .level2: 11_880
      case .level21: 19_800
      case .level22: 20_250
      case .level3: 40_500
      case .level31: 108_000
      case .level32: 216_000
      case .level4, .level41: 245_760
      case .level42: 522_240
      case .level5: 589_824
      case .level51: 983_040
      case .level52: 2_073_600
      }
    }
  }

  public var profile: Profile
  public var level: Level

  public init(_ profile: Profile, _ level: Level) {
    self.profile = profile
    self.level = level
  }

  /// What is meant where the parameter is missing. RFC 6184 infers baseline at level 1; browsers take this, and so do we.
  public static let assumed = H264Profile(.constrainedBaseline, .level31)

  /// Reads six hexadecimal digits such as `42e01f`: profile, constraint flags, level. Nil when they are none, or a profile or level not
  /// known here.
  public init?(profileLevelID text: String) {
    guard text.utf8.count == 6, text.utf8.first != UInt8(ascii: "+"), text.utf8.first != UInt8(ascii: "-"),
      let bits = UInt32(text, radix: 16)
    else { return nil }
    let flags = UInt8(bits >> 8 & 0xFF)
    // RFC 6184 table 5; constraint_set0_flag is the highest bit.
    switch (bits >> 16, flags) {
    case (0x42, _) where flags & 0x4F == 0x40, (0x4D, _) where flags & 0x8F == 0x80, (0x58, _) where flags & 0xCF == 0xC0:
      profile = .constrainedBaseline
    case (0x42, _) where flags & 0x4F == 0, (0x58, _) where flags & 0xCF == 0x80: profile = .baseline
    case (0x4D, _) where flags & 0xAF == 0: profile = .main
    case (0x58, _) where flags & 0xCF == 0: profile = .extended
    case (0x64, 0): profile = .high
    case (0x64, 0x0C): profile = .constrainedHigh
    case (0x6E, 0): profile = .high10
    case (0x7A, 0): profile = .high422
    case (0xF4, 0): profile = .predictiveHigh444
    default: return nil
    }
    let hasLevel1bFlag = bits >> 16 <= 0x58 && flags & 0x10 != 0  // constraint_set3_flag, in the three old profiles.
    guard let level = Level(rawValue: UInt8(bits & 0xFF)) else { return nil }
    self.level = level == .level11 && hasLevel1bFlag ? .level1b : level
  }

  /// Six hexadecimal digits such as `42e01f`.
  public var profileLevelID: String {
    var (identifier, flags): (UInt32, UInt32) =
      switch profile {
      case .constrainedBaseline: (0x42, 0xE0)
      case .baseline: (0x42, 0)
      case .main: (0x4D, 0)
      case .extended: (0x58, 0)
      case .constrainedHigh: (0x64, 0x0C)
      case .high: (0x64, 0)
      case .high10: (0x6E, 0)
      case .high422: (0x7A, 0)
      case .predictiveHigh444: (0xF4, 0)
      }
    var levelNumber = UInt32(level.rawValue)
    if level == .level1b, identifier <= 0x58 {
      flags |= 0x10
      levelNumber = 11
    }
    identifier = identifier << 16 | flags << 8 | levelNumber
    let digits = String(identifier, radix: 16)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The `profileLevelID`.
  public var description: String { profileLevelID }

  // MARK: Offer and answer

  /// What the parameters of a format say; nil when their `profile-level-id` is not understood.
  public init?(_ parameters: FormatParameters?) {
    guard let text = parameters?["profile-level-id"] else {
      self = .assumed
      return
    }
    self.init(profileLevelID: text)
  }

  /// Whether two formats have the same profile, so that they can be the same codec. Levels may differ.
  public static func isSameProfile(_ a: H264Profile, _ b: H264Profile) -> Bool { a.profile == b.profile }

  /// Whether an answer may join two formats: the same profile and the same `packetization-mode`, 0 where it is missing.
  public static func isCompatible(_ a: FormatParameters?, _ b: FormatParameters?) -> Bool {
    guard let first = H264Profile(a), let second = H264Profile(b) else { return false }
    return isSameProfile(first, second) && (a?["packetization-mode"] ?? "0") == (b?["packetization-mode"] ?? "0")
  }

  /// The level to answer with: the local one where both sides allow the directions to differ, else the lower of both.
  public static func answerLevel(offered: Level, local: Level, asymmetry: Bool) -> Level { asymmetry ? local : min(offered, local) }

  /// The parameters of the answer to `offered`: the local ones at the level agreed on. Nil when the two are not compatible.
  public static func answer(to offered: FormatParameters?, local: FormatParameters?) -> FormatParameters? {
    guard isCompatible(offered, local), let theirs = H264Profile(offered), var ours = H264Profile(local) else { return nil }
    let asymmetry = offered?["level-asymmetry-allowed"] == "1" && local?["level-asymmetry-allowed"] == "1"
    ours.level = answerLevel(offered: theirs.level, local: ours.level, asymmetry: asymmetry)
    var answer = local ?? FormatParameters("")
    answer["profile-level-id"] = ours.profileLevelID
    return answer
  }
}
