import Base
import Bytes
import WebRTC

/// Sends messages of many sizes over a data channel and holds what comes back against them, on the network thread.
final class EchoTest {
  /// Sizes in bytes of the messages, text and binary in turn.
  static let sizes = [0, 1, 2, 100, 1_200, 1_201, 16_384, 65_535, 65_536, 200_000]

  private var expected: [(bytes: [UInt8], isText: Bool)] = []
  private(set) var sent = 0
  private(set) var echoed = 0
  private(set) var wrong = 0

  /// The messages, a function of their number alone; text is plain ASCII.
  static func message(_ index: Int) -> (bytes: [UInt8], isText: Bool) {
    let isText = index % 2 == 1
    let bytes = (0..<sizes[index]).map { UInt8(truncatingIfNeeded: isText ? 97 + ($0 &+ index) % 26 : $0 &* 31 &+ index) }
    return (bytes, isText)
  }

  func start(_ channel: DataChannelIdentifier, _ connection: inout PeerConnection, now: Instant) {
    for index in EchoTest.sizes.indices {
      let message = EchoTest.message(index)
      do throws(PeerConnectionError) {
        try connection.send(message.bytes.span.bytes, isText: message.isText, on: channel, now: now)
        expected.append(message)
        sent += 1
      } catch {
        Log.error("a message of \(message.bytes.count) bytes cannot be sent: \(error)")
      }
    }
  }

  func receive(_ bytes: [UInt8], isText: Bool) {
    // Not every peer echoes every size, so what comes back need not be the next one.
    if let index = expected.firstIndex(where: { $0.bytes == bytes && $0.isText == isText }) {
      expected.remove(at: index)
      echoed += 1
    } else {
      wrong += 1
    }
  }
}
