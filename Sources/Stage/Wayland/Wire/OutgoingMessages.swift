extension Wayland {
  /// One argument of an event.
  enum Argument {
    case uint(UInt32)
    case int(Int)
    /// Written with 8 bits after the point.
    case fixed(Double)
    case string(String)
    case optionalString(String?)
    /// An object that the client knows, or none.
    case object(Resource?)
    /// The number of an object that the event makes.
    case newID(UInt32)
    case array([UInt8])
    case descriptor(Descriptor)
  }

  /// Events that wait for the client's socket to take them, with their descriptors.
  struct OutgoingMessages {
    /// Descriptors that the kernel takes with one call; the reference client library reads no more at a time.
    static let descriptorsAtOnce = 28

    /// The bytes that wait.
    private(set) var bytes: [UInt8] = []
    /// The descriptors that wait, each with where in `bytes` the message ends that it belongs to.
    private var descriptors: [(end: Int, descriptor: Descriptor)] = []

    var isEmpty: Bool { bytes.isEmpty }

    /// Adds an event.
    mutating func append(object: UInt32, opcode: UInt16, _ arguments: [Argument]) {
      let start = bytes.count
      append(object)
      append(0)
      var carried: [Descriptor] = []
      for argument in arguments {
        switch argument {
        case .uint(let value), .newID(let value): append(value)
        case .int(let value): append(UInt32(bitPattern: Int32(clamping: value)))
        case .fixed(let value): append(UInt32(bitPattern: Wayland.fixed(value)))
        case .object(let resource): append(resource.map { $0.isDestroyed ? 0 : $0.id } ?? 0)
        case .string(let text): append(Array(text.utf8) + [0])
        case .optionalString(let text): append(text.map { Array($0.utf8) + [0] } ?? [])
        case .array(let value): append(value)
        case .descriptor(let descriptor): carried.append(descriptor)
        }
      }
      let size = bytes.count - start
      // Requests are at most a page long and events repeat no more than one request's text.
      precondition(size < 1 << 16, "an event fits its length field")
      write(UInt32(size) << 16 | UInt32(opcode), at: start + 4)
      for descriptor in carried { descriptors.append((bytes.count, descriptor)) }
    }

    /// What one call may send: bytes from the front, and the descriptors that go with them.
    ///
    /// A descriptor may arrive earlier than its message, never later.
    func chunk() -> (byteCount: Int, descriptors: [Descriptor]) {
      guard descriptors.count > OutgoingMessages.descriptorsAtOnce else { return (bytes.count, descriptors.map(\.descriptor)) }
      let first = descriptors.prefix(OutgoingMessages.descriptorsAtOnce)
      // The message after the last one that has its descriptors with it must wait. One byte less than its end does.
      return (descriptors[OutgoingMessages.descriptorsAtOnce].end - 1, first.map(\.descriptor))
    }

    /// Forgets what was sent.
    mutating func remove(byteCount: Int, descriptorCount: Int) {
      bytes.removeFirst(byteCount)
      descriptors.removeFirst(descriptorCount)
      for index in descriptors.indices { descriptors[index].end -= byteCount }
    }

    private mutating func append(_ value: UInt32) {
      for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    private mutating func append(_ value: [UInt8]) {
      append(UInt32(value.count))
      bytes.append(contentsOf: value)
      for _ in 0..<(-value.count & 3) { bytes.append(0) }
    }

    private mutating func write(_ value: UInt32, at index: Int) {
      for byte in 0..<4 { bytes[index + byte] = UInt8(truncatingIfNeeded: value >> UInt32(byte * 8)) }
    }
  }

  /// `value` with 8 bits after the point; what does not fit becomes the nearest that does.
  static func fixed(_ value: Double) -> Int32 {
    guard !value.isNaN else { return 0 }
    return Int32(max(Double(Int32.min), min(Double(Int32.max), (value * 256).rounded())))
  }

  /// Words as an array argument holds them.
  static func array(_ words: [UInt32]) -> [UInt8] {
    words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) } }
  }
}
