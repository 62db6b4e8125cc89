import Bytes

extension RTCP {
  /// Who stands behind sources (RFC 3550 section 6.5).
  public struct SourceDescription: Sendable, Equatable {
    /// One fact about a source.
    public struct Item: Sendable, Equatable {
      /// The type of the canonical name (CNAME), which ties the streams of one participant together.
      public static let canonicalName: UInt8 = 1
      /// The type of `mid` (RFC 8843 section 15.1).
      public static let mid: UInt8 = 15

      /// Item type, 1…255.
      public var type: UInt8
      /// The text, at most 255 bytes of UTF-8; more is cut when written.
      public var text: String

      /// An item with these fields.
      public init(type: UInt8, text: String) { (self.type, self.text) = (type, text) }
    }

    /// The facts about one source.
    public struct Chunk: Sendable, Equatable {
      /// The source.
      public var ssrc: UInt32
      /// Its items, in their order.
      public var items: [Item]

      /// A chunk with these fields.
      public init(ssrc: UInt32, items: [Item]) { (self.ssrc, self.items) = (ssrc, items) }

      /// The canonical name, if there is one.
      public var canonicalName: String? { items.first { $0.type == Item.canonicalName }?.text }
    }

    /// At most 31 chunks.
    public var chunks: [Chunk]

    /// A description with these chunks.
    public init(chunks: [Chunk]) { self.chunks = chunks }

    /// The description that every compound packet carries: the canonical name of one source.
    public init(ssrc: UInt32, canonicalName: String) {
      chunks = [Chunk(ssrc: ssrc, items: [Item(type: Item.canonicalName, text: canonicalName)])]
    }

    init(parsing body: RawSpan, count: UInt8) throws(OutOfBounds) {
      var reader = ByteReader(body)
      chunks = []
      for _ in 0..<count {
        var chunk = Chunk(ssrc: try reader.uint32(), items: [])
        while true {
          let type = try reader.uint8()
          if type == 0 { break }
          let length = Int(try reader.uint8())
          chunk.items.append(Item(type: type, text: String(decoding: try reader.array(length), as: UTF8.self)))
        }
        // The list ends with one to four zero bytes, up to the next word.
        while reader.offset % 4 != 0 { try reader.skip(1) }
        chunks.append(chunk)
      }
    }

    func write(to bytes: inout [UInt8]) -> Int {
      for chunk in chunks.prefix(31) {
        bytes.append(uint32: chunk.ssrc)
        let start = bytes.count
        for item in chunk.items where item.type != 0 {
          let text = Array(item.text.utf8.prefix(255))
          bytes.append(item.type)
          bytes.append(UInt8(text.count))
          bytes += text
        }
        repeat { bytes.append(0) } while (bytes.count - start) % 4 != 0
      }
      return min(chunks.count, 31)
    }
  }

  /// Sources that leave (RFC 3550 section 6.6).
  public struct Goodbye: Sendable, Equatable {
    /// At most 31 sources.
    public var ssrcs: [UInt32]
    /// Why, at most 255 bytes of UTF-8; more is cut when written.
    public var reason: String?

    /// A goodbye with these fields.
    public init(ssrcs: [UInt32], reason: String? = nil) { (self.ssrcs, self.reason) = (ssrcs, reason) }

    init(parsing body: RawSpan, count: UInt8) throws(OutOfBounds) {
      var reader = ByteReader(body)
      ssrcs = []
      for _ in 0..<count { ssrcs.append(try reader.uint32()) }
      guard !reader.isAtEnd else { return }
      let length = Int(try reader.uint8())
      reason = String(decoding: try reader.array(length), as: UTF8.self)
    }

    func write(to bytes: inout [UInt8]) -> Int {
      for ssrc in ssrcs.prefix(31) { bytes.append(uint32: ssrc) }
      if let reason {
        let text = Array(reason.utf8.prefix(255))
        bytes.append(UInt8(text.count))
        bytes += text
      }
      return min(ssrcs.count, 31)
    }
  }
}
