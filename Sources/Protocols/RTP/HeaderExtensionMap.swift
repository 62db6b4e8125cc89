/// Which identifier stands for which header extension in a session (`a=extmap`, RFC 8285 section 5).
public struct HeaderExtensionMap: Sendable, Equatable {
  // Both tables are integers, not arrays: every packet looks things up in them, and integers stay in registers.

  /// Eight bits for each extension, by raw value: its identifier, or 0.
  @usableFromInline var identifiers: UInt128 = 0
  /// Four bits for each identifier that fits the one-byte form: the extension's raw value and one, or 0.
  @usableFromInline var extensions: UInt64 = 0
  /// Whether an identifier is in use that only the two-byte form can carry.
  public private(set) var needsTwoByteForm = false

  /// A map without any extension.
  public init() {}

  /// The extension that `identifier` stands for.
  @inlinable @inline(__always) public subscript(identifier: UInt8) -> HeaderExtension? {
    if identifier < 15 {
      let entry = UInt8(truncatingIfNeeded: extensions >> (UInt64(identifier) * 4)) & 15
      return HeaderExtension(rawValue: entry &- 1)
    }
    return search(identifier)
  }

  @usableFromInline func search(_ identifier: UInt8) -> HeaderExtension? {
    HeaderExtension.allCases.first { self.identifier(for: $0) == identifier }
  }

  /// The identifier of an extension; nil when it is not in use.
  @inlinable @inline(__always) public func identifier(for extension: HeaderExtension) -> UInt8? {
    let identifier = UInt8(truncatingIfNeeded: identifiers >> (UInt128(`extension`.rawValue) * 8))
    return identifier == 0 ? nil : identifier
  }

  /// Gives `extension` an identifier of 1…255, or none with nil. Another extension that had the identifier loses it. Identifiers above 14
  /// make the sender use the two-byte form. 0 means padding and is refused with `false`.
  @discardableResult
  public mutating func set(_ extension: HeaderExtension, identifier: UInt8?) -> Bool {
    if identifier == 0 { return false }
    let old = self
    self = HeaderExtensionMap()
    for kind in HeaderExtension.allCases {
      let value = kind == `extension` ? identifier : old.identifier(for: kind)
      guard let value, kind == `extension` || value != identifier else { continue }
      identifiers |= UInt128(value) << (UInt128(kind.rawValue) * 8)
      if value < 15 { extensions |= UInt64(kind.rawValue + 1) << (UInt64(value) * 4) } else { needsTwoByteForm = true }
    }
    return true
  }
}
