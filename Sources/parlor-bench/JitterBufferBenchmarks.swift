import Base
import Bytes
import CAllocations
import CReference
import Codecs
import Frames
import JitterBuffer
import RTP
import Sound

/// Video packets joined to frames, and what the sound's buffer allocates.
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
    return [figure] + (try AudioCodec.allCases.flatMap { try soundFigures($0) })
  }

  /// What the sound's buffer allocates and locks in five minutes of jitter, loss, stalls, pauses and time stamps that jump: it runs on a thread that
  /// must do neither.
  private static func soundFigures(_ codec: AudioCodec) throws -> [Figure] {
    let (encoder, microphone) = (try CodecFactory.audioEncoder(codec), SyntheticMicrophone())
    try encoder.setPacketLoss(0.05)
    let packets = try (0..<400).compactMap { try encoder.encode(microphone.block(at: $0)) }
    var buffer = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(codec), clockRate: codec.clockRate)
    var block = AudioBlock.silence()
    var random = RandomSource(seed: 7)
    var waiting = Array(repeating: (due: Int.max, number: 0), count: 200)
    var (allocated, locked, blocks) = (UInt64(0), UInt64(0), 0)
    for now in 0..<30_000 {
      let isPaused = now % 6_000 > 5_700
      if now % 2 == 0, !isPaused, Double.random(in: 0..<1, using: &random) > 0.05 {
        // Up to 100 ms of jitter, and every ten seconds a stall of half a second.
        let arrival = now % 1_000 > 950 ? now / 1_000 * 1_000 + 1_000 : now + .random(in: 0...10, using: &random)
        waiting[now / 2 % 200] = (arrival, now / 2)
      }
      let time = Instant.zero + .milliseconds(Int64(now) * 10)
      buffer.configuration.synchronizationDelay = .milliseconds(now % 2_000 < 1_000 ? 0 : 150)
      let before = (allocations_of_thread(), locks_of_thread())
      for index in waiting.indices where waiting[index].due <= now {
        let number = waiting[index].number
        let packet = packets[number % packets.count]
        waiting[index].due = .max
        let jump = now > 15_000 ? UInt32(100_000) : 0
        buffer.insert(
          payload: packet.span.bytes, sequence: UInt16(truncatingIfNeeded: number),
          timestamp: UInt32(number) &* encoder.timestampStep &+ jump, arrival: time)
      }
      buffer.nextBlock(now: time, into: &block)
      allocated += allocations_of_thread() - before.0
      locked += locks_of_thread() - before.1
      blocks += 1
    }
    let counters = buffer.counters
    guard counters.concealedSamples > 48_000, counters.removedSamplesForAcceleration > 4_800,
      counters.insertedSamplesForDeceleration > 4_800
    else { throw Benchmark.Failure(description: "the network was too kind: \(counters)") }
    func figure(_ metric: String, _ count: UInt64) -> Figure {
      Figure(
        name: "jitter-buffer", metric: "\(codec.rawValue): \(metric)", value: Double(count) / Double(blocks), unit: "per block", runs: 1,
        spread: 0, bound: .atMost(0), needsReference: false)
    }
    return [figure("allocations", allocated), figure("locks", locked)]
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
