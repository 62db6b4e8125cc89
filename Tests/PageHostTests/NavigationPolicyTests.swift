import Testing

@testable import PageHost

@Suite struct NavigationPolicyTests {
  let policy = NavigationPolicy(
    url: "https://Call.example:443/room?box=1", allowedOrigins: ["https://login.example", "http://localhost:8080/", "nonsense"])

  @Test(arguments: [
    ("https://call.example/other", true), ("https://CALL.example:443/", true), ("https://call.example:444/", false),
    ("http://call.example/", false),
    ("https://call.example.evil/", false), ("https://call.example@evil.example/", false),
    ("https://evil.example/https://call.example", false),
    ("https://login.example", true), ("http://localhost:8080/x", true), ("http://localhost/", false), ("https://", false),
    ("https:///x", false),
    ("about:blank", true), ("about:srcdoc", true), ("about:config", false), ("data:text/html,x", true),
    ("blob:https://call.example/1", true),
    ("file:///etc/passwd", false), ("tel:112", false), ("mailto:a@b", false), ("intent://x", false), ("webkit://gpu", false),
    ("ftp://call.example/", false),
    ("", false),
  ])
  func navigations(_ url: String, _ isAdmitted: Bool) {
    #expect((policy.verdict(on: url) == .admitted) == isAdmitted)
  }

  @Test(
    arguments: [
      ("https://a.example", "https://a.example"), ("HTTPS://A.example:443/x#y", "https://a.example"),
      ("http://a.example:80", "http://a.example"),
      ("http://a.example:443", "http://a.example:443"), ("https://[::1]:8443/", "https://[::1]:8443"),
      ("https://user@a.example/", "https://a.example"),
      ("ftp://a.example", nil), ("a.example", nil), ("", nil),
    ] as [(String, String?)])
  func origins(_ url: String, _ origin: String?) {
    #expect(NavigationPolicy.origin(of: url) == origin)
  }
}
