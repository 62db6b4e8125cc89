import Base
import Bytes
import Codecs
import Frames
import Testing

@testable import JitterBuffer

/// Playout in virtual time: packets of 20 ms whose way through the network is told by a function, and what playout made of them.
struct PlayoutRun {
  /// One packet as it is sent.
  struct Packet {
    /// When its first sample was captured, on this side's clock.
    var captured: Instant
    var sequence: UInt16
    var timestamp: UInt32
  }

  /// Parts per million by which the sender's clock runs fast.
  var skew = 0
  /// Whether the sound is noise, in which no period repeats, and not a tone.
  var isNoise = false
  /// What is invented where nothing is there.
  enum Concealment { case sound, silence }
  var conceals = Concealment.sound
  /// When a packet arrives; nil: it is lost.
  var arrival: (Packet) -> Instant? = { $0.captured + .milliseconds(60) }
  /// Changes a packet before it is sent; nil: the sender is silent.
  var send: (Packet) -> Packet? = { $0 }
  /// Whether a block is asked for.
  var asks: (Instant) -> Bool = { _ in true }
  var configuration = AudioJitterBuffer.Configuration()
  /// Changes the configuration on the way.
  var configure: (_ now: Instant, _ configuration: inout AudioJitterBuffer.Configuration) -> Void = { _, _ in }

  /// How things stood after each block.
  struct Moment {
    var time: Instant
    /// From capture to the block's end, in milliseconds: what the person who listens lags behind; nil while nothing is played.
    var lag: Double?
    var delay: Double?
    var target: Double
    var concealed: Int
  }

  struct Outcome {
    var moments: [Moment] = []
    var counters = AudioJitterBuffer.Counters()

    /// The moments between two seconds.
    subscript(seconds: Range<Double>) -> [Moment] { moments.filter { seconds.contains(($0.time - .zero).seconds) } }

    /// The largest lag between two seconds, in milliseconds.
    func worstLag(_ seconds: Range<Double>) throws -> Double { try #require(self[seconds].compactMap(\.lag).max()) }

    /// How much was invented between two seconds, in milliseconds.
    func concealed(_ seconds: Range<Double>) throws -> Int {
      let part = self[seconds]
      return (try #require(part.last).concealed - part[0].concealed) / 48
    }
  }

  func run(seconds: Int) -> Outcome {
    var buffer = AudioJitterBuffer(
      decoder: FreeDecoder(isNoise: isNoise, conceals: conceals), clockRate: 48_000, configuration: configuration)
    var outcome = Outcome()
    var block = AudioBlock.silence()
    let payload: [UInt8] = [0]
    var waiting: [(arrival: Instant, packet: Packet)] = []
    // What was captured when: each packet's time stamp, continued, with its capture time. Looked up to tell the lag.
    var captured: [UInt32: Instant] = [:]
    var (sequence, number) = (UInt16(65_400), 0)
    for index in 0..<seconds * 100 {
      let now = Instant.zero + .milliseconds(Int64(index) * 10 + 5)
      while true {
        let time = Instant(nanoseconds: Int64((Double(number) * 20e6 / (1 + Double(skew) / 1e6)).rounded()))
        guard time <= now else { break }
        let plain = Packet(captured: time, sequence: sequence, timestamp: UInt32(truncatingIfNeeded: 4_294_900_000 + number * 960))
        number += 1
        guard let packet = send(plain) else { continue }
        sequence &+= 1
        captured[packet.timestamp] = packet.captured
        guard let arrival = arrival(packet) else { continue }
        let position = waiting.lastIndex { $0.arrival <= arrival }.map { $0 + 1 } ?? 0
        waiting.insert((arrival, packet), at: position)
      }
      while let next = waiting.first, next.arrival <= now {
        buffer.insert(
          payload: payload.span.bytes, sequence: next.packet.sequence, timestamp: next.packet.timestamp, arrival: next.arrival)
        waiting.removeFirst()
      }
      guard asks(now) else { continue }
      configure(now, &buffer.configuration)
      buffer.nextBlock(now: now, into: &block)
      var lag: Double?
      if let position = buffer.position(now: now, delay: .zero) {
        for back in UInt32(0)..<2 {
          let start = (position.timestamp &- 4_294_900_000) / 960 &- back
          let stamp = start &* 960 &+ 4_294_900_000
          if let time = captured[stamp] {
            lag = (position.time - time).milliseconds - Double(position.timestamp &- stamp) / 48
            break
          }
        }
      }
      outcome.moments.append(
        Moment(
          time: now, lag: lag, delay: buffer.currentDelay(now: now + .milliseconds(10))?.milliseconds,
          target: buffer.targetDelay.milliseconds,
          concealed: buffer.counters.concealedSamples))
    }
    outcome.counters = buffer.counters
    return outcome
  }
}

/// A decoder to which every packet is 20 ms of the same tone or of noise, which costs no time.
private final class FreeDecoder: AudioDecoder {
  let implementationName = "free"
  let channelCount = 1
  private let sound: [Int16]
  private var position = 0
  private let conceals: PlayoutRun.Concealment

  init(isNoise: Bool, conceals: PlayoutRun.Concealment) {
    self.conceals = conceals
    var random = RandomSource(seed: 4)
    sound = (0..<48_000).map { isNoise ? .random(in: -4_000...4_000, using: &random) : $0 % 240 < 120 ? 2_000 : -2_000 }
  }

  private func take(_ count: Int, into samples: inout [Int16]) {
    if position + count > sound.count { position = 0 }
    samples.removeAll(keepingCapacity: true)
    samples.append(contentsOf: sound[position..<position + count])
    position += count
  }

  func decode(_ payload: RawSpan, into samples: inout [Int16]) { take(960, into: &samples) }
  func conceal(sampleCount: Int, into samples: inout [Int16]) {
    take(sampleCount, into: &samples)
    if conceals == .silence { for index in samples.indices { samples[index] = 0 } }
  }
  func recover(from next: RawSpan, sampleCount: Int, into samples: inout [Int16]) -> Bool { false }
  func sampleCount(of payload: RawSpan) -> Int? { 960 }
}
