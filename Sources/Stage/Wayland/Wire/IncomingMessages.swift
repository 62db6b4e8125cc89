extension Wayland {
  /// One message as it came: which object, which of its requests, and the arguments in wire format.
  struct Message: Equatable {
    var object: UInt32
    var opcode: UInt16
    var body: [UInt8]
  }

  /// What came in from a client: bytes, cut into messages wherever the socket cut them, and descriptors in order.
  struct IncomingMessages {
    private var bytes: [UInt8] = []
    private var start = 0
    /// Descriptors that no request has taken yet, oldest first.
    private(set) var descriptors: [Descriptor] = []

    /// Adds what was read from the socket.
    mutating func append(_ new: some Sequence<UInt8>, descriptors newDescriptors: [Descriptor] = []) throws(ProtocolFailure) {
      if start > 0 {
        bytes.removeFirst(start)
        start = 0
      }
      bytes.append(contentsOf: new)
      descriptors.append(contentsOf: newDescriptors)
      guard descriptors.count <= Limits.waitingDescriptors else {
        throw ProtocolFailure(.implementation, "\(descriptors.count) descriptors came that no request asked for")
      }
    }

    /// The oldest descriptor, for the request that it came with.
    mutating func takeDescriptor() -> Descriptor? { descriptors.isEmpty ? nil : descriptors.removeFirst() }

    /// The next whole message; nil until its last byte is there.
    mutating func next() throws(ProtocolFailure) -> Message? {
      let available = bytes.count - start
      guard available >= 8 else { return nil }
      let object = word(0)
      let second = word(4)
      let (size, opcode) = (Int(second >> 16), UInt16(truncatingIfNeeded: second))
      guard size >= 8, size % 4 == 0, size <= Limits.messageSize else {
        throw ProtocolFailure(.invalidMethod, "a message to object \(object) is said to be \(size) bytes long")
      }
      guard available >= size else { return nil }
      let body = Array(bytes[(start + 8)..<(start + size)])
      start += size
      return Message(object: object, opcode: opcode, body: body)
    }

    private func word(_ offset: Int) -> UInt32 { Wayland.word(bytes, at: start + offset) }
  }

  /// The word in the machine's byte order, as the protocol has it, at `offset`, which must lie inside.
  static func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16 | UInt32(bytes[offset + 3]) << 24
  }
}
