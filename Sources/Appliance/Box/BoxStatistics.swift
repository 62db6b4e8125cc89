import Base
import Call
import Net
import Stage
import WebRTC

/// What `parlor stats --json` writes.
struct BoxStatistics: Encodable, Sendable {
  /// The W3C report of each connection.
  var peerConnections: [StatisticsReport]
  /// For each connection and for the screen, the time per step over the last ten seconds.
  var latency: [String: [String: LatencyRecorder.Figures]]
  /// Things dropped or refused, by reason.
  var discards: [String: Int]
  var stage: [String: Int]
  var process: [String: ProcessFigures]

  /// Gathers the figures; on the network thread.
  init(_ sessions: [PeerSession], screen: LatencyRecorder, stage counts: StageStatistics) {
    let now = MonotonicClock.now()
    peerConnections = sessions.map { $0.statistics() }
    var discards = Counters()
    latency = [:]
    for (index, session) in sessions.enumerated() {
      discards.add(session.discards)
      latency["connection-\(index)"] = BoxStatistics.named(session.latency.figures(now: now))
    }
    latency["screen"] = BoxStatistics.named(screen.figures(now: now))
    self.discards = discards.values
    stage = [
      "flips": counts.flips, "skipped": counts.skipped, "remoteFramesPresented": counts.remoteFramesPresented,
      "selfViewFramesPresented": counts.selfViewFramesPresented,
    ]
    process = ["parlor": ProcessFigures.current()]
  }

  private static func named(_ figures: [LatencyRecorder.Step: LatencyRecorder.Figures]) -> [String: LatencyRecorder.Figures] {
    figures.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
  }
}
