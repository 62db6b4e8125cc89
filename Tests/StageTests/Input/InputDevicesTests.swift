import Base
import Testing

@testable import Stage

/// What can be seen without devices; the rest is tested on a kernel that has some.
@Suite struct InputDevicesTests {
  @Test func machineWithoutItsButtonKeepsLookingForIt() throws {
    let devices = InputDevices(callButton: GPIOLine(chip: "/nonexistent/gpiochip9", line: 3))
    var events: [DeviceEvent] = []
    #expect(devices.deadline == .zero)
    let now = StageThread.now()
    devices.dispatch(now: now, into: &events)
    #expect(!events.contains { if case .callButton = $0.kind { true } else { false } })
    let deadline = try #require(devices.deadline)
    #expect(deadline > now && deadline <= now + .seconds(5))
    devices.dispatch(now: deadline, into: &events)
    #expect(try #require(devices.deadline) > deadline)
  }

  @Test func devicesAreLetGoOfAndTakenBack() {
    let devices = InputDevices()
    var events: [DeviceEvent] = []
    devices.suspend()
    devices.dispatch(now: StageThread.now(), into: &events)
    // Nothing is opened while the screen is somebody else's.
    #expect(events.isEmpty)
    devices.resume()
    devices.suspend()
    devices.dispatch(now: StageThread.now(), into: &events)
    let added = events.filter { if case .added = $0.kind { true } else { false } }
    #expect(added.count == events.filter { $0.kind == .removed }.count)
  }
}
