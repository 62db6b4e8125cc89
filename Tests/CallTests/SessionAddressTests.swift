import Base
import DTLS
import Net
import Testing

@testable import Call

@Suite struct SessionAddressTests {
  private func address(_ name: String, _ ip: String) -> InterfaceAddress {
    InterfaceAddress(name: name, ip: IPAddress(ip)!, isLoopback: name == "lo", isMulticast: true, prefix: 24, index: 1)
  }

  private var all: [InterfaceAddress] {
    [
      address("lo", "127.0.0.1"), address("eth0", "192.0.2.1"), address("eth0", "fe80::1"), address("wlan0", "198.51.100.1"),
      address("wlan0", "2001:db8::1"),
    ]
  }

  @Test(
    arguments: [
      (nil, false, ["192.0.2.1", "198.51.100.1", "2001:db8::1"]), (["eth0"], false, ["192.0.2.1"]),
      (["eth0"], true, ["192.0.2.1", "127.0.0.1"]), (["wlan0", "usb0"], false, ["198.51.100.1", "2001:db8::1"]),
      // A box whose interface is away has no other way out.
      (["usb0"], false, ["127.0.0.1"]),
    ] as [([String]?, Bool, [String])])
  func candidatesComeFromTheNamedInterfaces(interfaces: [String]?, includesLoopback: Bool, expected: [String]) throws {
    var configuration = PeerSession.Configuration(certificate: try Certificate.generate())
    (configuration.interfaces, configuration.includesLoopback) = (interfaces, includesLoopback)
    #expect(PeerSession.addresses(configuration, among: all).map(\.description) == expected)
  }
}
