import Base
import Call
import Stage
import Testing

@testable import Appliance

@Suite struct BoxStatisticsTests {
  @Test func everyDiscardIsSeen() {
    var statistics = BoxStatistics([], screen: LatencyRecorder(), stage: Stage(width: 64, height: 36).statistics)
    #expect(statistics.discards.isEmpty)
    var server = Counters()
    server.count("wayland.refused")
    server.count("input.unclaimed", 2)
    statistics.add(server)
    statistics.add(server)
    #expect(statistics.discards == ["wayland.refused": 2, "input.unclaimed": 4])
  }
}
