import Bytes

/// One frame on `bridge.sock`, as BRIDGE.md lays it out.
public struct BridgeFrame: Sendable, Equatable {
  /// What the payload is.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// A JSON object with a `type`.
    case control = 0
    /// A data channel's message, UTF-8.
    case dataChannelText = 1
    /// A data channel's message, bytes.
    case dataChannelBinary = 2
    /// 480 samples of sound: 16 bits, little-endian, mono, 48 kHz.
    case audio = 3
    /// A picture: width and height (UInt32 each), then RGBA bytes.
    case video = 4
    /// A JSON object with a `type`, whose sender waits.
    case call = 5
    /// What a call is answered with.
    case callAnswer = 6
  }

  /// Why a stream of bytes is not a stream of frames. Its sender is cut off.
  public enum Malformed: Error, Sendable, Equatable {
    /// The length field is above ``BridgeFrame/maximumLength`` or below what the fixed fields take.
    case length(Int)
    /// No such kind.
    case kind(UInt8)
  }

  /// Bytes before the payload: length, kind, document, target.
  public static let headerLength = 13
  /// The largest value of the length field: 64 MiB.
  public static let maximumLength = 64 << 20
  /// The largest payload, in bytes.
  public static let maximumPayload = maximumLength - (headerLength - 4)

  /// What the payload is.
  public var kind: Kind
  /// Which document it comes from or goes to; 0 is the sender itself.
  public var document: UInt32
  /// Which data channel, tap or track it belongs to; 0 for none.
  public var target: UInt32
  /// At most ``maximumPayload`` bytes.
  public var payload: [UInt8]

  /// A frame of `document`.
  public init(kind: Kind, document: UInt32, target: UInt32 = 0, payload: [UInt8]) {
    self.kind = kind
    self.document = document
    self.target = target
    self.payload = payload
  }

  /// A control message: `text` is a JSON object.
  public init(control text: String, document: UInt32 = 0) {
    self.init(kind: .control, document: document, payload: Array(text.utf8))
  }

  /// Adds the frame's bytes to `stream`.
  public func append(to stream: inout [UInt8]) {
    precondition(payload.count <= Self.maximumPayload, "a frame's payload is at most \(Self.maximumPayload) bytes")
    stream.reserveCapacity(stream.count + Self.headerLength + payload.count)
    stream.append(contentsOf: Self.header(kind: kind, document: document, target: target, payloadLength: payload.count))
    stream.append(contentsOf: payload)
  }

  /// The 13 bytes that stand before a payload of `payloadLength` bytes, for a sender that writes the payload from where it lies.
  public static func header(kind: Kind, document: UInt32, target: UInt32, payloadLength: Int) -> [UInt8] {
    var bytes = [UInt8]()
    bytes.reserveCapacity(headerLength)
    append(UInt32(payloadLength + headerLength - 4), to: &bytes)
    bytes.append(kind.rawValue)
    append(document, to: &bytes)
    append(target, to: &bytes)
    return bytes
  }

  private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
    for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}

/// Cuts a stream of bytes into frames. After an error it gives nothing more: the stream has no way back into step.
public struct BridgeFrameReader: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0
  private var failure: BridgeFrame.Malformed?

  /// A reader at the beginning of a stream.
  public init() {}

  /// How many bytes wait for the rest of their frame, or to be taken.
  public var bufferedCount: Int { bytes.count - start }

  /// Takes what came off the socket, in pieces of any size.
  public mutating func receive(_ piece: RawSpan) {
    if failure != nil { return }
    if start > 0, start * 2 >= bytes.count {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(bytes: piece)
  }

  /// Takes the next whole frame; nil while it is incomplete.
  public mutating func next() throws(BridgeFrame.Malformed) -> BridgeFrame? {
    if let failure { throw failure }
    guard bufferedCount >= 5 else { return nil }
    let length = Int(uint32(at: start))
    guard length >= BridgeFrame.headerLength - 4, length <= BridgeFrame.maximumLength else { throw fail(.length(length)) }
    guard let kind = BridgeFrame.Kind(rawValue: bytes[start + 4]) else { throw fail(.kind(bytes[start + 4])) }
    let end = start + 4 + length
    guard bytes.count >= end else { return nil }
    let frame = BridgeFrame(
      kind: kind, document: uint32(at: start + 5), target: uint32(at: start + 9),
      payload: Array(bytes[start + BridgeFrame.headerLength..<end]))
    start = end
    if start == bytes.count {
      // The storage of ordinary traffic is kept, that of a rare large picture is not.
      bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
      start = 0
    }
    return frame
  }

  private mutating func fail(_ reason: BridgeFrame.Malformed) -> BridgeFrame.Malformed {
    failure = reason
    bytes = []
    start = 0
    return reason
  }

  private func uint32(at offset: Int) -> UInt32 {
    bytes.withUnsafeBytes { UInt32(bigEndian: unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
  }
}
