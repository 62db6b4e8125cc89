// Network-order fields at a known place of a span. All are bounds-checked by the standard library: an offset outside is a broken
// invariant of the caller and traps, so whoever parses the network compares counts first, or reads with `ByteReader`.

extension RawSpan {
  /// The byte at `offset`.
  @inlinable public func uint8(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// The 16-bit field at `offset`.
  @inlinable public func uint16(at offset: Int) -> UInt16 {
    unsafe UInt16(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// The 24-bit field at `offset`.
  @inlinable public func uint24(at offset: Int) -> UInt32 { UInt32(uint8(at: offset)) << 16 | UInt32(uint16(at: offset + 1)) }

  /// The 32-bit field at `offset`.
  @inlinable public func uint32(at offset: Int) -> UInt32 {
    unsafe UInt32(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The 64-bit field at `offset`.
  @inlinable public func uint64(at offset: Int) -> UInt64 {
    unsafe UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

extension MutableRawSpan {
  /// Stores a byte at `offset`.
  @inlinable @_lifetime(self: copy self)
  public mutating func store(uint8 value: UInt8, at offset: Int) { storeBytes(of: value, toByteOffset: offset, as: UInt8.self) }

  /// Stores a 16-bit field at `offset`.
  @inlinable @_lifetime(self: copy self)
  public mutating func store(uint16 value: UInt16, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
  }

  /// Stores the lower 24 bits of `value` at `offset`.
  @inlinable @_lifetime(self: copy self)
  public mutating func store(uint24 value: UInt32, at offset: Int) {
    store(uint8: UInt8(truncatingIfNeeded: value >> 16), at: offset)
    store(uint16: UInt16(truncatingIfNeeded: value), at: offset + 1)
  }

  /// Stores a 32-bit field at `offset`.
  @inlinable @_lifetime(self: copy self)
  public mutating func store(uint32 value: UInt32, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
  }

  /// Copies all of `source` to `offset`. The spans must not overlap.
  @inlinable @_lifetime(self: copy self)
  public mutating func copy(_ source: RawSpan, at offset: Int) {
    let length = source.byteCount
    precondition(offset >= 0 && length <= byteCount - offset, "a copy must fit into its target")
    unsafe withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { source in
        guard length > 0 else { return }
        unsafe (target.baseAddress! + offset).copyMemory(from: source.baseAddress!, byteCount: length)
      }
    }
  }

  /// Moves the `count` bytes at `offset` to `target`, both in this span; they may overlap.
  @inlinable @_lifetime(self: copy self)
  public mutating func move(_ count: Int, from offset: Int, to target: Int) {
    precondition(count >= 0 && offset >= 0 && target >= 0 && count <= byteCount - max(offset, target), "a move must stay inside its span")
    unsafe withUnsafeMutableBytes { bytes in
      guard count > 0 else { return }
      // copyMemory is memmove: overlap is allowed.
      unsafe (bytes.baseAddress! + target).copyMemory(from: bytes.baseAddress! + offset, byteCount: count)
    }
  }
}

extension [UInt8] {
  /// A copy of `bytes`.
  @inlinable public init(bytes: RawSpan) {
    self.init(unsafeUninitializedCapacity: bytes.byteCount) { buffer, count in
      unsafe bytes.withUnsafeBytes { source in unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source) }
      count = bytes.byteCount
    }
  }

  /// Appends a copy of `bytes`.
  @inlinable public mutating func append(bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { source in unsafe append(contentsOf: source) }
  }
}
