import Base
import Bytes
import Testing

@testable import SCTP

/// Everything at once, drawn from a seed: channels of all kinds opened and closed by both ends, messages of all sizes, on a bad link.
@Suite struct SoakTests {
  /// What one end sent on a channel. The label names the channel at both ends.
  private struct Sent {
    var options: ChannelOptions
    var messages: [[UInt8]] = []
    var isReliable: Bool { options.maxRetransmits == nil && options.maxPacketLifeTime == nil }
  }

  @Test(arguments: 1...16 as ClosedRange<UInt64>) func nothingIsLostMixedUpOrStuck(seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    var (a, b) = (Association.Configuration(), Association.Configuration())
    (a.offersInterleaving, b.offersInterleaving) = (seed % 3 == 0, seed % 3 == 0)
    (a.offersZeroChecksum, b.offersZeroChecksum) = (seed % 2 == 0, seed % 2 == 0)
    if seed % 4 == 0 { (b.receiveWindow, b.maximumMessageSize) = (40_000, 30_000) }
    let conditions = LinkConditions(
      loss: Double(seed % 5) * 0.02, duplication: 0.02, reordering: 0.1, delay: .milliseconds(Int64(seed % 7) * 8),
      rate: seed % 2 == 0 ? 1_500_000 : nil)
    let link = VirtualLink.connected(conditions, seed: seed, a: a, b: b)
    var sent: [String: Sent] = [:]
    var open: [String: (isA: Bool, channel: ChannelIdentifier)] = [:]
    for step in 0..<250 {
      link.run(.milliseconds(Int64.random(in: 0...30, using: &random)))
      let isA = Bool.random(using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where open.count < 12:
        var options = ChannelOptions()
        options.label = "\(step)"
        options.isOrdered = Bool.random(using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: options.maxRetransmits = Int.random(in: 0...2, using: &random)
        case 1: options.maxPacketLifeTime = Int.random(in: 50...500, using: &random)
        default: break
        }
        options.priority = [128, 256, 512, 1_024].randomElement(using: &random) ?? 256
        let channel = try isA ? link.a.open(options) : link.b.open(options)
        open[options.label] = (isA, channel)
        sent[options.label] = Sent(options: options)
      case 1:
        guard let label = open.keys.sorted().randomElement(using: &random), let (isA, channel) = open[label] else { continue }
        if isA { link.a.close(channel, now: link.now) } else { link.b.close(channel, now: link.now) }
        open[label] = nil
      default:
        guard let label = open.keys.sorted().randomElement(using: &random), let (isA, channel) = open[label] else { continue }
        let size = Bool.random(using: &random) ? Int.random(in: 1...200, using: &random) : Int.random(in: 1...29_000, using: &random)
        let message = networkOrder(UInt32(step)) + pattern(size, seed: UInt64(step))
        try isA ? link.sendFromA(message, on: channel) : link.sendFromB(message, on: channel)
        sent[label]?.messages.append(message)
      }
    }
    // All that is reliable arrives while the link is as bad as ever.
    func received(_ events: [Event]) -> [String: [[UInt8]]] {
      let labels = Dictionary(events.offers.map { ($0.channel, $0.options.label) }) { first, _ in first }
      var result: [String: [[UInt8]]] = [:]
      for message in events.messages { result[labels[message.channel] ?? "?", default: []].append(message.bytes) }
      return result
    }
    link.run(.milliseconds(300_000)) { link.a.messages.count == 0 && link.b.messages.count == 0 }
    link.run(.milliseconds(2_000))
    let arrived = received(link.eventsA).merging(received(link.eventsB)) { $0 + $1 }
    for (label, sent) in sent {
      let messages = arrived[label] ?? []
      if sent.isReliable {
        let isComplete = sent.options.isOrdered ? messages == sent.messages : Set(messages) == Set(sent.messages)
        #expect(isComplete && messages.count == sent.messages.count, "channel \(label)")
      } else {
        let isSubset = Set(messages).isSubset(of: Set(sent.messages)) && Set(messages).count == messages.count
        let isInOrder = !sent.options.isOrdered || messages == sent.messages.filter(Set(messages).contains)
        #expect(isSubset && isInOrder, "channel \(label)")
      }
    }
    // Both ends close everything, and nothing is left over.
    for (isA, channel) in open.values { if isA { link.a.close(channel, now: link.now) } else { link.b.close(channel, now: link.now) } }
    let isEmpty = link.run(.milliseconds(300_000)) { link.a.channels.used.isEmpty && link.b.channels.used.isEmpty }
    #expect(isEmpty)
    link.run(.milliseconds(30_000))
    for association in [link.a, link.b] {
      #expect(association.state == .connected)
      #expect(association.outstanding.count == 0 && association.outstanding.bytesInFlight == 0 && association.messages.count == 0)
      #expect(association.reassembly.byteCount == 0 && association.streams.byteCount == 0 && association.eventBytes == 0)
      #expect(association.counters["sctp.malformed"] == 0 && association.counters["sctp.verificationTag"] == 0)
    }
  }
}
