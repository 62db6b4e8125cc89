import Base
import Call
import Net
import Synchronization
import Testing

/// Client and server of this project against each other.
@Suite(.timeLimit(.minutes(1))) struct WHIPTests {
  final class Peer: Sendable {
    let events = Mutex<[String]>([])
    func add(_ event: String) { events.withLock { $0.append(event) } }
    var all: [String] { events.withLock { $0 } }

    func serve(_ change: (inout WHIPServer.Options) -> Void = { _ in }) throws -> WHIPServer {
      var options = WHIPServer.Options()
      change(&options)
      return try WHIPServer(
        options: options,
        handlers: .init(
          offer: { kind, _, offer in
            self.add("\(kind) \(offer)")
            return offer == "bad" ? .failure(.unprocessable("no codec in common")) : .success("answer to \(offer)")
          },
          trickle: { _, fragment, isRestart in
            self.add("\(isRestart ? "restart" : "trickle") \(fragment.media.flatMap(\.candidates).joined(separator: "+"))")
            return .success(isRestart ? SDPFragment(usernameFragment: "wxyz", password: "0123456789012345678901") : nil)
          }, ended: { _ in self.add("ended") }))
    }
  }

  let http = HTTPClient()
  let fragment = SDPFragment(media: [.init(mid: "0", candidates: ["candidate:1"])]).description

  func client(_ url: String, token: String? = nil) throws -> WHIPClient {
    WHIPClient(endpoint: try SignallingEndpoint(url: url, token: token), client: http)
  }

  @Test(arguments: [WHIPServer.Kind.publish, .play]) func aSessionFromOfferToEnd(kind: WHIPServer.Kind) async throws {
    let peer = Peer()
    let turn = ICEServer(url: "turn:turn.example.org", username: "u", credential: "p")
    let server = try peer.serve {
      $0.token = "secret"
      $0.iceServers = [turn]
    }
    let client = try client(server.url(kind), token: "secret")
    #expect(try await client.preflight() == .init(iceServers: [turn], acceptsOffers: true))
    let answer = try await client.post(offer: "offer")
    #expect(answer.sdp == "answer to offer" && answer.iceServers == [turn] && answer.etag == "\"0\"")
    #expect(answer.resource.hasPrefix(server.url(kind) + "/"))
    #expect(server.sessionIdentifiers.count == 1)
    #expect(try await client.patch(fragment))
    let restarted = try await client.restart(fragment)
    #expect(restarted.usernameFragment == "wxyz")
    #expect(try await client.patch(fragment))  // with the new tag
    try await client.delete()
    try await client.delete()
    #expect(peer.all == ["\(kind) offer", "trickle candidate:1", "restart candidate:1", "trickle candidate:1", "ended"])
    #expect(server.sessionIdentifiers.isEmpty)
    await #expect(throws: SignallingError.noSession) { try await client.patch(fragment) }
    await server.stop()
  }

  @Test func changesOfASessionArriveInTheOrderTheyWereAskedFor() async throws {
    let peer = Peer()
    let server = try peer.serve()
    let client = try client(server.url(.publish))
    _ = try await client.post(offer: "o")
    var tasks: [Task<Bool, any Error>] = []
    for index in 0..<20 {
      let text = SDPFragment(media: [.init(mid: "0", candidates: ["candidate:\(index)"])]).description
      tasks.append(Task { try await client.patch(text) })
      await Task.yield()
    }
    for task in tasks { #expect(try await task.value) }
    let trickled = peer.all.dropFirst()
    #expect(Set(trickled).count == 20)
    await server.stop()
    #expect(peer.all.last == "ended")
  }

  @Test func aWrongTokenIsUnauthorizedAndSaysSo() async throws {
    let server = try Peer().serve { $0.token = "secret" }
    for token in [nil, "secres", "secret1"] as [String?] {
      let client = try client(server.url(.publish), token: token)
      let error = await #expect(throws: SignallingError.self) { try await client.post(offer: "o") }
      #expect(error?.code == "call.unauthorized")
      #expect(error.map { "\($0)" } == "the server does not accept the token (401)")
      #expect(error?.isTransient == false)
    }
    await server.stop()
  }

  @Test func whatTheHandlerRefusesReachesTheClientWithItsReason() async throws {
    let peer = Peer()
    let server = try peer.serve { $0.maximumSessions = 1 }
    let client = try client(server.url(.publish))
    await #expect(throws: SignallingError.refused(.unprocessable, status: 422, detail: "no codec in common")) {
      try await client.post(offer: "bad")
    }
    _ = try await client.post(offer: "one")
    await #expect(throws: SignallingError.busy(status: 503, retryAfter: .seconds(5))) { try await client.post(offer: "two") }
    await #expect(throws: SignallingError.refused(.badRequest, status: 400, detail: "line 1: \"junk\" is no SDP line")) {
      try await client.patch("junk")
    }
    server.end(server.sessionIdentifiers[0])
    let error = await #expect(throws: SignallingError.self) { try await client.patch(fragment) }
    #expect(error?.code == "call.not-found")
    await server.stop()
  }

  @Test func requestsThatAreNotWHIPGetTheirStatus() async throws {
    let server = try Peer().serve { $0.allowsPages = true }
    let base = "http://\(server.address)"
    func status(_ method: String, _ path: String, _ headers: HTTPHeaders = [:], _ body: String = "x") async throws -> Int {
      try await http.send(HTTPRequest(method, try HTTPURL(base + path), headers: headers, body: Array(body.utf8))).status
    }
    let sdp: HTTPHeaders = ["Content-Type": "Application/SDP; charset=utf-8"]
    #expect(try await status("GET", "/whip") == 405)
    #expect(try await status("POST", "/other", sdp) == 404)
    #expect(try await status("POST", "/whip", ["Content-Type": "text/plain"]) == 415)
    #expect(try await status("POST", "/whip", sdp, "") == 400)
    #expect(try await status("DELETE", "/whip/none") == 404)
    #expect(try await status("POST", "/whip", sdp) == 201)
    let path = "/whip/\(server.sessionIdentifiers[0])"
    #expect(try await status("DELETE", path.replacing("/whip/", with: "/whep/")) == 404)
    #expect(try await status("GET", path) == 405)
    #expect(try await status("PATCH", path, sdp) == 415)
    #expect(try await status("PATCH", path, ["Content-Type": "application/trickle-ice-sdpfrag", "If-Match": "\"9\""]) == 412)
    let preflight = try await http.send(HTTPRequest("OPTIONS", try HTTPURL(base + path)))
    #expect(
      preflight.headers["Access-Control-Allow-Methods"]?.contains("DELETE") == true
        && preflight.headers["Access-Control-Allow-Origin"] == "*")
    await server.stop()
  }
}
