import Base
import Bytes
import CReference
import JitterBuffer
import RTP

/// Video packets joined to frames.
enum JitterBufferBenchmarks {
  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    // Eight frames of eight packets, with VP8's four bytes of descriptor; in each frame two packets have changed places.
    let packets = try packets(frames: 8, packetsPerFrame: 8)
    let order = (0..<packets.count).map { $0 % 8 == 3 ? $0 + 1 : $0 % 8 == 4 ? $0 - 1 : $0 }
    let referenceOrder = order.map { Int32($0) }
    var buffer = VideoJitterBuffer(format: .vp8)
    var sequenceNumber: UInt16 = 0
    var now = Instant.zero + .seconds(1)
    let comparison = Comparison(
      name: "jitter-buffer", metric: "packets of 1,200 bytes sorted and joined", operations: "packets",
      reference: "C: ring and copies only")
    let figure = comparison.measure(runs: settings.runs ?? 21) { rounds in
      var frames = 0
      for _ in 0..<rounds {
        for index in order {
          let bytes = packets.packet(index)
          var span = bytes.mutableBytes
          span.store(uint16: sequenceNumber &+ UInt16(index), at: 2)
          span.store(uint32: UInt32(sequenceNumber / 8 &+ UInt16(index / 8)) * 3_000, at: 4)
          guard let header = try? Header(parsing: span.bytes) else { continue }
          buffer.insert(span.bytes, header: header, arrival: now)
          while let frame = buffer.poll(now: now) {
            use(frame.packetCount)
            frames += 1
          }
        }
        now += .milliseconds(33)
        sequenceNumber &+= UInt16(packets.count)
      }
      precondition(frames == rounds * 8, "every frame is whole, so every frame is released")
      return rounds * packets.count
    } reference: { rounds in
      let frames = reference_jitter_buffer(packets.reference, referenceOrder, 4, rounds)
      precondition(frames == rounds * 8, "the reference joins every frame")
      return rounds * packets.count
    }
    return [figure]
  }

  private static func packets(frames: Int, packetsPerFrame: Int) throws -> PacketSamples {
    let samples = PacketSamples(count: frames * packetsPerFrame)
    var packetizer = Packetizer(format: .vp8)
    for frame in 0..<frames {
      let payloadCount = samples.length - Header.fixedCount
      let picture = PictureSamples.vp8(isKeyFrame: frame == 0, count: packetsPerFrame * (payloadCount - 4))
      packetizer.begin(picture.span.bytes, maximumPayloadCount: payloadCount)
      for part in 0..<packetsPerFrame {
        let bytes = samples.packet(frame * packetsPerFrame + part)
        var span = bytes.mutableBytes
        let header = Header(payloadType: 96, sequenceNumber: 0, timestamp: 0, ssrc: 1, isMarked: part == packetsPerFrame - 1)
        _ = try header.write(HeaderExtensions(), map: HeaderExtensionMap(), into: &span)
        var payload = span._mutatingExtracting(Header.fixedCount..<samples.length)
        guard let written = packetizer.next(picture.span.bytes, into: &payload), written.count == payloadCount else {
          throw Benchmark.Failure(description: "a frame was not cut into packets of equal size")
        }
      }
    }
    return samples
  }
}
