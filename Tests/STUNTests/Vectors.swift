import STUN

/// The sample messages of RFC 5769.
enum Vectors {
  static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)

  /// Section 2.1.
  static let request = bytes(
    """
    00010058 2112a442 b7e7a701 bc34d686 fa87dfae 80220010 5354554e 20746573 7420636c 69656e74 00240004 6e0001ff
    80290008 932ff9b1 51263b36 00060009 6576746a 3a683676 59202020 00080014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249 c1b571a2
    80280004 e57a3bcf
    """)

  /// Section 2.2.
  static let response4 = bytes(
    """
    0101003c 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220 00200008 0001a147 e112a643
    00080014 2b91f599 fd9e90c3 8c7489f9 2af9ba53 f06be7d7 80280004 c07d4c96
    """)

  /// Section 2.3.
  static let response6 = bytes(
    """
    01010048 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220 00200014 0002a147 0113a9fa a5d3f179
    bc25f4b5 bed2b9d9 00080014 a382954e 4be67bf1 1784c97c 8292c275 bfe3ed41 80280004 c8fb0b4c
    """)

  /// Section 2.4.
  static let longTermRequest = bytes(
    """
    00010060 2112a442 78ad3433 c6ad72c0 29da412e 00060012 e3839ee3 8388e383 aae38383 e382afe3 82b90000 0015001c 662f2f34
    39396b39 35346436 4f4c3334 6f4c3946 53547679 36347341 0014000b 6578616d 706c652e 6f726700 00080014 f6702465 6dd64a3e
    02b8e071 2e85c9a2 8ca89666
    """)
}

/// What `body` says about the message in `bytes`. (The macros of Swift Testing take no value that cannot escape, such as `Message`.)
func read<T>(_ bytes: [UInt8], _ body: (borrowing Message) throws -> T) throws -> T { try body(try Message(bytes.span.bytes)) }

extension LongTermCredential {
  mutating func learn(_ bytes: [UInt8]) throws -> Bool { learn(from: try Message(bytes.span.bytes)) }
}
