import Testing

@testable import Codecs

struct AnnexBTests {
  @Test func unitsAreFoundBehindShortAndLongStartCodes() {
    let bytes: [UInt8] = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 4]
    #expect(AnnexB.units(of: bytes).map { Array(bytes[$0]) } == [[0x67, 1, 2], [0x68, 3], [0x65, 4]])
    #expect(AnnexB.startsDecoding(bytes))
  }

  @Test func bytesWithoutStartCodeHoldNoUnit() {
    #expect(AnnexB.units(of: []).isEmpty)
    #expect(AnnexB.units(of: [0, 0]).isEmpty)
    #expect(AnnexB.units(of: [1, 2, 3, 4]).isEmpty)
    #expect(AnnexB.units(of: [0, 0, 1]).isEmpty)
    #expect(AnnexB.units(of: [0, 0, 1, 0, 0, 1]).isEmpty)
  }
}
