import Net
import Testing

@Suite struct HTTPURLTests {
  @Test func theParts() throws {
    let url = try HTTPURL("HTTPS://Example.ORG/a/b?c=d#e")
    #expect(url.scheme == "https" && url.host == "example.org" && url.port == 443 && url.path == "/a/b" && url.query == "c=d")
    #expect(url.origin == "https://example.org:443")
    #expect(!"\(url)".contains("#"))
    let six = try HTTPURL("http://[::1]:8080")
    #expect(six.host == "::1" && six.port == 8080 && six.path == "/" && six.isLoopback && six.origin == "http://[::1]:8080")
  }

  @Test(arguments: [
    ("/whip/1", "https://a.example:8443/whip/1"), ("2", "https://a.example:8443/x/2"), ("../up", "https://a.example:8443/up"),
    ("?q", "https://a.example:8443/x/y?q"), ("//b.example/z", "https://b.example/z"), ("http://c.example/", "http://c.example/"),
  ]) func referencesAreResolved(reference: String, expected: String) throws {
    #expect("\(try HTTPURL("https://a.example:8443/x/y?p").resolving(reference))" == expected)
  }

  @Test(arguments: [
    "", "example.org", "/path", "ftp://example.org/", "https://", "https://a b/", "https://user:secret@example.org/", "http://a:99999/",
    "data:,x",
  ])
  func whatCannotBeAskedIsRefused(text: String) {
    let error = #expect(throws: HTTPURLError.self) { try HTTPURL(text) }
    #expect(error.map { "\($0)".contains("secret") } == false)
  }
}
