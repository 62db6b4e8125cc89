import Base
import Call
import FoundationEssentials
import Frames
import Net
import Stage
import Testing

@testable import Appliance

@Suite struct BoxStatisticsTests {
  @Test func everyDiscardIsSeen() {
    let stage = Stage(width: 64, height: 36)
    var statistics = BoxStatistics([], screen: LatencyRecorder(), stage: stage.statistics, display: stage.displayStatus)
    #expect(statistics.discards.isEmpty)
    var server = Counters()
    server.count("wayland.refused")
    server.count("input.unclaimed", 2)
    statistics.add(server)
    statistics.add(server)
    #expect(statistics.discards == ["wayland.refused": 2, "input.unclaimed": 4])
  }

  @Test func stageTellsHowLongPicturesTake() throws {
    let stage = Stage(width: 64, height: 36)
    let now = MonotonicClock.now()
    var frame = VideoFrame(buffer: VideoBuffer(width: 64, height: 36))
    frame.ledger[.decode] = now - .milliseconds(5)
    stage.show(remote: frame)
    stage.present(now: now)
    let statistics = BoxStatistics([], screen: LatencyRecorder(), stage: stage.statistics, display: stage.displayStatus)
    let json = try JSONDecoder().decode([String: JSON].self, from: try JSONEncoder().encode(statistics.stage))
    #expect(json["flips"] == .integer(1) && json["missed_flips"] == .integer(0) && json["planes"] == .integer(0))
    #expect(statistics.stage.readyToFlip?.p95 == 5 && statistics.stage.readyToFlip?.count == 1)
    #expect(json["ready_to_flip_ms"] != nil && json["compose_ms"] != nil)
  }
}
