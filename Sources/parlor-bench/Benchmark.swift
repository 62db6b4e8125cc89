/// A benchmark that can be asked for by name.
struct Benchmark: Sendable {
  /// What the command line asked for.
  struct Settings: Sendable {
    /// How often each figure is measured; nil for as often as the benchmark thinks fit.
    var runs: Int?
    /// The camera to measure, as in the configuration; nil: a driver that a program plays.
    var camera: String?
  }

  /// Why there is no figure.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Its name on the command line.
  let name: String
  /// What it measures, for the list of names.
  let summary: String
  let run: @Sendable (Settings) async throws -> [Figure]

  /// All, in the order in which they run.
  static let all: [Benchmark] = [
    Benchmark(name: "rtp-parse", summary: "RTP headers with extensions read") { RTPBenchmarks.parse($0) },
    Benchmark(name: "rtp-write", summary: "RTP headers with extensions written") { RTPBenchmarks.write($0) },
    Benchmark(name: "srtp-protect", summary: "packets of 1,200 bytes protected and unprotected") { try SRTPBenchmarks.run($0) },
    Benchmark(name: "packet-path", summary: "packets of 1,200 bytes, from the encoder into a socket and back") {
      try await PacketPathBenchmarks.run($0)
    },
    Benchmark(name: "allocations", summary: "heap allocations for each packet of media in steady state") {
      try AllocationBenchmarks.run($0)
    },
    Benchmark(name: "stun", summary: "connectivity checks written and verified") { STUNBenchmarks.run($0) },
    Benchmark(name: "sdp", summary: "session descriptions read") { try SDPBenchmarks.run($0) },
    Benchmark(name: "dtls-handshake", summary: "handshakes with SRTP keys, both ends") { try DTLSBenchmarks.run($0) },
    Benchmark(name: "sctp", summary: "messages of 16 KiB between two ends in memory") { try SCTPBenchmarks.run($0) },
    Benchmark(name: "jitter-buffer", summary: "video packets, slightly out of order, joined to frames; what sound allocates") {
      try JitterBufferBenchmarks.run($0)
    },
    Benchmark(name: "sound", summary: "blocks of sound through cards of another rate and clock: time and heap allocations") {
      try SoundBenchmarks.run($0)
    },
    Benchmark(name: "voice", summary: "a microphone's blocks freed of echo and noise, and evened") { try VoiceBenchmarks.run($0) },
    Benchmark(name: "capture", summary: "a camera's pictures, from the driver's time stamp to an encoder") {
      try await CaptureBenchmarks.run($0)
    },
    Benchmark(name: "compose-1080p", summary: "a 1920x1080 picture put on the screen, alone and with a self-view") {
      ComposeBenchmarks.run($0)
    },
    Benchmark(name: "display-1080p", summary: "video under a page on a monitor with 60 refreshes a second: latency, missed flips") {
      try await DisplayBenchmarks.run($0)
    },
    Benchmark(name: "call-direct", summary: "a call on the loopback: until connected, until the first picture") {
      try await CallBenchmarks.run($0)
    },
    Benchmark(name: "call-page", summary: "a page that calls itself: time, memory, processors, what its API and data channels cost") {
      try await PageBenchmarks.run($0)
    },
    Benchmark(name: "data-channel", summary: "messages of 16 KiB over the loopback") { try await DataChannelBenchmarks.run($0) },
  ]
}
