import Base
import Foundation
import Net
import Testing

@testable import Call

@Suite(.serialized) struct DemoSiteTests {
  private func ask(_ method: String, _ url: String, _ body: String = "") async throws -> HTTPResponse {
    let client = HTTPClient()
    return try await client.send(
      HTTPRequest(method, try HTTPURL(url), headers: ["Content-Type": "application/json"], body: Array(body.utf8)))
  }

  @Test func pageIsServedAndNeedsNothingElse() async throws {
    let site = try await DemoSite()
    let page = try await ask("GET", site.url)
    let text = String(decoding: page.body, as: UTF8.self)
    #expect(page.status == 200 && page.headers.mediaType == "text/html" && text.hasPrefix("<!doctype html>"))
    #expect(!text.contains("http:") && !text.contains("https:"))
    for name in ["style.css", "call.js"] {
      #expect(text.contains("\"\(name)\""))
      let file = try await ask("GET", site.url + name)
      #expect(file.status == 200 && !file.body.isEmpty)
    }
    await site.stop()
  }

  @Test func wrongRequestsAreRefused() async throws {
    let site = try await DemoSite()
    for (method, path, body, status) in [
      ("GET", "style.html", "", 404), ("PUT", "calls", "{}", 404), ("POST", "calls", "", 400),
      ("POST", "calls", "{\"sdp\":1}", 400), ("POST", "calls", "{\"sdp\":\"v=0\"}", 422), ("POST", "calls/x/candidates", "{}", 400),
      ("POST", "calls/x/candidates", "{\"candidate\":\"candidate:1\",\"sdpMid\":\"0\"}", 422), ("POST", "calls/x/end", "", 204),
    ] { #expect(try await ask(method, site.url + path, body).status == status, "\(method) \(path) \(body)") }
    #expect(site.times.started == nil && site.times.connected == nil)
    #expect(try await ask("POST", site.url + "started", "{}").status == 204)
    #expect(site.times.started != nil && site.peer.sessionCount == 0)
    await site.stop()
  }
}
