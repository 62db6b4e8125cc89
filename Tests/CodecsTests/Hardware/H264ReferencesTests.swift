import Base
import Camera
import Testing

@testable import Codecs

/// References of H.264 pictures, as ITU-T H.264 section 8.2 has them.
struct H264ReferencesTests {
  private var sequence: H264Stream.Sequence {
    var result = H264Stream.Sequence()
    (result.frameNumberBits, result.orderBits, result.referenceCount) = (4, 4, 3)
    return result
  }

  private func slice(_ number: Int, isKeyFrame: Bool = false, isReference: Bool = true) -> H264Stream.Slice {
    var result = H264Stream.Slice()
    (result.frameNumber, result.isKeyFrame, result.isReference) = (number, isKeyFrame, isReference)
    (result.isIntra, result.activeReferences) = (isKeyFrame, 3)
    return result
  }

  /// After a key frame and frames 1 to `last`, whose surfaces have their numbers.
  private func references(upTo last: Int) -> H264References {
    var references = H264References()
    for number in 0...last {
      references.finish(slice(number & 15, isKeyFrame: number == 0), sequence, surface: UInt32(number), order: Int32(2 * number))
    }
    return references
  }

  private func surfaces(_ list: [H264References.Reference]?) -> [UInt32]? { list?.map(\.surface) }

  @Test func theNewestComesFirstAndTheOldestGoes() {
    #expect(surfaces(references(upTo: 0).list(for: slice(1), sequence)) == [0])
    #expect(surfaces(references(upTo: 5).list(for: slice(6), sequence)) == [5, 4, 3])
    #expect(surfaces(references(upTo: 16).list(for: slice(1), sequence)) == [16, 15, 14], "numbers begin anew after 15")
    #expect(references(upTo: 0).list(for: slice(1), sequence)?.count == 1)
    #expect(H264References().list(for: slice(1), sequence) == nil)
  }

  @Test func listsAreReordered() {
    var wanted = slice(6)
    // Two back from 6, then one more back.
    wanted.modifications = [.init(operation: 0, value: 1), .init(operation: 0, value: 0)]
    #expect(surfaces(references(upTo: 5).list(for: wanted, sequence)) == [4, 3, 5])
    wanted.activeReferences = 1
    wanted.modifications = [.init(operation: 0, value: 2)]
    #expect(surfaces(references(upTo: 5).list(for: wanted, sequence)) == [3])
    var late = slice(0)
    late.modifications = [.init(operation: 0, value: 1)]
    #expect(surfaces(references(upTo: 15).list(for: late, sequence))?.first == 14, "across the numbers' end")
    wanted.modifications = [.init(operation: 0, value: 4)]
    #expect(references(upTo: 5).list(for: wanted, sequence) == nil, "one that went is not replaced by another")
  }

  @Test func longTermReferencesStay() {
    var references = references(upTo: 2)
    var marking = slice(3)
    marking.markings = [.limitLongTerm(1), .makeLongTerm(difference: 2, index: 0)]
    references.finish(marking, sequence, surface: 3, order: 6)
    for number in 4...9 { references.finish(slice(number), sequence, surface: UInt32(number), order: Int32(2 * number)) }
    #expect(surfaces(references.list(for: slice(10), sequence)) == [9, 8, 1], "long-term ones come last")
    var first = slice(10)
    first.modifications = [.init(operation: 2, value: 0)]
    #expect(surfaces(references.list(for: first, sequence)) == [1, 9, 8])
    var forgetting = slice(10)
    forgetting.markings = [.forgetLongTerm(0), .forget(difference: 1)]
    references.finish(forgetting, sequence, surface: 10, order: 20)
    #expect(surfaces(references.list(for: slice(11), sequence)) == [10, 8])
    var all = slice(11)
    all.markings = [.forgetAll]
    references.finish(all, sequence, surface: 11, order: 22)
    #expect(surfaces(references.list(for: slice(1), sequence)) == [11])
  }

  @Test func whatIsNoReferenceIsForgotten() {
    var references = references(upTo: 2)
    references.finish(slice(3, isReference: false), sequence, surface: 7, order: 6)
    #expect(surfaces(references.list(for: slice(3), sequence)) == [2, 1, 0])
    references.finish(slice(0, isKeyFrame: true), sequence, surface: 8, order: 0)
    #expect(surfaces(references.list(for: slice(1), sequence)) == [8])
  }

  @Test func theOrderIsCountedOn() {
    var references = H264References()
    var orders: [Int32] = []
    for number in 0..<20 {
      var next = slice(number & 15, isKeyFrame: number == 0)
      next.orderLowBits = 2 * number & 15
      orders.append(references.order(of: next, sequence))
    }
    #expect(orders == (0..<20).map { 2 * $0 })
    var byNumber = sequence
    byNumber.orderType = 2
    references.reset()
    #expect((0..<20).map { references.order(of: slice($0 & 15, isKeyFrame: $0 == 0), byNumber) } == (0..<20).map { 2 * $0 })
    var byCycle = sequence
    (byCycle.orderType, byCycle.orderCycle) = (1, [3, 5])
    references.reset()
    #expect((0..<5).map { references.order(of: slice($0, isKeyFrame: $0 == 0), byCycle) } == [0, 3, 8, 11, 16])
  }

  @Test func noStreamMakesTheReadersTrap() throws {
    let camera = SyntheticCamera(width: 160, height: 120)
    let encoder = try CodecFactory.softwareEncoder(.h264, settings: VideoEncoderSettings(width: 160, height: 120))
    let frames = try (0..<3).map { try #require(try encoder.encode(camera.frame(at: $0), forceKeyFrame: false)).bytes.prefix(60) }
    var random = RandomSource(seed: 5)
    var (sequences, pictures): ([Int: H264Stream.Sequence], [Int: H264Stream.Picture]) = ([:], [:])
    var references = H264References()
    var sliceCount = 0
    for round in 0..<30_000 {
      var bytes = Array(frames[round % 3])
      for _ in 0..<round % 4 { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next()) }
      for unit in AnnexB.units(of: bytes) {
        switch bytes[unit.lowerBound] & 0x1F {
        case AnnexB.UnitType.sequenceParameterSet:
          if let (number, found) = try? H264Stream.sequence(bytes, in: unit) { sequences[number] = found }
        case AnnexB.UnitType.pictureParameterSet:
          if let (number, found) = try? H264Stream.picture(bytes, in: unit) { pictures[number] = found }
        default:
          guard let slice = try? H264Stream.slice(bytes, in: unit, pictures: pictures, sequences: sequences),
            let sequence = pictures[slice.picture].flatMap({ sequences[$0.sequence] })
          else { continue }
          sliceCount += 1
          let order = references.order(of: slice, sequence)
          if !slice.isIntra { #expect((references.list(for: slice, sequence)?.count ?? 0) <= 32) }
          references.finish(slice, sequence, surface: UInt32(round), order: order)
          #expect(references.references.count <= 16)
        }
      }
    }
    #expect(sliceCount > 1_000, "most rounds get as far as a slice")
  }
}
