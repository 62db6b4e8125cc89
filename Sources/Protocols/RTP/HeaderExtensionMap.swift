/// Which identifier stands for which header extension in a session (`a=extmap`, RFC 8285 section 5).
public struct HeaderExtensionMap: Sendable, Equatable {
  /// For each extension, by raw value, its identifier; 0 when it has none.
  @usableFromInline var identifiers: InlineArray<9, UInt8>
  /// For each identifier that fits the one-byte form, the extension's raw value; 255 when it means none.
  @usableFromInline var lookup: InlineArray<15, UInt8>
  /// Whether an identifier is in use that only the two-byte form can carry.
  public private(set) var needsTwoByteForm = false

  /// A map without any extension.
  public init() {
    identifiers = InlineArray(repeating: 0)
    lookup = InlineArray(repeating: 255)
  }

  /// The extension that `identifier` stands for.
  @inlinable public subscript(identifier: UInt8) -> HeaderExtension? {
    if identifier < 15 { return HeaderExtension(rawValue: lookup[Int(identifier)]) }
    for index in identifiers.indices where identifiers[index] == identifier { return HeaderExtension(rawValue: UInt8(index)) }
    return nil
  }

  /// The identifier of an extension; nil when it is not in use.
  @inlinable public func identifier(for extension: HeaderExtension) -> UInt8? {
    let identifier = identifiers[Int(`extension`.rawValue)]
    return identifier == 0 ? nil : identifier
  }

  /// Gives `extension` an identifier of 1…255, or none with nil. Identifiers above 14 make the sender use the two-byte form. Another
  /// extension that had the identifier loses it. Identifiers 0 and 15 mean padding and stop in the one-byte form: 0 is refused with
  /// `false`; 15 is carried in the two-byte form.
  @discardableResult
  public mutating func set(_ extension: HeaderExtension, identifier: UInt8?) -> Bool {
    if identifier == 0 { return false }
    for index in identifiers.indices where identifiers[index] == identifier { identifiers[index] = 0 }
    identifiers[Int(`extension`.rawValue)] = identifier ?? 0
    lookup = InlineArray(repeating: 255)
    needsTwoByteForm = false
    for index in identifiers.indices where identifiers[index] != 0 {
      if identifiers[index] < 15 { lookup[Int(identifiers[index])] = UInt8(index) } else { needsTwoByteForm = true }
    }
    return true
  }

  public static func == (a: Self, b: Self) -> Bool { a.identifiers.indices.allSatisfy { a.identifiers[$0] == b.identifiers[$0] } }
}
