import Bytes
import CReference
import RTP
import SRTP

/// A reference's SRTP context with keys of its own.
final class ReferenceSRTP {
  let context: OpaquePointer

  init(_ profile: Profile) throws {
    let isGCM = profile != .aes128CMHMACSHA1
    let key = [UInt8](repeating: 5, count: profile.keyCount)
    guard
      let context = reference_srtp_new(
        isGCM, key, Int32(key.count), [UInt8](repeating: 6, count: 16), isGCM ? nil : [UInt8](repeating: 7, count: 20))
    else { throw Benchmark.Failure(description: "the reference could not be set up") }
    self.context = context
  }

  deinit { reference_srtp_free(context) }
}

/// Packets protected.
enum SRTPBenchmarks {
  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    try Profile.allCases.map { profile in
      let samples = PacketSamples()
      let reference = try ReferenceSRTP(profile)
      var context = try context(profile, .outbound)
      let comparison = Comparison(
        name: "srtp-protect", metric: profile.name, operations: "packets", reference: "C, OpenSSL's ciphers", atLeast: 0.8)
      var sequenceNumber: UInt16 = 0
      return comparison.measure(runs: settings.runs ?? 21) { rounds in
        var bytes = 0
        for _ in 0..<rounds {
          for index in 0..<samples.count {
            let memory = samples.memory(index)
            var packet = memory.mutableBytes
            packet.store(uint16: sequenceNumber, at: 2)
            sequenceNumber &+= 1
            bytes += (try? context.protect(&packet, count: samples.length)) ?? 0
          }
        }
        use(bytes)
        return rounds * samples.count
      } reference: { rounds in
        use(reference_srtp_protect_all(reference.context, samples.reference, rounds))
        return rounds * samples.count
      }
    }
  }

  static func context(_ profile: Profile, _ direction: Direction) throws(SRTPError) -> Context {
    try Context(
      profile: profile, key: [UInt8](repeating: 1, count: profile.keyCount), salt: [UInt8](repeating: 2, count: profile.saltCount),
      direction: direction)
  }
}
