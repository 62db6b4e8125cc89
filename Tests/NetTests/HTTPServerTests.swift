import Base
import Glibc
import Net
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPServerTests {
  /// Sends bytes as they are, and that no more follow where `isEnd`, and reads until the server closes.
  func raw(_ server: HTTPServer, _ text: String, isEnd: Bool = false) async -> String {
    let address = server.address
    return await blocking {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var storage = sockaddr_in()
      storage.sin_family = sa_family_t(AF_INET)
      storage.sin_port = address.port.bigEndian
      storage.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = withUnsafePointer(to: &storage) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) } }
      send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
      if isEnd { shutdown(descriptor, Int32(SHUT_WR)) }
      var (answer, buffer) = ("", [UInt8](repeating: 0, count: 4_096))
      while case let count = recv(descriptor, &buffer, 4_096, 0), count > 0 { answer += String(decoding: buffer[..<count], as: UTF8.self) }
      return answer
    }
  }

  @Test func contentThatIsTooLongIsRefusedBeforeItIsRead() async throws {
    let server = try HTTPServer(maximumBody: 100) { _ in HTTPResponse(200) }
    defer { server.stop() }
    let client = HTTPClient()
    let url = try HTTPURL(server.origin)
    #expect(try await client.send(HTTPRequest("POST", url, body: [UInt8](repeating: 1, count: 100))).status == 200)
    #expect(try await client.send(HTTPRequest("POST", url, body: [UInt8](repeating: 1, count: 101))).status == 413)
  }

  @Test func malformedRequestsAreAnsweredOrCutAndTheServerLivesOn() async throws {
    let server = try HTTPServer { _ in HTTPResponse(200) }
    defer { server.stop() }
    #expect(await raw(server, "GET * HTTP/1.0\r\nHost: a\r\n\r\n").contains(" 400 "))
    #expect(await raw(server, "GET / HTTP/1.0\r\nHost: a b\r\n\r\n").contains(" 400 "))
    #expect(await !raw(server, "\u{0}\u{1}\u{2}\r\n\r\n\r\n", isEnd: true).contains(" 200 "))
    #expect(await raw(server, "GET / HTTP/1.0\r\nHost: a\r\n\r\n").contains(" 200 "))
  }

  @Test func theEndOfTheServerIsTheEndOfWaiting() async throws {
    let entered = Arrivals<Void>()
    let server = try HTTPServer { _ in
      entered.add(())
      try? await Task.sleep(for: .seconds(600))
      return HTTPResponse(200)
    }
    let request = HTTPRequest("GET", try HTTPURL(server.origin))
    let task = Task { try await HTTPClient().send(request) }
    _ = await entered.next()
    server.stop()
    server.stop()
    // Answered or cut, as it comes; but over, ten minutes early.
    switch await task.result {
    case .success(let response): #expect(response.status == 503)
    case .failure(let error): #expect((error as? HTTPError)?.code == "http.unreachable")
    }
  }

  @Test func aPortInUseIsAnErrorThatNamesIt() throws {
    let server = try HTTPServer { _ in HTTPResponse(200) }
    defer { server.stop() }
    let error = #expect(throws: SystemError.self) { try HTTPServer(on: server.address) { _ in HTTPResponse(200) } }
    #expect(error.map { "\($0)" } == "listen on \(server.address): Address already in use")
  }
}
