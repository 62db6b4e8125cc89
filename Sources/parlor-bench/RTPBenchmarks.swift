import Bytes
import CReference
import RTP

/// Headers read and written.
enum RTPBenchmarks {
  static func parse(_ settings: Benchmark.Settings) -> [Figure] {
    let samples = PacketSamples()
    let map = PacketSamples.map
    let comparison = Comparison(
      name: "rtp-parse", metric: "headers with three extensions", operations: "packets", reference: "C", atLeast: nil)
    return [
      comparison.measure(runs: settings.runs ?? 21) { rounds in
        var sum: UInt64 = 0
        for _ in 0..<rounds {
          for index in 0..<samples.count {
            let bytes = UnsafeRawBufferPointer(samples.packet(index))
            let packet = bytes.bytes
            guard let header = try? Header(parsing: packet) else { continue }
            let extensions = HeaderExtensions(parsing: packet, header: header, map: map)
            sum &+= UInt64(header.sequenceNumber) &+ UInt64(header.timestamp) &+ UInt64(header.payload.lowerBound)
            sum &+= UInt64(extensions.absoluteSendTime ?? 0) &+ UInt64(extensions.transportSequenceNumber ?? 0)
          }
        }
        use(sum)
        return rounds * samples.count
      } reference: { rounds in
        use(reference_rtp_parse(samples.reference, PacketSamples.referenceMap, rounds))
        return rounds * samples.count
      }
    ]
  }

  static func write(_ settings: Benchmark.Settings) -> [Figure] {
    let samples = PacketSamples()
    let map = PacketSamples.map
    let comparison = Comparison(
      name: "rtp-write", metric: "headers with three extensions", operations: "packets", reference: "C", atLeast: nil)
    return [
      comparison.measure(runs: settings.runs ?? 21) { rounds in
        var extensions = HeaderExtensions()
        extensions.absoluteSendTime = 0
        extensions.transportSequenceNumber = 0
        extensions.mid = PacketSamples.mid
        var (sequenceNumber, written) = (UInt16(0), 0)
        for round in 0..<rounds {
          for index in 0..<samples.count {
            let bytes = samples.packet(index)
            var packet = bytes.mutableBytes
            let header = Header(payloadType: 96, sequenceNumber: sequenceNumber, timestamp: UInt32(truncatingIfNeeded: round), ssrc: 1)
            written += (try? header.write(extensions, map: map, into: &packet).count) ?? 0
            sequenceNumber &+= 1
          }
        }
        use(written)
        return rounds * samples.count
      } reference: { rounds in
        use(reference_rtp_write(samples.reference, PacketSamples.referenceMap, PacketSamples.mid, rounds))
        return rounds * samples.count
      }
    ]
  }
}
