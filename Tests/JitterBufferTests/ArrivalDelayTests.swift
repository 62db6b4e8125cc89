import Base
import Testing

@testable import JitterBuffer

struct ArrivalDelayTests {
  @Test func theTargetCoversNearlyAllPackets() {
    var delay = ArrivalDelay()
    #expect(delay.target == .milliseconds(20))
    for index in 0..<500 {
      let late = index % 10 == 0 ? 45 : 0
      delay.add(mediaTime: .milliseconds(Int64(index) * 20), arrival: instant(1_000 + index * 20 + late))
    }
    #expect(delay.target == .milliseconds(60))
    #expect(delay.fastest == .milliseconds(1_000))
  }

  @Test func aFasterRouteIsTakenUpAtOnceAndASlowerOneAfterTheWindow() {
    var delay = ArrivalDelay()
    func add(_ range: Range<Int>, transit: Int) {
      for index in range { delay.add(mediaTime: .milliseconds(Int64(index) * 20), arrival: instant(index * 20 + transit)) }
    }
    add(0..<100, transit: 100)
    add(100..<101, transit: 40)
    #expect(delay.fastest == .milliseconds(40))
    add(101..<400, transit: 300)
    #expect(delay.fastest == .milliseconds(300))
    add(400..<900, transit: 300)
    #expect(delay.target == .milliseconds(20))
  }
}
