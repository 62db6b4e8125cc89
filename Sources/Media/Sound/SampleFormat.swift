import CSampleRate

/// How a device stores a sample, all little-endian.
public enum SampleFormat: String, Sendable, Equatable, CaseIterable {
  /// 16 bits.
  case int16
  /// 24 bits in three bytes.
  case int24Packed
  /// 24 bits in the lower three of four bytes.
  case int24
  /// 32 bits.
  case int32
  /// IEEE 754 single precision, full scale at 1.
  case float

  /// Bytes of a sample.
  public var size: Int {
    switch self {
    case .int16: 2
    case .int24Packed: 3
    case .int24, .int32, .float: 4
    }
  }

  /// Reads `frameCount` frames of `from` channels as frames of `to` channels (1 or 2), full scale at 1. Stereo is averaged to mono, mono
  /// doubled to stereo; of more than two channels the first two count.
  func load(_ source: UnsafeRawPointer, channels from: Int, into target: UnsafeMutablePointer<Float>, channels to: Int, frameCount: Int) {
    switch self {
    case .int16 where from == to:
      unsafe src_short_to_float_array(source.assumingMemoryBound(to: Int16.self), target, Int32(frameCount * to))
    case .int16: unsafe SampleFormat.load(source, Packed16.self, from, target, to, frameCount)
    case .int24Packed: unsafe SampleFormat.load(source, Packed24.self, from, target, to, frameCount)
    case .int24: unsafe SampleFormat.load(source, Padded24.self, from, target, to, frameCount)
    case .int32: unsafe SampleFormat.load(source, Packed32.self, from, target, to, frameCount)
    case .float: unsafe SampleFormat.load(source, Single.self, from, target, to, frameCount)
    }
  }

  /// Writes `frameCount` frames of `from` channels (1 or 2) as frames of `to` channels, cut at full scale. Channels after the second stay
  /// silent.
  func store(_ source: UnsafePointer<Float>, channels from: Int, into target: UnsafeMutableRawPointer, channels to: Int, frameCount: Int) {
    switch self {
    case .int16 where from == to:
      unsafe src_float_to_short_array(source, target.assumingMemoryBound(to: Int16.self), Int32(frameCount * to))
    case .int16: unsafe SampleFormat.store(source, from, target, Packed16.self, to, frameCount)
    case .int24Packed: unsafe SampleFormat.store(source, from, target, Packed24.self, to, frameCount)
    case .int24: unsafe SampleFormat.store(source, from, target, Padded24.self, to, frameCount)
    case .int32: unsafe SampleFormat.store(source, from, target, Packed32.self, to, frameCount)
    case .float: unsafe SampleFormat.store(source, from, target, Single.self, to, frameCount)
    }
  }

  @inline(__always)
  private static func load<Stored: StoredSample>(
    _ source: UnsafeRawPointer, _: Stored.Type, _ from: Int, _ target: UnsafeMutablePointer<Float>, _ to: Int, _ frameCount: Int
  ) {
    let second = from > 1 ? Stored.size : 0
    let stride = from * Stored.size
    if to == 2 {
      for frame in 0..<frameCount {
        let place = unsafe source + frame * stride
        unsafe target[2 * frame] = Stored.load(place)
        unsafe target[2 * frame + 1] = Stored.load(place + second)
      }
    } else if from == 1 {
      for frame in 0..<frameCount { unsafe target[frame] = Stored.load(source + frame * stride) }
    } else {
      for frame in 0..<frameCount {
        let place = unsafe source + frame * stride
        unsafe target[frame] = (Stored.load(place) + Stored.load(place + second)) * 0.5
      }
    }
  }

