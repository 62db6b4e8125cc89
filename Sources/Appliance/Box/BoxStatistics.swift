import Base
import Call
import Glibc
import Net
import PageSession
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
  var stage: StageFigures
  var process: [String: ProcessFigures]
  /// The cameras, and the microphone and loudspeaker with how loud they are.
  var cameras: [Status.Camera] = []
  var microphone: Status.SoundDevice?
  var speaker: Status.SoundDevice?
  /// The documents of the page that use the bridge, those in frames too.
  var documents: [Document] = []

  /// What one of the page's documents holds.
  struct Document: Encodable, Sendable {
    var origin, url: String
    var connections, tracks, channels: Int
  }

  /// Gathers the figures; on the network thread.
  init(_ sessions: [PeerSession], screen: LatencyRecorder, stage counts: StageStatistics, display: DisplayStatus) {
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
    stage = StageFigures(counts, display: display)
    process = ["parlor": ProcessFigures.current()]
  }

  /// Adds what the page uses; `host` is the process that runs it.
  mutating func add(_ page: PageStatistics, host: Int32?) {
    for (report, figures) in zip(page.peerConnections, page.latency) {
      latency["connection-\(peerConnections.count)"] = BoxStatistics.named(figures)
      peerConnections.append(report)
    }
    add(page.discards)
    documents = page.documents.map {
      Document(origin: $0.origin, url: $0.url, connections: $0.connections, tracks: $0.tracks, channels: $0.channels)
    }
    if let host { process.merge(ProcessFigures.tree(of: host, named: PageProgram.name)) { $0 + $1 } }
  }

  /// Adds what cameras, microphone and loudspeaker tell of themselves.
  mutating func add(_ media: BoxMedia) {
    let sound = media.soundStatus
    (cameras, microphone, speaker) = (media.cameraStatus, sound.microphone, sound.speaker)
    add(media.discards)
  }

  /// Adds what another part of the box dropped or refused.
  mutating func add(_ counters: Counters) {
    for (reason, count) in counters.values { discards[reason, default: 0] += count }
  }

  private static func named(_ figures: [LatencyRecorder.Step: LatencyRecorder.Figures]) -> [String: LatencyRecorder.Figures] {
    figures.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
  }
}
