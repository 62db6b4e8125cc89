import Base
import Testing

@testable import Net

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

  @Test func everyInterfaceButTheLoopbackIsListed() {
    let names = NetworkInterfaces.all().map(\.name)
    #expect(!names.contains("lo") && names == names.sorted())
    let usable = Set(NetworkInterfaces.addresses().filter { !$0.isLoopback && !$0.ip.isLinkLocal }.map(\.name))
    for interface in NetworkInterfaces.all() where usable.contains(interface.name) { #expect(interface.state == .ready) }
  }

  @Test func itIsToldWhatAnInterfaceLacks() {
    let addresses = ["fe80::1", "2001:db8::1", "169.254.3.4", "192.0.2.7"].map { IPAddress($0)! }
    func interface(isUp: Bool = true, isRunning: Bool = true, _ addresses: [IPAddress]) -> NetworkInterface {
      NetworkInterfaces.interface("eth0", isUp: isUp, isRunning: isRunning, isWireless: false, addresses: addresses)
    }
    #expect(interface(isUp: false, isRunning: false, []).state == .off)
    #expect(interface(isRunning: false, addresses).state == .withoutLink)
    #expect(interface([addresses[0], addresses[2]]).state == .withoutAddress)
    #expect(interface(addresses).state == .ready && interface(addresses).addresses == [addresses[3], addresses[1]])
  }
}
