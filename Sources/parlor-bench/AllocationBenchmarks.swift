import Bytes
import CAllocations

/// Heap allocations on the way of a packet, counted where they are made.
enum AllocationBenchmarks {
  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    let before = allocations_of_thread()
    use([UInt8](repeating: 1, count: Int.random(in: 100...200)))
    guard allocations_of_thread() > before else { throw Benchmark.Failure(description: "allocations are not counted in this build") }

    var pair = try ConnectedPair.connected()
    let keyFrame = PictureSamples.vp8(isKeyFrame: true, count: 30_000)
    let picture = PictureSamples.vp8(isKeyFrame: false, count: 9_000)
    let sound = [UInt8](repeating: 3, count: 120)
    // Pools and tables reach their size in the first seconds: 33 ms per picture, so this is a minute and then two.
    for number in 0..<2_000 { exchange(&pair, number == 0 ? keyFrame : picture, number, sound) }
    pair.counts = .init()
    for number in 2_000..<6_000 { exchange(&pair, number % 300 == 0 ? keyFrame : picture, number, sound) }
    let counts = pair.counts
    guard counts.mediaPackets > 40_000 else {
      throw Benchmark.Failure(description: "only \(counts.mediaPackets) packets of media were passed on")
    }
    func figure(_ metric: String, _ count: Int, per divisor: Int, _ unit: String, bound: Figure.Bound?) -> Figure {
      Figure(
        name: "allocations", metric: metric, value: Double(count) / Double(divisor), unit: unit, runs: 1, spread: 0, bound: bound,
        needsReference: false)
    }
    return [
      figure("frame to packets", counts.framing, per: counts.mediaPackets, "per packet", bound: .atMost(0)),
      figure("packet sent", counts.sending, per: counts.mediaPackets, "per packet", bound: .atMost(0)),
      figure("packet received", counts.receiving, per: counts.mediaPackets, "per packet", bound: .atMost(0)),
      figure("control and timers, both ends", counts.control, per: 4_000 * 33 / 1_000, "per second of call", bound: nil),
    ]
  }

  private static func exchange(_ pair: inout ConnectedPair, _ picture: [UInt8], _ number: Int, _ sound: [UInt8]) {
    pair.send(
      picture: picture.span.bytes, isKeyFrame: picture.count > 10_000, sound: sound.span.bytes,
      timestamp: UInt32(truncatingIfNeeded: number &* 1_584))
    for _ in 0..<33 { pair.advance(.milliseconds(1)) }
  }
}
