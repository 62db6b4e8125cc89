import Base
import Bytes
import RTP

@testable import JitterBuffer

/// Cuts frames into RTP packets, as a sender does.
struct PacketSource {
  struct Packet {
    var bytes: [UInt8]
    var sequence: UInt16
    var isLast: Bool
  }

  private var packetizer: Packetizer
  private(set) var sequence: UInt16
  var setsMarker = true

  init(format: RTP.PayloadFormat, sequence: UInt16 = 100) {
    packetizer = Packetizer(format: format)
    self.sequence = sequence
  }

  mutating func packets(of frame: [UInt8], timestamp: UInt32, maximumPayloadCount: Int = 1_100) -> [Packet] {
    var result: [Packet] = []
    packetizer.begin(frame.span.bytes, maximumPayloadCount: maximumPayloadCount)
    var payload = [UInt8](repeating: 0, count: maximumPayloadCount)
    while true {
      var span = payload.mutableSpan
      var target = span.mutableBytes
      guard let (count, isLast) = packetizer.next(frame.span.bytes, into: &target) else { return result }
      result.append(packet(payload: Array(payload[..<count]), timestamp: timestamp, isMarked: isLast && setsMarker))
    }
  }

  mutating func packet(payload: [UInt8], timestamp: UInt32, isMarked: Bool) -> Packet {
    defer { sequence &+= 1 }
    let header: [UInt8] = [
      0x80, (isMarked ? 0x80 : 0) | 96, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence), UInt8(timestamp >> 24),
      UInt8(truncatingIfNeeded: timestamp >> 16), UInt8(truncatingIfNeeded: timestamp >> 8), UInt8(truncatingIfNeeded: timestamp), 0, 0, 0,
      1,
    ]
    return Packet(bytes: header + payload, sequence: sequence, isLast: isMarked)
  }
}

extension VideoJitterBuffer {
  mutating func insert(_ packet: PacketSource.Packet, at milliseconds: Int) {
    let span = packet.bytes.span.bytes
    guard let header = try? RTP.Header(parsing: span) else { return }
    insert(span, header: header, arrival: instant(milliseconds))
  }
}

func instant(_ milliseconds: Int) -> Instant { .zero + .milliseconds(Int64(milliseconds)) }

/// A VP8 frame that only a jitter buffer takes for one: a frame tag, its name, and filling.
func vp8(_ name: UInt8, isKeyFrame: Bool = false, count: Int = 40) -> [UInt8] {
  let tag: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xB4, 0x00] : [0x11, 0, 0]
  return tag + [name] + [UInt8](repeating: 7, count: max(0, count - tag.count - 1))
}
