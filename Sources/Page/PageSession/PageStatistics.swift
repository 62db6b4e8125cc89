import Base
import Call
import WebRTC

/// What `parlor stats` tells of the page.
public struct PageStatistics: Sendable {
  /// One open document.
  public struct Document: Sendable, Equatable {
    public var origin: String
    public var url: String
    public var connections: Int
    public var tracks: Int
    public var channels: Int
  }

  /// The W3C report of each peer connection that is open.
  public var peerConnections: [StatisticsReport] = []
  /// Their W3C connection states, in the same order.
  public var connectionStates: [String] = []
  /// Where the time goes, per peer connection, in the same order.
  public var latency: [[LatencyRecorder.Step: LatencyRecorder.Figures]] = []
  /// Counts of everything that was dropped or refused, by reason.
  public var discards = Counters()
  /// The open documents.
  public var documents: [Document] = []
}
