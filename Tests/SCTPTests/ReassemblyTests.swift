import Base
import Bytes
import Testing

@testable import SCTP

/// Fragments and TSNs in every order.
@Suite struct ReassemblyTests {
  private func header(_ position: UInt32, _ flags: UInt8, sequence: UInt32 = 0, stream: UInt16 = 1) -> FragmentHeader {
    FragmentHeader(position: position, flags: flags, stream: stream, sequence: sequence, payloadProtocol: 53)
  }

  @Test func fragmentsInAnyOrderMakeTheirMessages() throws {
    for seed in 0..<200 as Range<UInt64> {
      var random = RandomSource(seed: seed)
      // Messages of one to nine fragments, around the wrap of the TSN.
      var fragments: [(FragmentHeader, [UInt8])] = []
      var expected: [UInt32: [UInt8]] = [:]
      var tsn = UInt32.max - 20
      for sequence in 0..<12 as Range<UInt32> {
        let count = Int.random(in: 1...9, using: &random)
        for index in 0..<count {
          let flags = (index == 0 ? DataFlags.beginning : 0) | (index == count - 1 ? DataFlags.end : 0)
          let bytes = random.bytes(Int.random(in: 1...20, using: &random))
          fragments.append((header(tsn, flags, sequence: sequence), bytes))
          expected[sequence, default: []] += bytes
          tsn &+= 1
        }
      }
      var reassembly = Reassembly(maximumMessageSize: 10_000)
      var made: [UInt32: [UInt8]] = [:]
      for (header, bytes) in fragments.shuffled(using: &random) {
        if let message = try reassembly.insert(header, bytes.span.bytes, isInterleaved: false) { made[message.sequence] = message.bytes }
      }
      #expect(made == expected)
      #expect(reassembly.byteCount == 0)
    }
  }

  @Test func contradictionsAreNoticed() {
    let (first, middle, last) = (DataFlags.beginning, UInt8(0), DataFlags.end)
    let cases: [[FragmentHeader]] = [
      [header(1, first), header(2, first)], [header(2, middle), header(1, last)], [header(1, first), header(2, middle, sequence: 1)],
      [header(1, first), header(2, last, stream: 2)], [header(2, last, sequence: 3), header(1, first)],
      [header(1, last), header(2, middle)],
      [header(1, first), header(3, middle), header(2, last)], [header(1, first), header(1, first)],
    ]
    for headers in cases {
      var runs = FragmentRuns()
      let bytes: [UInt8] = [1]
      #expect(throws: FragmentViolation.self) {
        for header in headers { _ = try runs.insert(header, bytes.span.bytes, maximumMessageSize: 100) }
      }
    }
  }

  @Test func whatIsTooLargeTakesNoRoom() throws {
    var runs = FragmentRuns()
    let bytes = [UInt8](repeating: 1, count: 60)
    #expect(try runs.insert(header(1, DataFlags.beginning), bytes.span.bytes, maximumMessageSize: 100) == nil)
    #expect(try runs.insert(header(2, 0), bytes.span.bytes, maximumMessageSize: 100) == nil)
    #expect(runs.byteCount == Size.overhead)
    let message = try runs.insert(header(3, DataFlags.end), bytes.span.bytes, maximumMessageSize: 100)
    #expect(message?.isOversized == true && message?.bytes == [] && runs.byteCount == 0)
  }

  @Test func receivedTSNsAgreeWithASet() {
    for seed in 0..<50 as Range<UInt64> {
      var random = RandomSource(seed: seed)
      let base = UInt32.max - 100
      var tsns = ReceivedTSNs(initialTSN: base)
      var (set, cumulative) = (Set<UInt32>(), 0 as UInt32)
      for _ in 0..<400 {
        if UInt8.random(in: 0..<20, using: &random) == 0 {
          let target = cumulative + UInt32.random(in: 0...6, using: &random)
          #expect(tsns.forward(to: base &- 1 &+ target) == (target > cumulative))
          if target > cumulative { for offset in cumulative + 1...target { set.insert(offset) } }
        } else {
          let offset = cumulative &+ UInt32.random(in: 0...200, using: &random)
          let isNew = offset > cumulative && !set.contains(offset)
          #expect(tsns.classify(base &- 1 &+ offset) == (isNew ? .new : .duplicate))
          if isNew {
            tsns.insert(base &- 1 &+ offset)
            set.insert(offset)
          }
        }
        while set.contains(cumulative + 1) { cumulative += 1 }
        #expect(tsns.cumulative == base &- 1 &+ cumulative)
        var (named, offset) = (Set<UInt32>(), 0)
        while let block = tsns.block(after: offset) {
          for index in block.first...block.last { named.insert(cumulative + UInt32(index)) }
          offset = block.last
        }
        #expect(named == set.filter { $0 > cumulative })
        #expect(tsns.hasGap == !named.isEmpty)
      }
      #expect(tsns.classify(tsns.cumulative &+ 65_001) == .outOfWindow)
      let isMoved = tsns.forward(to: tsns.cumulative &+ 65_001)
      #expect(!isMoved)
    }
  }
}
