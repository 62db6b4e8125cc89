import Base
import Glibc
import Net
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPClientTests {
  let client = HTTPClient()

  func url(_ server: HTTPServer, _ path: String = "/") throws -> HTTPURL { try HTTPURL(server.origin + path) }

  @Test(arguments: ["GET", "POST", "PATCH", "DELETE", "OPTIONS", "PUT"]) func aRequestArrivesAsItWasMadeAndTheAnswerComesBack(
    method: String
  ) async throws {
    let server = try HTTPServer { request in
      var response = HTTPResponse(207, body: request.body + Array(request.url.description.utf8))
      response.headers.add("X-Method", request.method)
      response.headers.add("X-Echo", request.headers["x-custom"] ?? "")
      response.headers.add("X-Echo", "\(request.headers["Content-Type"] ?? "no type")")
      return response
    }
    defer { server.stop() }
    let body: [UInt8] = method == "GET" || method == "OPTIONS" ? [] : [UInt8](repeating: 65, count: 5_000)
    let response = try await client.send(HTTPRequest(method, try url(server, "/a%20b?c=d%26"), headers: ["X-Custom": "yes"], body: body))
    #expect(response.status == 207)
    #expect(response.headers["x-method"] == method)
    #expect(response.headers.all("X-ECHO") == ["yes", "no type"])
    #expect(response.body == body + Array("\(server.origin)/a%20b?c=d%26".utf8))
  }

  @Test func aHundredRequestsAtOnceAreAllAnswered() async throws {
    let server = try HTTPServer { HTTPResponse(200, body: Array($0.url.path.utf8)) }
    defer { server.stop() }
    let base = try url(server)
    let answered = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<100 {
        group.addTask { [client] in
          let response = try? await client.send(HTTPRequest("GET", try base.resolving("/\(index)")))
          return response?.body == Array("/\(index)".utf8)
        }
      }
      return await group.reduce(into: 0) { count, isRight in count += isRight ? 1 : 0 }
    }
    #expect(answered == 100)
  }

  @Test func redirectionsKeepSecretsWithinTheirOrigin() async throws {
    let target = try HTTPServer { HTTPResponse(200, body: Array("\($0.method) \($0.headers["Authorization"] ?? "none")".utf8)) }
    defer { target.stop() }
    let server = try HTTPServer { [origin = target.origin] request in
      switch request.url.path {
      case "/away": HTTPResponse(307, headers: ["Location": origin + "/there"])
      case "/here": HTTPResponse(308, headers: ["Location": "/end"])
      case "/see": HTTPResponse(303, headers: ["Location": "end"])
      case "/loop": HTTPResponse(302, headers: ["Location": "/loop"])
      default: HTTPResponse(200, body: Array("\(request.method) \(request.headers["Authorization"] ?? "none")".utf8))
      }
    }
    defer { server.stop() }
    func ask(_ path: String) async throws -> String {
      let response = try await client.send(
        HTTPRequest("POST", try url(server, path), headers: ["Authorization": "Bearer t"], body: [1]), options: .init(maximumRedirects: 3))
      return String(decoding: response.body, as: UTF8.self)
    }
    #expect(try await ask("/away") == "POST none")
    #expect(try await ask("/here") == "POST Bearer t")
    #expect(try await ask("/see") == "GET Bearer t")
    await #expect(throws: HTTPError.redirect(reason: "more than 3 in a row")) { try await ask("/loop") }
    let plain = try await client.send(HTTPRequest("GET", try url(server, "/here")))
    #expect(plain.status == 308)
  }

  @Test func aRedirectionFromHTTPSToHTTPIsRefused() throws {
    let request = HTTPRequest("GET", try HTTPURL("https://a.example/"))
    #expect(throws: HTTPError.redirect(reason: "it leads from https to http")) {
      try HTTPClient.redirected(request, HTTPResponse(302, headers: ["Location": "http://a.example/"]))
    }
  }

  @Test func aPortThatNobodyListensOnIsNamed() async throws {
    let server = try HTTPServer { _ in HTTPResponse(200) }
    let address = server.address
    server.stop()
    await #expect(throws: HTTPError.refused(host: "127.0.0.1", port: address.port)) {
      try await client.send(HTTPRequest("GET", try HTTPURL("http://\(address)/")))
    }
  }

  @Test func anAnswerThatIsTooLongIsRefused() async throws {
    let server = try HTTPServer { _ in HTTPResponse(200, body: [UInt8](repeating: 1, count: 1_001)) }
    defer { server.stop() }
    await #expect(throws: HTTPError.tooLarge(limit: 1_000)) {
      try await client.send(HTTPRequest("GET", try url(server)), options: .init(maximumBody: 1_000))
    }
    #expect(try await client.send(HTTPRequest("GET", try url(server)), options: .init(maximumBody: 1_001)).body.count == 1_001)
  }

  @Test func aServerThatDoesNotAnswerTimesOutAndACancelledRequestEnds() async throws {
    let server = try HTTPServer { _ in
      try? await Task.sleep(for: .seconds(600))
      return HTTPResponse(200)
    }
    defer { server.stop() }
    let request = HTTPRequest("GET", try url(server))
    await #expect(throws: HTTPError.timedOut(host: "127.0.0.1")) {
      try await client.send(request, options: .init(timeout: .milliseconds(30)))
    }
    let task = Task { [client] in try await client.send(request) }
    task.cancel()
    await #expect(throws: HTTPError.cancelled) { try await task.value }
    let closed = HTTPClient()
    closed.close()
    await #expect(throws: HTTPError.cancelled) { try await closed.send(request) }
  }

  /// One request as a proxy sees it, which answers.
  private func request(by proxy: TCPStreamTests.Listener, _ answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") async
    -> String
  {
    let peer = await proxy.accept()
    var head = ""
    while !head.hasSuffix("\r\n\r\n") {
      let part = await blocking {
        var byte: UInt8 = 0
        return recv(peer, &byte, 1, 0) == 1 ? byte : nil
      }
      guard let part else { break }
      head.unicodeScalars.append(Unicode.Scalar(part))
    }
    send(peer, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
    close(peer)
    return head
  }

  @Test func proxyIsAskedInPlaceOfTheServer() async throws {
    let listener = TCPStreamTests.Listener()
    var proxy = HTTPProxy(url: "http://\(listener.address)")
    (proxy.username, proxy.password, proxy.exceptions) = ("box", "pa$$:\"", [".direct.invalid"])
    let client = HTTPClient(proxy: proxy)
    let task = Task { try await client.send(HTTPRequest("GET", try HTTPURL("http://sfu.invalid/whip"))) }
    // It says first that it wants to know who asks.
    let first = await request(
      by: listener, "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    #expect(first.hasPrefix("GET http://sfu.invalid/whip HTTP/1.1\r\n") && !first.contains("Proxy-Authorization"))
    let second = await request(by: listener)
    #expect(second.contains("Proxy-Authorization: Basic Ym94OnBhJCQ6Ig==\r\n"))
    #expect(try await task.value.body == Array("hi".utf8))
    // To a server with TLS it only opens the way.
    let secure = Task { try await client.send(HTTPRequest("GET", try HTTPURL("https://sfu.invalid/whip"))) }
    let third = await request(by: listener, "HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    #expect(third.hasPrefix("CONNECT sfu.invalid:443 HTTP/1.1\r\n"))
    await #expect(throws: HTTPError.self) { try await secure.value }
    // What is excepted, and this machine, are asked directly.
    let direct = await #expect(throws: HTTPError.self) {
      try await client.send(HTTPRequest("GET", try HTTPURL("http://a.direct.invalid/")))
    }
    #expect(direct.map { "\($0)".contains("a.direct.invalid") } == true)
    let server = try HTTPServer { _ in HTTPResponse(204) }
    defer { server.stop() }
    #expect(try await client.send(HTTPRequest("GET", try url(server))).status == 204)
  }

  @Test func whatIsNotHTTPIsAnError() async throws {
    let listener = TCPStreamTests.Listener()
    let request = HTTPRequest("GET", try HTTPURL("http://\(listener.address)/"))
    let task = Task { [client] in try await client.send(request) }
    let peer = await listener.accept()
    send(peer, "SSH-2.0-OpenSSH\r\n\r\n", 19, 0)
    close(peer)
    let error = await #expect(throws: HTTPError.self) { try await task.value }
    #expect(error.map { ["http.invalid", "http.unreachable"].contains($0.code) } == true)
  }

  @Test(arguments: TCPStreamTests.cases) func theServersCertificateDecides(_ item: TCPStreamTests.TLSCase) async throws {
    let certificates = TestCertificates()
    defer { certificates.remove() }
    let server = try HTTPServer(identity: certificates.identity(item.names, days: item.days)) { _ in HTTPResponse(204) }
    defer { server.stop() }
    let trusting = HTTPClient(trust: item.isTrusted ? try TrustStore(files: [certificates.file], includingSystem: false) : .system)
    // By address: names of the tests do not resolve.
    let request = HTTPRequest("GET", try url(server))
    switch item.expected {
    case nil: #expect(try await trusting.send(request).status == 204)
    case .nameMismatch(_, let names):
      await #expect(throws: HTTPError.tls(.nameMismatch(expected: "127.0.0.1", names: names))) { try await trusting.send(request) }
    case let error?: await #expect(throws: HTTPError.tls(error)) { try await trusting.send(request) }
    }
  }
}
