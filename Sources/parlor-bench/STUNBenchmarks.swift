import Base
import CReference
import STUN

/// Connectivity checks.
enum STUNBenchmarks {
  static func run(_ settings: Benchmark.Settings) -> [Figure] {
    let username = "4ZcDaaaabbbbcccc:parlor99"
    let key = Array("2/1muCWoOi3uLifh0NuRHlQA".utf8)
    let comparison = Comparison(
      name: "stun", metric: "checks written, read and verified", operations: "checks", reference: "C, OpenSSL's HMAC")
    return [
      comparison.measure(runs: settings.runs ?? 21) { rounds in
        var good = 0
        for round in 0..<rounds {
          let identifier = TransactionID(high: UInt32(truncatingIfNeeded: round), low: 0x0707_0707_0707_0707)
          var builder = MessageBuilder(.request, .binding, transactionID: identifier)
          builder.append(.username, text: username)
          builder.append(.priority, uint32: 1_845_501_695)
          builder.append(.iceControlling, uint64: 0x0909_0909_0909_0909)
          builder.append(.useCandidate)
          builder.appendIntegrity(key: key)
          builder.appendFingerprint()
          let bytes = builder.bytes
          guard let message = try? Message(bytes.span.bytes) else { continue }
          if message.text(.username) == username, message.hasValidIntegrity(key: key), message.isFingerprintValid == true { good += 1 }
        }
        return good
      } reference: { rounds in
        reference_stun(username, key, key.count, rounds)
      }
    ]
  }
}
