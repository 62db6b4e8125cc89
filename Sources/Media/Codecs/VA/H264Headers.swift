/// SPS and PPS for encoders that leave writing them to the application (ITU-T H.264 sections 7.3.2.1 and 7.3.2.2).
struct H264Headers: Sendable, Equatable {
  /// Bits of `frame_num`, and of the picture order count.
  static let frameNumberBits = 8
  static let orderBits = 8

  let profile: VideoEncoderSettings.H264Profile
  let level: Int
  let width: Int
  let height: Int

  /// Headers for pictures of an even size.
  init(_ settings: VideoEncoderSettings, width: Int, height: Int) {
    (profile, self.width, self.height) = (settings.profile, width, height)
    level =
      settings.level
      ?? H264Headers.level(width: width, height: height, framesPerSecond: settings.framesPerSecond, bitrate: settings.bitrate)
  }

  var widthInMacroblocks: Int { (width + 15) / 16 }
  var heightInMacroblocks: Int { (height + 15) / 16 }
  var isArithmetic: Bool { profile != .constrainedBaseline }

  /// The lowest level, as `level_idc`, for a size, rate and bitrate (ITU-T H.264 table A-1).
  static func level(width: Int, height: Int, framesPerSecond: Double, bitrate: Int) -> Int {
    let macroblocks = ((width + 15) / 16) * ((height + 15) / 16)
    let limits: [(level: Int, rate: Double, size: Int, kilobits: Int)] = [
      (10, 1_485, 99, 64), (11, 3_000, 396, 192), (12, 6_000, 396, 384), (13, 11_880, 396, 768), (20, 11_880, 396, 2_000),
      (21, 19_800, 792, 4_000), (22, 20_250, 1_620, 4_000), (30, 40_500, 1_620, 10_000), (31, 108_000, 3_600, 14_000),
      (32, 216_000, 5_120, 20_000), (40, 245_760, 8_192, 20_000), (42, 522_240, 8_704, 50_000), (50, 589_824, 22_080, 135_000),
      (51, 983_040, 36_864, 240_000),
    ]
    let found = limits.first {
      macroblocks <= $0.size && Double(macroblocks) * framesPerSecond <= $0.rate && bitrate <= $0.kilobits * 1_000
    }
    return found?.level ?? 52
  }

  /// The SPS as a NAL unit with its start code.
  var sequenceParameterSet: [UInt8] {
    var bits = H264BitWriter()
    switch profile {
    case .constrainedBaseline: bits.write(66 << 8 | 0xC0, count: 16)
    case .main: bits.write(77 << 8 | 0x40, count: 16)
    case .high: bits.write(100 << 8, count: 16)
    }
    bits.write(UInt32(level), count: 8)
    bits.unsigned(0)  // its number
    if profile == .high {
      bits.unsigned(1)  // 4:2:0
      bits.unsigned(0)  // eight bits
      bits.unsigned(0)
      bits.write(0, count: 2)  // no bypass, no scaling lists
    }
    bits.unsigned(UInt32(H264Headers.frameNumberBits - 4))
    bits.unsigned(0)  // the order is counted out
    bits.unsigned(UInt32(H264Headers.orderBits - 4))
    bits.unsigned(1)  // reference frames
    bits.flag(false)  // no gaps
    bits.unsigned(UInt32(widthInMacroblocks - 1))
    bits.unsigned(UInt32(heightInMacroblocks - 1))
    bits.flag(true)  // frames only
    bits.flag(true)  // direct_8x8_inference
    let (right, bottom) = ((widthInMacroblocks * 16 - width) / 2, (heightInMacroblocks * 16 - height) / 2)
    bits.flag(right + bottom > 0)
    if right + bottom > 0 { for offset in [0, right, 0, bottom] { bits.unsigned(UInt32(offset)) } }
    // VUI: nothing but that no picture waits for another (section E.1.1).
    bits.flag(true)
    bits.write(0, count: 4)  // aspect ratio, overscan, video signal, chroma location
    bits.write(0, count: 4)  // timing, two HRDs, picture structure
    bits.flag(true)  // bitstream restriction
    bits.flag(true)
    for value in [2, 1, 16, 16, 0, 1] { bits.unsigned(UInt32(value)) }
    return bits.unit(header: 0x67)
  }

  /// The PPS as a NAL unit with its start code.
  var pictureParameterSet: [UInt8] {
    var bits = H264BitWriter()
    bits.unsigned(0)  // its number
    bits.unsigned(0)  // the SPS's
    bits.flag(isArithmetic)
    bits.flag(false)  // no picture order in frames
    bits.unsigned(0)  // one slice group
    bits.unsigned(0)  // one reference in each list
    bits.unsigned(0)
    bits.write(0, count: 3)  // no weighted prediction
    bits.signed(0)  // quantizer 26
    bits.signed(0)
    bits.signed(0)
    bits.flag(true)  // the deblocking filter can be set
    bits.write(0, count: 2)  // no constrained intra prediction, no redundant pictures
    if profile == .high {
      bits.flag(true)  // 8x8 transform
      bits.flag(false)
      bits.signed(0)
    }
    return bits.unit(header: 0x68)
  }
}

/// Writes the bits of a NAL unit (ITU-T H.264 sections 7.3.1 and 9.1).
struct H264BitWriter {
  private var bytes: [UInt8] = []
  private var current: UInt8 = 0
  private var count = 0

  mutating func flag(_ value: Bool) {
    current = current << 1 | (value ? 1 : 0)
    count += 1
    guard count == 8 else { return }
    bytes.append(current)
    (current, count) = (0, 0)
  }

  mutating func write(_ value: UInt32, count: Int) { for bit in (0..<count).reversed() { flag(value >> UInt32(bit) & 1 == 1) } }

  /// An unsigned Exp-Golomb code.
  mutating func unsigned(_ value: UInt32) {
    let length = 32 - (value + 1).leadingZeroBitCount
    write(0, count: length - 1)
    write(value + 1, count: length)
  }

  /// A signed Exp-Golomb code.
  mutating func signed(_ value: Int32) { unsigned(value > 0 ? UInt32(2 * value - 1) : UInt32(-2 * value)) }

  /// The unit behind a start code, its end marked and emulation prevention bytes put in.
  func unit(header: UInt8) -> [UInt8] {
    var whole = self
    whole.flag(true)
    while whole.count != 0 { whole.flag(false) }
    var result: [UInt8] = [0, 0, 0, 1, header]
    var zeros = 0
    for byte in whole.bytes {
      if zeros == 2, byte <= 3 {
        result.append(3)
        zeros = 0
      }
      result.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return result
  }
}
