import Base
import Bytes
import RTP

/// DTMF tones among the sound that is sent.
extension MediaStreams {
  /// The place of the sender that tones could be sent with now.
  private func toneSender(_ identifier: TransceiverIdentifier) -> Int? {
    sending.firstIndex { $0.identifier == identifier && $0.isActive && $0.tonePayloadType != nil }
  }

  func canSendTones(of identifier: TransceiverIdentifier) -> Bool { toneSender(identifier) != nil }

  mutating func insertTones(_ tones: String, duration: Interval, gap: Interval, of identifier: TransceiverIdentifier, now: Instant) {
    guard let index = toneSender(identifier) else { return }
    sending[index].tones.insert(tones, duration: duration, gap: gap, now: now)
    sendTones(index, now: now)
  }

  /// Queues the packets of tones that are due.
  mutating func sendTones(_ index: Int, now: Instant) {
    guard let due = sending[index].tones.deadline, due <= now else { return }
    guard sending[index].isActive, let payloadType = sending[index].tonePayloadType else { return sending[index].tones.stop() }
    let clockRate = sending[index].codec.capability.clockRate
    sending[index].tones.handleTimeout(clockRate: clockRate, now: now)
    while let output = sending[index].tones.pollOutput() {
      switch output {
      case .tone(let tone, let rest): events.append(.tone(sending[index].identifier, tone, rest: rest))
      case .packet(let event, let start, let offset, let isMarked):
        let last = sending[index].lastSound ?? (sending[index].timestampOffset, .zero)
        let ticks = Int64(((start - last.captured).seconds * Double(clockRate)).rounded())
        var frame = SendStream.Frame(
          format: .telephoneEvent, payloadType: payloadType,
          timestamp: last.timestamp &+ UInt32(truncatingIfNeeded: ticks) &+ offset)
        // The instant that the time stamp stands for, whichever segment it is.
        frame.captured = start + .nanoseconds(Int64(offset) * 1_000_000_000 / Int64(clockRate))
        frame.isMarked = isMarked
        let bytes: [UInt8] = [
          event.event, (event.isEnd ? 0x80 : 0) | event.volume, UInt8(event.duration >> 8), UInt8(event.duration & 0xFF),
        ]
        if !sending[index].stream.enqueue(frame: bytes.span.bytes, frame, now: now) { counters.count("rtp.queueFull") }
      }
    }
  }
}