  @inline(__always)
  private static func store<Stored: StoredSample>(
    _ source: UnsafePointer<Float>, _ from: Int, _ target: UnsafeMutableRawPointer, _: Stored.Type, _ to: Int, _ frameCount: Int
  ) {
    let second = from > 1 ? 1 : 0
    let stride = to * Stored.size
    for frame in 0..<frameCount {
      let place = unsafe target + frame * stride
      let left = unsafe source[from * frame]
      let right = unsafe source[from * frame + second]
      if to == 1 {
        unsafe Stored.store(from == 1 ? left : (left + right) * 0.5, place)
      } else {
        unsafe Stored.store(left, place)
        unsafe Stored.store(right, place + Stored.size)
        for channel in 2..<max(to, 2) { unsafe Stored.store(0, place + channel * Stored.size) }
      }
    }
  }
}

/// One way to store a sample. (Loops over samples are made for each.)
private protocol StoredSample {
  static var size: Int { get }
  static func load(_ place: UnsafeRawPointer) -> Float
  static func store(_ value: Float, _ place: UnsafeMutableRawPointer)
}

/// The sample as an integer of `bits` bits, cut at full scale.
@inline(__always) private func integer(_ value: Float, bits: Int) -> Int32 {
  let scale = Float(Int64(1) << (bits - 1))
  let scaled = Double((value * scale).rounded())
  return Int32(max(-Double(scale), min(Double(scale) - 1, scaled)))
}

private enum Packed16: StoredSample {
  static var size: Int { 2 }
  @inline(__always) static func load(_ place: UnsafeRawPointer) -> Float {
    Float(unsafe place.loadUnaligned(as: Int16.self)) * (1 / 32_768)
  }
  @inline(__always) static func store(_ value: Float, _ place: UnsafeMutableRawPointer) {
    unsafe place.storeBytes(of: Int16(truncatingIfNeeded: integer(value, bits: 16)), as: Int16.self)
  }
}

private enum Packed24: StoredSample {
  static var size: Int { 3 }
  @inline(__always) static func load(_ place: UnsafeRawPointer) -> Float {
    let low = UInt32(unsafe place.loadUnaligned(as: UInt16.self))
    let high = UInt32(unsafe place.load(fromByteOffset: 2, as: UInt8.self))
    return Float(Int32(bitPattern: (low | high << 16) << 8)) * (1 / 2_147_483_648)
  }
  @inline(__always) static func store(_ value: Float, _ place: UnsafeMutableRawPointer) {
    let bits = UInt32(bitPattern: integer(value, bits: 24))
    unsafe place.storeBytes(of: UInt16(truncatingIfNeeded: bits), as: UInt16.self)
    unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: bits >> 16), toByteOffset: 2, as: UInt8.self)
  }
}

private enum Padded24: StoredSample {
  static var size: Int { 4 }
  @inline(__always) static func load(_ place: UnsafeRawPointer) -> Float {
    // The upper byte is anything.
    Float(unsafe place.loadUnaligned(as: Int32.self) << 8) * (1 / 2_147_483_648)
  }
  @inline(__always) static func store(_ value: Float, _ place: UnsafeMutableRawPointer) {
    unsafe place.storeBytes(of: integer(value, bits: 24), as: Int32.self)
  }
}

private enum Packed32: StoredSample {
  static var size: Int { 4 }
  @inline(__always) static func load(_ place: UnsafeRawPointer) -> Float {
    Float(unsafe place.loadUnaligned(as: Int32.self)) * (1 / 2_147_483_648)
  }
  @inline(__always) static func store(_ value: Float, _ place: UnsafeMutableRawPointer) {
    unsafe place.storeBytes(of: integer(value, bits: 32), as: Int32.self)
  }
}

private enum Single: StoredSample {
  static var size: Int { 4 }
  @inline(__always) static func load(_ place: UnsafeRawPointer) -> Float {
    let value = unsafe place.loadUnaligned(as: Float.self)
    // A device that stores what is no number would make filters fall silent for good.
    return value.isFinite ? value : 0
  }
  @inline(__always) static func store(_ value: Float, _ place: UnsafeMutableRawPointer) {
    unsafe place.storeBytes(of: max(-1, min(1, value)), as: Float.self)
  }
}
