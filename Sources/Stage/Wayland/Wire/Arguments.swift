extension Wayland {
  /// A request's arguments, read one after the other.
  struct Arguments {
    let client: Client
    private let object: UInt32
    private let body: [UInt8]
    private var offset = 0

    init(_ message: Message, client: Client) { (object, body, self.client) = (message.object, message.body, client) }

    /// Whether all has been read.
    var isAtEnd: Bool { offset == body.count }

    /// An unsigned number.
    mutating func uint() throws(ProtocolFailure) -> UInt32 {
      guard body.count - offset >= 4 else { throw ProtocolFailure(.invalidMethod, object: object, "a request ends in mid-argument") }
      defer { offset += 4 }
      return Wayland.word(body, at: offset)
    }

    /// A signed number.
    mutating func int() throws(ProtocolFailure) -> Int { Int(Int32(bitPattern: try uint())) }

    /// A signed number with 8 bits after the point.
    mutating func fixed() throws(ProtocolFailure) -> Double { Double(Int32(bitPattern: try uint())) / 256 }

    /// The bits of an IEEE 754 number of 32 bits, which may be anything, NaN included.
    mutating func float() throws(ProtocolFailure) -> Double { Double(Float(bitPattern: try uint())) }

    /// Bytes with their length before and padding after them.
    private mutating func bytes() throws(ProtocolFailure) -> ArraySlice<UInt8> {
      let length = Int(try uint())
      guard (length + 3) & ~3 <= body.count - offset else {
        throw ProtocolFailure(.invalidMethod, object: object, "an argument of \(length) bytes is longer than its message")
      }
      defer { offset += (length + 3) & ~3 }
      return body[offset..<(offset + length)]
    }

    /// A text; nil where the client sent none.
    mutating func optionalString() throws(ProtocolFailure) -> String? {
      let text = try bytes()
      guard let last = text.last else { return nil }
      guard last == 0, !text.dropLast().contains(0), let string = String(validating: text.dropLast(), as: UTF8.self) else {
        throw ProtocolFailure(.invalidMethod, object: object, "a text is not UTF-8 that ends in its only zero byte")
      }
      return string
    }

    /// A text.
    mutating func string() throws(ProtocolFailure) -> String {
      guard let string = try optionalString() else { throw ProtocolFailure(.invalidMethod, object: object, "a text is missing") }
      return string
    }

    /// The descriptor that came with the request.
    mutating func descriptor() throws(ProtocolFailure) -> Descriptor {
      guard let descriptor = client.incoming.takeDescriptor() else {
        throw ProtocolFailure(.invalidMethod, object: object, "a request came without its file descriptor")
      }
      return descriptor
    }

    /// The number of an object that the client has the server make.
    mutating func newID() throws(ProtocolFailure) -> UInt32 { try uint() }

    /// An object of one kind; nil where the client sent none.
    mutating func optionalObject<Kind: Resource>(_ kind: Kind.Type) throws(ProtocolFailure) -> Kind? {
      let id = try uint()
      guard id != 0 else { return nil }
      guard let resource = client.resources[id] else {
        throw ProtocolFailure(.invalidObject, object: object, "there is no object \(id)")
      }
      guard let typed = resource as? Kind else {
        throw ProtocolFailure(.invalidMethod, object: object, "object \(id) is a \(resource.interface), which does not belong here")
      }
      return typed
    }

    /// An object of one kind.
    mutating func object<Kind: Resource>(_ kind: Kind.Type) throws(ProtocolFailure) -> Kind {
      guard let resource = try optionalObject(kind) else {
        throw ProtocolFailure(.invalidMethod, object: object, "an object is missing")
      }
      return resource
    }
  }
}
