import Base
import SRTP
import Testing

/// Packets go through this room on one side and through libsrtp2 on the other.
@Suite struct LibSRTPTests {
  private func packet(_ number: Int, isControl: Bool, _ random: inout RandomSource) -> [UInt8] {
    if isControl { return [0x80, 200, 0, 6] + random.bytes(24) }
    // Sequence numbers wrap within the run, so that the roll-over counter is part of what is compared.
    let sequence = UInt16(truncatingIfNeeded: 65_400 + number)
    return [0x80, 96, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence), 0, 0, 0, 1, 0x12, 0x34, 0x56, 0x78]
      + random.bytes(1 + number % 1_200)
  }

  @Test(arguments: Profile.allCases, [false, true])
  func packetsPassBothWays(profile: Profile, isControl: Bool) throws {
    var random = RandomSource(seed: UInt64(profile.rawValue))
    let (key, salt) = (random.bytes(profile.keyCount), random.bytes(profile.saltCount))
    var outbound = try Context(profile: profile, key: key, salt: salt, direction: .outbound)
    var inbound = try Context(profile: profile, key: key, salt: salt, direction: .inbound)
    let theirOutbound = LibSRTP(profile, key: key, salt: salt, isInbound: false)
    let theirInbound = LibSRTP(profile, key: key, salt: salt, isInbound: true)
    for number in 0..<400 {
      let plain = packet(number, isControl: isControl, &random)
      var bytes = plain + [UInt8](repeating: 0, count: Profile.maximumTrailer)
      var elements = bytes.mutableSpan
      var span = elements.mutableBytes
      let count =
        isControl ? try outbound.protectRTCP(&span, count: plain.count) : try outbound.protect(&span, count: plain.count)
      let ours = Array(bytes.prefix(count))
      #expect(theirInbound.unprotect(ours, isControl: isControl) == plain)

      let theirs = try #require(theirOutbound.protect(plain, isControl: isControl))
      if !isControl { #expect(theirs == ours) }
      var received = theirs
      var receivedElements = received.mutableSpan
      var receivedSpan = receivedElements.mutableBytes
      let length =
        isControl
        ? try inbound.unprotectRTCP(&receivedSpan, count: theirs.count) : try inbound.unprotect(&receivedSpan, count: theirs.count)
      #expect(Array(received.prefix(length)) == plain)
    }
  }
}
