import Base
import Testing

@testable import ICE

@Suite struct CandidateTests {
  @Test(arguments: [
    "candidate:1 1 udp 2113937151 192.0.2.1 54400 typ host",
    "candidate:842163049 1 udp 1677729535 198.51.100.7 46154 typ srflx raddr 10.0.0.1 rport 46154 ufrag EsAw",
    "candidate:3 1 tcp 1518214911 2001:db8::1 9 typ host tcptype active",
    "candidate:r 1 udp 41885439 203.0.113.9 50000 typ relay raddr 0.0.0.0 rport 0",
    "candidate:5 1 udp 2113937151 9b36eaac-bb2e-49bb-bb78-21c41c499900.local 54400 typ host",
  ])
  func `a candidate is written as it was read`(text: String) throws {
    #expect(try Candidate(parsing: text).description == text)
    #expect(try Candidate(parsing: "a=" + text + "\r\n").description == text)
    #expect(try Candidate(parsing: String(text.dropFirst("candidate:".count))).description == text)
  }

  @Test func `what browsers add is passed over`() throws {
    let text =
      "candidate:1467250027 1 UDP 2122260223 192.168.0.196 46243 TYP host generation 0 ufrag 8hhY network-id 1 network-cost 50 odd"
    let candidate = try Candidate(parsing: text)
    #expect(candidate.description == "candidate:1467250027 1 udp 2122260223 192.168.0.196 46243 typ host ufrag 8hhY")
  }

  @Test func `a name leaves the address open`() throws {
    let candidate = try Candidate(parsing: "candidate:1 1 udp 1 some-name.local 5000 typ host")
    #expect(candidate.hostName == "some-name.local")
    #expect(candidate.address.ip.isUnspecified && candidate.address.port == 5000)
  }

  @Test(arguments: [
    ("", CandidateError.missing(field: "foundation")),
    ("candidate:1 1 udp", .missing(field: "priority")),
    ("candidate:1 1 udp 5 192.0.2.1 5000", .missing(field: "typ")),
    ("candidate:1 0 udp 5 192.0.2.1 5000 typ host", .invalid(field: "component", value: "0")),
    ("candidate:1 1 sctp 5 192.0.2.1 5000 typ host", .unsupportedTransport("sctp")),
    ("candidate:1 1 udp 4294967296 192.0.2.1 5000 typ host", .invalid(field: "priority", value: "4294967296")),
    ("candidate:1 1 udp -1 192.0.2.1 5000 typ host", .invalid(field: "priority", value: "-1")),
    ("candidate:1 1 udp 5 192.0.2.1 65536 typ host", .invalid(field: "port", value: "65536")),
    ("candidate:1 1 udp 5 300::x 5000 typ host", .invalid(field: "address", value: "300::x")),
    ("candidate:1 1 udp 5 192.0.2.1 5000 typ guest", .invalid(field: "type", value: "guest")),
    ("candidate:1 1 udp 5 192.0.2.1 5000 kind host", .invalid(field: "typ", value: "kind")),
    ("candidate:1 1 tcp 5 192.0.2.1 5000 typ host tcptype odd", .invalid(field: "tcptype", value: "odd")),
  ])
  func `a malformed candidate is refused with the field's name`(text: String, error: CandidateError) {
    #expect(throws: error) { try Candidate(parsing: text) }
  }
}
