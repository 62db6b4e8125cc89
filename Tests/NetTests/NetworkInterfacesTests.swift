import Base
import Net
import Testing

@Suite struct NetworkInterfacesTests {
  @Test func theLoopbackIsListedWithItsPrefix() {
    let loopback = NetworkInterfaces.addresses().first { $0.ip == .loopback4 }
    #expect(loopback?.isLoopback == true)
    #expect(loopback?.prefix == 8)
    #expect(loopback?.index != 0)
  }

  @Test func theMonitorKnowsTheAddressesAndStops() async {
    let fixture = LoopFixture()
    let loop = fixture.loop
    let addresses = await loop.perform { () -> [InterfaceAddress]? in
      guard let monitor = try? NetworkMonitor(loop: loop, changed: { _ in }) else { return nil }
      defer { monitor.stop() }
      return monitor.addresses
    }
    #expect(addresses == NetworkInterfaces.addresses())
  }
}
