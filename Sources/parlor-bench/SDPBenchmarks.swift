import Base
import CReference
import DTLS
import SDP
import WebRTC

/// Session descriptions.
enum SDPBenchmarks {
  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    var connection = PeerConnection(configuration: .init(certificate: try Certificate.generate()))
    _ = try connection.addTransceiver(.audio)
    _ = try connection.addTransceiver(.video)
    _ = try connection.createDataChannel(.init())
    let text = try connection.createOffer(now: .zero).description
    let bytes = Array(text.utf8)
    let comparison = Comparison(
      name: "sdp", metric: "offers of \(bytes.count) bytes read", operations: "descriptions", reference: "C: fields split and copied only")
    return [
      comparison.measure(runs: settings.runs ?? 21) { rounds in
        var sections = 0
        for _ in 0..<rounds { sections += (try? SessionDescription(parsing: text))?.media.count ?? 0 }
        use(sections)
        return rounds
      } reference: { rounds in
        bytes.withUnsafeBufferPointer { buffer in
          buffer.withMemoryRebound(to: CChar.self) { use(reference_sdp($0.baseAddress, $0.count, rounds)) }
        }
        return rounds
      }
    ]
  }
}
