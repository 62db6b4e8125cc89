/// Writes network-order fields into a span that the caller owns, front to back. A full span throws `OutOfBounds`.
public struct ByteWriter: ~Escapable, ~Copyable {
  @usableFromInline var bytes: MutableRawSpan
  @usableFromInline var position = 0

  /// A writer at the start of `bytes`.
  @inlinable @_lifetime(copy bytes)
  public init(_ bytes: consuming MutableRawSpan) { self.bytes = bytes }

  /// How many bytes were written.
  @inlinable public var count: Int { position }
  /// How many bytes still fit.
  @inlinable public var remaining: Int { bytes.byteCount - count }

  /// Writes a byte.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint8(_ value: UInt8) throws(OutOfBounds) {
    guard remaining >= 1 else { throw OutOfBounds() }
    unsafe bytes.storeBytes(of: value, toUncheckedByteOffset: position, as: UInt8.self)
    position += 1
  }

  /// Writes a 16-bit field.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint16(_ value: UInt16) throws(OutOfBounds) {
    guard remaining >= 2 else { throw OutOfBounds() }
    unsafe bytes.storeBytes(of: value.bigEndian, toUncheckedByteOffset: position, as: UInt16.self)
    position += 2
  }

  /// Writes the lower 24 bits of `value`.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint24(_ value: UInt32) throws(OutOfBounds) {
    guard remaining >= 3 else { throw OutOfBounds() }
    try uint8(UInt8(truncatingIfNeeded: value >> 16))
    try uint16(UInt16(truncatingIfNeeded: value))
  }

  /// Writes a 32-bit field.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint32(_ value: UInt32) throws(OutOfBounds) {
    guard remaining >= 4 else { throw OutOfBounds() }
    unsafe bytes.storeBytes(of: value.bigEndian, toUncheckedByteOffset: position, as: UInt32.self)
    position += 4
  }

  /// Writes a 64-bit field.
  @inlinable @_lifetime(self: copy self)
  public mutating func uint64(_ value: UInt64) throws(OutOfBounds) {
    guard remaining >= 8 else { throw OutOfBounds() }
    unsafe bytes.storeBytes(of: value.bigEndian, toUncheckedByteOffset: position, as: UInt64.self)
    position += 8
  }

  /// Writes a copy of `source`.
  @inlinable @_lifetime(self: copy self)
  public mutating func copy(_ source: RawSpan) throws(OutOfBounds) {
    guard source.byteCount <= remaining else { throw OutOfBounds() }
    bytes.copy(source, at: position)
    position += source.byteCount
  }

  /// Writes `amount` zero bytes.
  @inlinable @_lifetime(self: copy self)
  public mutating func zeros(_ amount: Int) throws(OutOfBounds) {
    guard amount >= 0, amount <= remaining else { throw OutOfBounds() }
    for _ in 0..<amount { try uint8(0) }
  }

  /// Overwrites the 16-bit field at `offset`, which was written before: for lengths known only afterwards.
  @inlinable @_lifetime(self: copy self)
  public mutating func replace(uint16 value: UInt16, at offset: Int) {
    precondition(offset >= 0 && offset + 2 <= position, "only a field already written can be replaced")
    unsafe bytes.storeBytes(of: value.bigEndian, toUncheckedByteOffset: offset, as: UInt16.self)
  }

  /// Overwrites the byte at `offset`, which was written before.
  @inlinable @_lifetime(self: copy self)
  public mutating func replace(uint8 value: UInt8, at offset: Int) {
    precondition(offset >= 0 && offset < position, "only a field already written can be replaced")
    unsafe bytes.storeBytes(of: value, toUncheckedByteOffset: offset, as: UInt8.self)
  }
}
