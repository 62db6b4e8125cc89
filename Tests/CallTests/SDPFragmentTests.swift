import Call
import Testing

@Suite struct SDPFragmentTests {
  static let example =
    "a=group:BUNDLE 0 1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\n"
    + "a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1\r\n"
    + "a=candidate:3471623853 1 udp 2122194687 198.51.100.2 61765 typ host\r\na=end-of-candidates\r\n"

  @Test func aBrowsersFragmentIsRead() throws {
    let fragment = try SDPFragment(parsing: SDPFragmentTests.example)
    #expect(fragment.bundle == ["0", "1"])
    #expect(fragment.media.count == 1 && fragment.media[0].mid == "0" && fragment.media[0].isComplete)
    #expect(
      fragment.media[0].candidates.count == 2
        && fragment.media[0].candidates[1] == "candidate:3471623853 1 udp 2122194687 198.51.100.2 61765 typ host")
    #expect(fragment.credentials(of: fragment.media[0]) == ("EsAw", "P2uYro0UCOQ4zxjKXaWCBui1"))
    #expect(fragment.description == SDPFragmentTests.example)
  }

  @Test func credentialsForAllHoldWhereAPartHasNone() throws {
    var fragment = SDPFragment(
      usernameFragment: "abcd", password: "0123456789012345678901", media: [.init(mid: "a", candidates: ["candidate:1"])])
    fragment.isComplete = true
    let again = try SDPFragment(parsing: fragment.description)
    #expect(again == fragment)
    #expect(again.credentials(of: again.media[0]) == ("abcd", "0123456789012345678901"))
  }

  @Test func linesMayEndInALineFeedAloneAndUnknownOnesArePassedOver() throws {
    let fragment = try SDPFragment(parsing: "a=ice-options:trickle\na=ice-lite\nb=AS:1\n\nm=video 9 X 0\na=rtcp-mux\na=mid:v\n")
    #expect(fragment == SDPFragment(media: [.init(line: "video 9 X 0", mid: "v")]))
  }

  @Test(arguments: [
    ("hello", 1, "\"hello\" is no SDP line"), ("m=audio 9 X 0\r\na=candidate:1", 1, "a media part without a=mid"),
    ("a=ice-options:x\r\na=candidate:1", 2, "a candidate before the first media part"),
    ("a=ice-ufrag:abc", 1, "a user name fragment has 4 to 256 characters"),
    ("\r\na=ice-pwd:short", 2, "an ICE password has 22 to 256 characters"), ("a=mid:1", 1, "a=mid without a media part, or empty"),
    (String(repeating: "a=x\n", count: 1_001), 1_001, "too many lines"),
  ]) func errorsNameTheLine(text: String, line: Int, reason: String) {
    let error = #expect(throws: SDPFragmentError.self) { try SDPFragment(parsing: text) }
    #expect(error?.line == line && error?.reason == reason)
  }
}
