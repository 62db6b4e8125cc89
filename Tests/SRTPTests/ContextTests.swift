import Base
import Testing

@testable import SRTP

/// A packet protected with master key 00 01 02 … and master salt A0 A1 A2 … unless said otherwise.
struct Vector: Sendable {
  var profile: Profile
  var key: [UInt8]
  var salt: [UInt8]
  var rtp: [UInt8]
  var rtcp: [UInt8]

  /// The same plain packets stand behind all vectors.
  static let plainRTP = bytes("800f1234decafbadcafebabeabababababababababababababababab")
  static let plainRTCP = bytes("81c8000bcafebabeabababababababababababababababab")

  static let all = [
    // RFC 3711's AES-CM and HMAC-SHA1: the packets that libsrtp, werift and others agree on.
    Vector(
      profile: .aes128CMHMACSHA1, key: bytes("e1f97a0d3e018be0d64fa32c06de4139"), salt: bytes("0ec675ad498afeebb6960b3aabe6"),
      rtp: bytes("800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb"),
      rtcp: bytes("81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798")),
    // Computed with Python's `cryptography` from the formulas of RFC 7714, after its packet of section 16.1.1 came out right.
    Vector(
      profile: .aeadAES128GCM, key: Array(0..<16), salt: Array(0xA0..<0xAC),
      rtp: bytes("800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392"),
      rtcp: bytes("81c8000bcafebabec98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446ea31123ba88ce61e80000001")),
    Vector(
      profile: .aeadAES256GCM, key: Array(0..<32), salt: Array(0xA0..<0xAC),
      rtp: bytes("800f1234decafbadcafebabe0af7f21e8a90bdad7a425c9c31ed4bb1d90238917e7390a2793500e1681acaea"),
      rtcp: bytes("81c8000bcafebabe8abfafa780070a90e80f9161cf4aac081ed93aaa53c15b0f3ed1a3b984167b0380000001")),
  ]

  static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
  }
}

extension Context {
  /// The packets of the tests are arrays; each operation returns what it made of one.
  mutating func protect(_ plain: [UInt8]) throws(SRTPError) -> [UInt8] {
    var packet = plain + [UInt8](repeating: 0, count: Context.maximumTrailer)
    var elements = packet.mutableSpan
    var span = elements.mutableBytes
    let count = try protect(&span, count: plain.count)
    return Array(packet[..<count])
  }

  mutating func protectRTCP(_ plain: [UInt8]) throws(SRTPError) -> [UInt8] {
    var packet = plain + [UInt8](repeating: 0, count: Context.maximumTrailer)
    var elements = packet.mutableSpan
    var span = elements.mutableBytes
    let count = try protectRTCP(&span, count: plain.count)
    return Array(packet[..<count])
  }

  mutating func unprotect(_ protected: [UInt8]) throws(SRTPError) -> [UInt8] {
    var packet = protected
    var elements = packet.mutableSpan
    var span = elements.mutableBytes
    let count = try unprotect(&span, count: protected.count)
    return Array(packet[..<count])
  }

  mutating func unprotectRTCP(_ protected: [UInt8]) throws(SRTPError) -> [UInt8] {
    var packet = protected
    var elements = packet.mutableSpan
    var span = elements.mutableBytes
    let count = try unprotectRTCP(&span, count: protected.count)
    return Array(packet[..<count])
  }

  init(_ vector: Vector, _ direction: Direction, replayWindow: Int = 1024) throws(SRTPError) {
    try self.init(profile: vector.profile, key: vector.key, salt: vector.salt, direction: direction, replayWindow: replayWindow)
  }
}

/// An RTP packet with 160 bytes of payload.
private func packet(sequence: UInt16, ssrc: UInt32 = 7) -> [UInt8] {
  [0x80, 111, UInt8(sequence >> 8), UInt8(sequence & 0xFF), 0, 0, 0, 1, 0, 0, 0, UInt8(ssrc)]
    + [UInt8](repeating: UInt8(sequence & 0xFF), count: 160)
}

