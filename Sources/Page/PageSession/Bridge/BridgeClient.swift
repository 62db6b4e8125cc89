import Base
import BridgeMessages
import Bytes
import Net

/// One connection to the bridge's socket: the page host, or the extension in a web process with its documents.
final class BridgeClient {
  /// What the first message made of it.
  enum Role { case unknown, host, documents }

  let stream: UnixStream
  var role = Role.unknown
  var documents: [UInt32: Document] = [:]
  /// Documents whose origin is not admitted: what they say is counted, not heard.
  var refused: Set<UInt32> = []
  private unowned let bridge: PageBridge
  private var reader = BridgeFrameReader()
  private var isBacklogged = false
  private(set) var isCongested = false
  private(set) var isClosed = false

  /// Waiting bytes that nobody will ever read.
  static let limit = 64 << 20
  /// How long the other sockets wait for one turn of a client.
  private static let turn = Interval.milliseconds(2)

  init(_ stream: UnixStream, bridge: PageBridge) {
    (self.stream, self.bridge) = (stream, bridge)
    stream.lowWater = bridge.configuration.congestion / 4
    stream.handlers = UnixStream.Handlers(
      received: { [unowned self] in receive($0) },
      drained: { [unowned self] in setCongested(false) },
      closed: { [unowned self] _ in self.bridge.disconnect(self, reason: nil) })
  }

  func close() {
    isClosed = true
    stream.close()
  }

  // MARK: In

  private func receive(_ bytes: RawSpan) {
    reader.receive(bytes)
    if !isBacklogged { takeFrames() }
  }

  /// Handles the frames that are there, for a while; then the other sockets have their turn, and this client waits for the rest.
  private func takeFrames() {
    let end = MonotonicClock.now() + BridgeClient.turn
    do throws(BridgeFrame.Malformed) {
      while !isClosed {
        guard let frame = try reader.next() else {
          if isBacklogged { stream.setReading(true) }
          isBacklogged = false
          return
        }
        bridge.take(frame, from: self)
        guard MonotonicClock.now() >= end, !isClosed else { continue }
        if !isBacklogged { stream.setReading(false) }
        isBacklogged = true
        bridge.network.loop.schedule(at: .zero) { [weak self] in self?.takeFrames() }
        return
      }
    } catch {
      bridge.disconnect(self, reason: "its frames are malformed: \(error)")
    }
  }

  // MARK: Out

  func send(_ message: some ControlMessage, to document: UInt32 = 0) {
    send(control: MessageCoding.encode(Typed(message)), to: document)
  }

  func send(control text: [UInt8], to document: UInt32) { send(.control, to: document, target: 0, text.span.bytes) }

  func send(_ kind: BridgeFrame.Kind, to document: UInt32, target: UInt32, _ payload: RawSpan) {
    guard !isClosed else { return }
    guard payload.byteCount <= BridgeFrame.maximumPayload, stream.bufferedByteCount + payload.byteCount <= BridgeClient.limit else {
      return bridge.disconnect(self, reason: "it does not read")
    }
    let header = BridgeFrame.header(kind: kind, document: document, target: target, payloadLength: payload.byteCount)
    stream.send(header.span.bytes, payload)
    if stream.bufferedByteCount > bridge.configuration.congestion { setCongested(true) }
  }

  private func setCongested(_ value: Bool) {
    guard value != isCongested else { return }
    isCongested = value
    for document in documents.values { document.setHoldsMessages(value) }
  }
}
