import Base
import CReference
import DTLS

/// Handshakes.
enum DTLSBenchmarks {
  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    guard let reference = reference_dtls_new() else { throw Benchmark.Failure(description: "the reference has no certificates") }
    defer { reference_dtls_free(reference) }
    let certificates = (try Certificate.generate(), try Certificate.generate())
    let comparison = Comparison(
      name: "dtls-handshake", metric: "both ends, fingerprints verified, keys exported", operations: "handshakes",
      reference: "C, OpenSSL", atLeast: 0.8)
    return [
      comparison.measure(runs: settings.runs ?? 11) { rounds in
        var done = 0
        for _ in 0..<rounds where shakeHands(certificates) { done += 1 }
        return done
      } reference: { rounds in
        reference_dtls_handshakes(reference, rounds)
      }
    ]
  }

  private static func shakeHands(_ certificates: (Certificate, Certificate)) -> Bool {
    guard
      var client = try? Endpoint(role: .client, certificate: certificates.0, remoteFingerprints: [certificates.1.fingerprint()]),
      var server = try? Endpoint(role: .server, certificate: certificates.1, remoteFingerprints: [certificates.0.fingerprint()])
    else { return false }
    let now = Instant.zero
    client.start(now: now)
    server.start(now: now)
    var isBusy = true
    while isBusy {
      isBusy = false
      while let datagram = client.pollTransmit() {
        server.receive(datagram.span.bytes, now: now)
        isBusy = true
      }
      while let datagram = server.pollTransmit() {
        client.receive(datagram.span.bytes, now: now)
        isBusy = true
      }
    }
    return client.state == .connected && server.state == .connected && client.srtpProfile != nil
  }
}
