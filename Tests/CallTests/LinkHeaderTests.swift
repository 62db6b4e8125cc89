import Call
import Testing

@Suite struct LinkHeaderTests {
  @Test func theServersOfTheRFCsExample() {
    let value =
      #"<stun:stun.example.net>; rel="ice-server", <turn:turn.example.net?transport=udp>; rel="ice-server"; username="user"; credential="myPassword"; credential-type="password""#
    let servers = LinkHeader.parse(value).compactMap(ICEServer.init)
    #expect(
      servers == [
        ICEServer(url: "stun:stun.example.net"),
        ICEServer(url: "turn:turn.example.net?transport=udp", username: "user", credential: "myPassword"),
      ])
  }

  @Test func quotedTextMayHoldWhatElseSeparates() {
    let links = LinkHeader.parse(#" , <a>;rel=x;title="a, \"b\"; <c>" ,, <d> ; rel = "y Z" ; flag"#)
    #expect(links.map(\.target) == ["a", "d"])
    #expect(links[0]["title"] == #"a, "b"; <c>"#)
    #expect(links[1].relations == ["y", "z"])
    #expect(links[1]["flag"] == "")
  }

  @Test(arguments: ["", "x", "<a", "<a>; rel=\"x", "<a>; rel=\"x\\", "<a> junk", "a, <b>"]) func whatIsNoLinkEndsTheReading(value: String) {
    #expect(LinkHeader.parse(value).isEmpty)
    #expect(LinkHeader.parse("<good>; rel=r, " + value).first?.target == "good")
  }

  @Test func aLinkReadsAsItWasWritten() {
    let server = ICEServer(url: "turn:a", username: #"a "quoted\name", x"#, credential: "p;w\"\u{301}\\")
    #expect(LinkHeader.parse(server.linkHeader.description).compactMap(ICEServer.init) == [server])
  }

  @Test(arguments: [
    #"<https://a>; rel="ice-server""#, #"<turn:>; rel="ice-server""#, #"<turn:a>; rel="help""#,
    #"<turn:a>; rel="ice-server"; credential-type="oauth""#,
  ]) func otherLinksAreNoICEServers(value: String) { #expect(LinkHeader.parse(value).compactMap(ICEServer.init).isEmpty) }
}
