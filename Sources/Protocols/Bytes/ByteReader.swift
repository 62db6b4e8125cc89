/// The bytes ended before the field that was to be read, or the space before the field that was to be written.
public struct OutOfBounds: Error, Equatable, Sendable {
  /// Creates the error.
  @inlinable public init() {}
}

/// Reads network-order fields from a span, front to back. Every read is checked: a short span throws `OutOfBounds`.
public struct ByteReader: ~Escapable {
  /// The whole span.
  public let bytes: RawSpan
  @usableFromInline var position = 0

  /// A reader at the start of `bytes`.
  @inlinable @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) { self.bytes = bytes }

  /// Index of the next byte to be read, from the start of `bytes`.
  @inlinable public var offset: Int { position }
  /// How many bytes are not yet read.
  @inlinable public var remaining: Int { bytes.byteCount - position }
  /// Whether all bytes were read.
  @inlinable public var isAtEnd: Bool { remaining == 0 }

  /// Reads a byte.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint8() throws(OutOfBounds) -> UInt8 {
    guard remaining >= 1 else { throw OutOfBounds() }
    defer { position += 1 }
    return unsafe bytes.unsafeLoad(fromUncheckedByteOffset: position, as: UInt8.self)
  }

  /// Reads a 16-bit field.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint16() throws(OutOfBounds) -> UInt16 {
    guard remaining >= 2 else { throw OutOfBounds() }
    defer { position += 2 }
    return unsafe UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt16.self))
  }

  /// Reads a 24-bit field.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint24() throws(OutOfBounds) -> UInt32 {
    guard remaining >= 3 else { throw OutOfBounds() }
    let high = try uint8()
    return UInt32(high) << 16 | UInt32(try uint16())
  }

  /// Reads a 32-bit field.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint32() throws(OutOfBounds) -> UInt32 {
    guard remaining >= 4 else { throw OutOfBounds() }
    defer { position += 4 }
    return unsafe UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt32.self))
  }

  /// Reads a 64-bit field.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint64() throws(OutOfBounds) -> UInt64 {
    guard remaining >= 8 else { throw OutOfBounds() }
    defer { position += 8 }
    return unsafe UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self))
  }

  /// Passes over `count` bytes.
  @inlinable @_lifetime(self: copy self)
  public mutating func skip(_ count: Int) throws(OutOfBounds) {
    guard count >= 0, remaining >= count else { throw OutOfBounds() }
    position += count
  }

  /// Reads the next `count` bytes as a span of their own, without a copy.
  @inlinable @_lifetime(self: copy self) @_lifetime(copy self)
  public mutating func span(_ count: Int) throws(OutOfBounds) -> RawSpan {
    guard count >= 0, remaining >= count else { throw OutOfBounds() }
    defer { position += count }
    return unsafe bytes.extracting(unchecked: position..<position + count)
  }

  /// Reads the next `count` bytes as a copy.
  @inlinable @_lifetime(self: copy self)
  public mutating func array(_ count: Int) throws(OutOfBounds) -> [UInt8] { Array(bytes: try span(count)) }

  /// Reads all that is left, as a copy.
  @inlinable @_lifetime(self: copy self)
  public mutating func rest() -> [UInt8] {
    defer { position = bytes.byteCount }
    return Array(bytes: bytes.extracting(position..<bytes.byteCount))
  }
}
