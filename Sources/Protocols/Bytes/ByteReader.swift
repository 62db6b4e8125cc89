/// The bytes ended before the field that was to be read, or the space before the field that was to be written.
public struct OutOfBounds: Error, Equatable, Sendable {
  /// Creates the error.
  @inlinable public init() {}
}

/// Reads network-order fields from a span, front to back. Every read is checked: a short span throws `OutOfBounds`.
public struct ByteReader: ~Escapable {
  /// The whole span.
  public let bytes: RawSpan
  /// Index of the next byte to be read, from the start of `bytes`.
  public private(set) var offset = 0

  /// A reader at the start of `bytes`.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) { self.bytes = bytes }

  /// How many bytes are not yet read.
  public var remaining: Int { bytes.byteCount - offset }
  /// Whether all bytes were read.
  public var isAtEnd: Bool { remaining == 0 }

  /// Reads a byte.
  @_lifetime(self: copy self)
  public mutating func uint8() throws(OutOfBounds) -> UInt8 {
    guard remaining >= 1 else { throw OutOfBounds() }
    defer { offset += 1 }
    return unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Reads a 16-bit field.
  @_lifetime(self: copy self)
  public mutating func uint16() throws(OutOfBounds) -> UInt16 {
    guard remaining >= 2 else { throw OutOfBounds() }
    defer { offset += 2 }
    return unsafe UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
  }

  /// Reads a 24-bit field.
  @_lifetime(self: copy self)
  public mutating func uint24() throws(OutOfBounds) -> UInt32 {
    guard remaining >= 3 else { throw OutOfBounds() }
    let high = try uint8()
    return UInt32(high) << 16 | UInt32(try uint16())
  }

  /// Reads a 32-bit field.
  @_lifetime(self: copy self)
  public mutating func uint32() throws(OutOfBounds) -> UInt32 {
    guard remaining >= 4 else { throw OutOfBounds() }
    defer { offset += 4 }
    return unsafe UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
  }

  /// Reads a 64-bit field.
  @_lifetime(self: copy self)
  public mutating func uint64() throws(OutOfBounds) -> UInt64 {
    guard remaining >= 8 else { throw OutOfBounds() }
    defer { offset += 8 }
    return unsafe UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }

  /// Passes over `count` bytes.
  @_lifetime(self: copy self)
  public mutating func skip(_ count: Int) throws(OutOfBounds) {
    guard count >= 0, remaining >= count else { throw OutOfBounds() }
    offset += count
  }

  /// Reads the next `count` bytes as a span of their own, without a copy.
  @_lifetime(self: copy self) @_lifetime(copy self)
  public mutating func span(_ count: Int) throws(OutOfBounds) -> RawSpan {
    guard count >= 0, remaining >= count else { throw OutOfBounds() }
    defer { offset += count }
    return bytes.extracting(offset..<offset + count)
  }

  /// Reads the next `count` bytes as a copy.
  @_lifetime(self: copy self)
  public mutating func array(_ count: Int) throws(OutOfBounds) -> [UInt8] { Array(bytes: try span(count)) }

  /// Reads all that is left, as a copy.
  @_lifetime(self: copy self)
  public mutating func rest() -> [UInt8] {
    defer { offset = bytes.byteCount }
    return Array(bytes: bytes.extracting(offset..<bytes.byteCount))
  }
}

extension [UInt8] {
  /// A copy of `bytes`.
  public init(bytes: RawSpan) {
    self.init(unsafeUninitializedCapacity: bytes.byteCount) { buffer, count in
      unsafe bytes.withUnsafeBytes { source in unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source) }
      count = bytes.byteCount
    }
  }
}