@Suite struct ContextTests {
  @Test(arguments: Vector.all) func protectsAsOthersDo(_ vector: Vector) throws {
    var outbound = try Context(vector, .outbound)
    #expect(try outbound.protect(Vector.plainRTP) == vector.rtp)
    #expect(try outbound.protectRTCP(Vector.plainRTCP) == vector.rtcp)
    #expect(vector.rtp.count == Vector.plainRTP.count + vector.profile.rtpOverhead)
    #expect(vector.rtcp.count == Vector.plainRTCP.count + vector.profile.rtcpOverhead)
  }

  @Test(arguments: Vector.all) func readsWhatOthersProtected(_ vector: Vector) throws {
    var inbound = try Context(vector, .inbound)
    #expect(try inbound.unprotect(vector.rtp) == Vector.plainRTP)
    #expect(try inbound.unprotectRTCP(vector.rtcp) == Vector.plainRTCP)
  }

  @Test(arguments: Vector.all) func everyChangedBitIsNoticed(_ vector: Vector) throws {
    var inbound = try Context(vector, .inbound)
    for bit in 0..<vector.rtp.count * 8 {
      var damaged = vector.rtp
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: SRTPError.self) { try inbound.unprotect(damaged) }
    }
    for bit in 0..<vector.rtcp.count * 8 {
      var damaged = vector.rtcp
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: SRTPError.self) { try inbound.unprotectRTCP(damaged) }
    }
    var lastByte = vector.rtp
    lastByte[lastByte.count - 1] ^= 1
    #expect(throws: SRTPError.authenticationFailed) { try inbound.unprotect(lastByte) }
    // None of the forgeries hurt the good packets.
    #expect(try inbound.unprotect(vector.rtp) == Vector.plainRTP)
    #expect(try inbound.unprotectRTCP(vector.rtcp) == Vector.plainRTCP)
  }

  @Test(arguments: Vector.all) func aReplayIsTold(_ vector: Vector) throws {
    var inbound = try Context(vector, .inbound)
    _ = try inbound.unprotect(vector.rtp)
    #expect(throws: SRTPError.replayed) { try inbound.unprotect(vector.rtp) }
    _ = try inbound.unprotectRTCP(vector.rtcp)
    #expect(throws: SRTPError.replayed) { try inbound.unprotectRTCP(vector.rtcp) }
  }

  @Test(arguments: Vector.all) func latePacketsAreReadUpToTheReplayWindow(_ vector: Vector) throws {
    var outbound = try Context(vector, .outbound)
    var inbound = try Context(vector, .inbound, replayWindow: 128)
    let protected = try (0...200).map { try outbound.protect(packet(sequence: 1_000 + $0)) }
    _ = try inbound.unprotect(protected[0])
    _ = try inbound.unprotect(protected[200])
    #expect(try inbound.unprotect(protected[100]) == packet(sequence: 1_100))
    #expect(throws: SRTPError.tooOld) { try inbound.unprotect(protected[20]) }
  }

  @Test(arguments: Vector.all) func theSenderMaySendAPacketAgain(_ vector: Vector) throws {
    var outbound = try Context(vector, .outbound)
    let first = try outbound.protect(packet(sequence: 10))
    for sequence in 11...300 { _ = try outbound.protect(packet(sequence: UInt16(sequence))) }
    #expect(try outbound.protect(packet(sequence: 10)) == first)
  }

  @Test(arguments: Vector.all) func sequenceNumbersWrapAndPacketsAreLostOnTheWay(_ vector: Vector) throws {
    var outbound = try Context(vector, .outbound)
    var inbound = try Context(vector, .inbound)
    var random = RandomSource(seed: 4)
    var late: [(plain: [UInt8], protected: [UInt8])] = []
    var read = 0
    for index in 0..<70_000 {
      let plain = packet(sequence: UInt16(truncatingIfNeeded: 60_000 + index))
      let protected = try outbound.protect(plain)
      // Reading one in 50 keeps the test short; the lost ones still move the rollover counter.
      guard index % 50 == 0 || index < 2 else { continue }
      if Double.random(in: 0..<1, using: &random) < 0.2 {
        late.append((plain, protected))
        continue
      }
      #expect(try inbound.unprotect(protected) == plain)
      read += 1
      if late.count > 3 {
        let (plain, protected) = late.removeFirst()
        if let result = try? inbound.unprotect(protected) {
          #expect(result == plain)
          read += 1
        }
      }
    }
    #expect(read > 1_100)
  }

  @Test(arguments: Vector.all) func eachSSRCHasItsOwnCounters(_ vector: Vector) throws {
    var outbound = try Context(vector, .outbound)
    var inbound = try Context(vector, .inbound)
    for ssrc in 1...20 as ClosedRange<UInt32> {
      #expect(try inbound.unprotect(outbound.protect(packet(sequence: 5, ssrc: ssrc))) == packet(sequence: 5, ssrc: ssrc))
    }
  }

  @Test(arguments: Vector.all) func shortPacketsAreMalformed(_ vector: Vector) throws {
    var outbound = try Context(vector, .outbound)
    var inbound = try Context(vector, .inbound)
    for count in 0..<12 { #expect(throws: SRTPError.malformed) { try outbound.protect([UInt8](repeating: 0x80, count: count)) } }
    for count in 0..<8 { #expect(throws: SRTPError.malformed) { try outbound.protectRTCP([UInt8](repeating: 0x80, count: count)) } }
    for count in 0..<12 + vector.profile.rtpOverhead {
      #expect(throws: SRTPError.malformed) { try inbound.unprotect(Array(vector.rtp.prefix(count))) }
    }
    for count in 0..<8 + vector.profile.rtcpOverhead {
      #expect(throws: SRTPError.malformed) { try inbound.unprotectRTCP(Array(vector.rtcp.prefix(count))) }
    }
    // Fifteen contributing sources, or an extension of 65,535 words, that are not there.
    var header = packet(sequence: 1)
    header[0] = 0x8F
    #expect(throws: SRTPError.malformed) { try outbound.protect(Array(header[..<40])) }
    header[0] = 0x90
    header[14] = 0xFF
    header[15] = 0xFF
    #expect(throws: SRTPError.malformed) { try outbound.protect(header) }
    #expect(throws: SRTPError.self) { try inbound.unprotect(header) }
  }

  @Test func noRoomForTheTagIsAnError() throws {
    var outbound = try Context(Vector.all[0], .outbound)
    var bytes = packet(sequence: 1) + [UInt8](repeating: 0, count: Context.maximumTrailer - 1)
    var elements = bytes.mutableSpan
    var span = elements.mutableBytes
    var error: SRTPError?
    do throws(SRTPError) { _ = try outbound.protect(&span, count: 172) } catch let thrown { error = thrown }
    #expect(error == .noRoom)
  }

  @Test func wrongParametersAreNamed() throws {
    #expect(throws: SRTPError.wrongKeyLength(expected: 32, actual: 16)) {
      _ = try Context(
        profile: .aeadAES256GCM, key: [UInt8](repeating: 0, count: 16), salt: [UInt8](repeating: 0, count: 12), direction: .outbound)
    }
    #expect(throws: SRTPError.wrongKeyLength(expected: 14, actual: 12)) {
      _ = try Context(
        profile: .aes128CMHMACSHA1, key: [UInt8](repeating: 0, count: 16), salt: [UInt8](repeating: 0, count: 12), direction: .outbound)
    }
    #expect(throws: SRTPError.invalidReplayWindow(10)) { _ = try Context(Vector.all[0], .inbound, replayWindow: 10) }
    var inbound = try Context(Vector.all[0], .inbound)
    #expect(throws: SRTPError.wrongDirection) { try inbound.protect(packet(sequence: 1)) }
    var outbound = try Context(Vector.all[0], .outbound)
    #expect(throws: SRTPError.wrongDirection) { try outbound.unprotect(packet(sequence: 1)) }
  }
}
