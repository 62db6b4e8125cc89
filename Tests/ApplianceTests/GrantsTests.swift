import Testing

@testable import Appliance

@Suite struct GrantsTests {
  private func origin(_ text: String) throws -> Origin { try #require(Origin(text)) }

  @Test func grantIsForItsOriginAndItsDeviceAlone() throws {
    var grants = Grants()
    let isAdded = grants.add(Grants.Grant(origin: try origin("https://calls.example.org"), camera: true, microphone: false))
    #expect(isAdded)
    #expect(grants.allow(.camera, for: .page(try origin("https://CALLS.example.org:443"))))
    #expect(!grants.allow(.microphone, for: .page(try origin("https://calls.example.org"))))
    for other in [
      "http://calls.example.org", "https://calls.example.org:8443", "https://example.org", "https://calls.example.org.evil.org",
    ] {
      #expect(!grants.allow(.camera, for: .page(try origin(other))), "\(other)")
    }
  }

  @Test func originHasOneGrant() throws {
    var grants = Grants()
    let grant = Grants.Grant(origin: try origin("https://a"), camera: true, microphone: true)
    let results = [grants.add(grant), grants.add(grant)]
    #expect(results == [true, false])
    #expect(grants.all.count == 1)
  }

  @Test func directCallIsGrantedByTheFileThatNamesIt() {
    #expect(Grants().allow(.camera, for: .directCall) && Grants().allow(.microphone, for: .directCall))
  }
}

@Suite struct OriginTests {
  @Test(arguments: [
    ("https://a.example", "https://a.example"), ("HTTPS://A.EXAMPLE:443", "https://a.example"),
    ("https://a.example:8443", "https://a.example:8443"),
    ("http://localhost:80", "http://localhost"), ("http://[::1]:8080", "http://[::1]:8080"), ("https://192.0.2.1", "https://192.0.2.1"),
  ])
  func originIsCanonical(text: String, expected: String) { #expect(Origin(text)?.description == expected) }

  @Test(arguments: [
    "", "a.example", "ftp://a.example", "https://", "https://a.example/", "https://a.example/x", "https://a:b@c", "https://a:0",
    "https://a:65536",
    "https://a:", "https://a b", "https://*.example.org", "https://a?x", "https://ä.example", "null",
  ])
  func anythingElseIsRefused(text: String) { #expect(Origin(text) == nil) }

  @Test func urlHasItsOrigin() {
    #expect(Origin(url: "https://a.example:8443/x/y?z#w")?.description == "https://a.example:8443")
    #expect(Origin(url: "data:text/html,x") == nil)
  }

  @Test func onlyHTTPSAndThisMachineAreSecure() {
    #expect(["https://a", "http://localhost", "http://127.0.0.1:80", "http://[::1]"].allSatisfy { Origin($0)?.isSecure == true })
    #expect(["http://a", "http://localhost.evil.org", "http://128.0.0.1"].allSatisfy { Origin($0)?.isSecure == false })
  }
}
