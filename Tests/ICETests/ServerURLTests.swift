import Testing

@testable import ICE

@Suite struct ServerURLTests {
  @Test(arguments: [
    ("stun:stun.example.org", Server.Kind.stun, "stun.example.org", 3478),
    ("STUN:192.0.2.1:19302", .stun, "192.0.2.1", 19302),
    ("turn:turn.example.org?transport=udp", .turnUDP, "turn.example.org", 3478),
    ("turn:turn.example.org:80?transport=tcp", .turnTCP, "turn.example.org", 80),
    ("turns:turn.example.org", .turnTLS, "turn.example.org", 5349),
    ("turns:[2001:db8::1]:443?transport=tcp", .turnTLS, "2001:db8::1", 443),
    ("turn:[2001:db8::1]", .turnUDP, "2001:db8::1", 3478),
  ])
  func `a URL is read`(text: String, kind: Server.Kind, host: String, port: UInt16) throws {
    let url = try ServerURL(parsing: text)
    #expect(url.kind == kind && url.host == host && url.port == port)
  }

  @Test(arguments: [
    ("http://example.org", ServerURLError.unsupportedScheme("http")),
    ("stuns:example.org", .unsupportedScheme("stuns")),
    ("example.org", .unsupportedScheme("example.org")),
    ("stun:", .invalidHost("")),
    ("stun://example.org", .invalidPort("//example.org")),
    ("turn:[2001:db8::1", .invalidHost("[2001:db8::1")),
    ("turn:user@example.org", .invalidHost("user@example.org")),
    ("turn:example.org:0", .invalidPort("0")),
    ("turn:example.org:99999", .invalidPort("99999")),
    ("stun:example.org?transport=udp", .unsupportedTransport("transport=udp")),
    ("turns:example.org?transport=udp", .unsupportedTransport("transport=udp")),
  ])
  func `what cannot be used is refused with the reason`(text: String, error: ServerURLError) {
    if text == "stun://example.org" {
      #expect(throws: ServerURLError.self) { try ServerURL(parsing: text) }
    } else {
      #expect(throws: error) { try ServerURL(parsing: text) }
    }
  }
}
