import Base
import BridgeMessages
import Bytes
import Foundation
import Glibc
import Synchronization

/// The other end of `bridge.sock`, as an extension with its documents or as the page host: a blocking socket with a thread that reads.
final class FakeClient: Sendable {
  struct TimedOut: Error, CustomStringConvertible { var description: String }
  struct Refused: Error, Equatable { var name: String, message: String }

  private struct State {
    var frames: [(serial: Int, frame: BridgeFrame)] = []
    var isEnded = false
    var isPaused = false
    var received = 0
  }

  private let descriptor: Int32
  private let state = Mutex(State())

  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    guard status == 0 else { throw TimedOut(description: "connect \(path): \(errno)") }
    Thread.detachNewThread { [self] in read() }
  }

  /// Ends the connection.
  func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Leaves what arrives unread, so that the other end has to wait.
  func setPaused(_ value: Bool) { state.withLock { $0.isPaused = value } }

  var isEnded: Bool { state.withLock { $0.isEnded } }
  var receivedCount: Int { state.withLock { $0.received } }

  private func read() {
    var reader = BridgeFrameReader()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      while state.withLock({ $0.isPaused && !$0.isEnded }) { usleep(1_000) }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      reader.receive(buffer.span.bytes.extracting(0..<count))
      while let frame = try? reader.next() {
        state.withLock {
          $0.received += 1
          $0.frames.append(($0.received, frame))
        }
      }
    }
    state.withLock { $0.isEnded = true }
    Glibc.close(descriptor)
  }

  func send(_ frame: BridgeFrame) {
    var bytes: [UInt8] = []
    frame.append(to: &bytes)
    send(raw: bytes)
  }

  func send(raw bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      sent += count
    }
  }

  func send(_ message: some ControlMessage, document: UInt32 = 0) {
    send(BridgeFrame(kind: .control, document: document, payload: Array(try! JSONEncoder().encode(Typed(message)))))
  }

  /// Waits until something of what arrived is what `take` looks for. The limit only ends a hang.
  func next<Value>(_ what: String, seconds: Double = 300, _ take: (BridgeFrame) -> Value?) async throws -> Value {
    let end = ContinuousClock.now + .seconds(seconds)
    var looked = 0
    while ContinuousClock.now < end {
      let found = state.withLock { state -> Value? in
        for (index, entry) in state.frames.enumerated() where entry.serial > looked {
          guard let value = take(entry.frame) else { continue }
          state.frames.remove(at: index)
          return value
        }
        looked = state.received
        return nil
      }
      if let found { return found }
      if isEnded { throw TimedOut(description: "the connection ended before \(what)") }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw TimedOut(description: "no \(what)")
  }

  /// What arrived and nobody waited for.
  var pending: [BridgeFrame] { state.withLock { $0.frames.map(\.frame) } }

  /// Forgets what arrived.
  func forget() { state.withLock { $0.frames = [] } }

  /// Waits for the end of the connection.
  func end() async throws {
    let end = ContinuousClock.now + .seconds(300)
    while !isEnded {
      guard ContinuousClock.now < end else { throw TimedOut(description: "the connection did not end") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

/// One document of a fake extension.
final class FakeDocument: Sendable {
  let client: FakeClient
  let number: UInt32
  private let last = Mutex<UInt32>(999)

  init(_ client: FakeClient, number: UInt32, origin: String, topOrigin: String? = nil, policy: DocumentOpen.Policy? = nil) {
    (self.client, self.number) = (client, number)
    client.send(
      DocumentOpen(
        document: number, origin: origin, topOrigin: topOrigin, url: origin + "/", policy: policy ?? .init(camera: true, microphone: true)))
  }

  func identifier() -> UInt32 {
    last.withLock {
      $0 += 2
      return $0
    }
  }

  func post(_ message: some ControlMessage) { client.send(message, document: number) }
  func close() { client.send(DocumentClose(document: number)) }

  func send(_ kind: BridgeFrame.Kind, target: UInt32, _ payload: [UInt8]) {
    client.send(BridgeFrame(kind: kind, document: number, target: target, payload: payload))
  }

  private struct Answer<Value: Decodable>: Decodable {
    var type: String
    var id: UInt32
    var value: Value?
    var error: ReplyError?
  }

  /// Sends a request and waits for its value; an error is thrown.
  func request<Value: Decodable>(_ message: some Request, as type: Value.Type = Value.self) async throws -> Value {
    post(message)
    let (document, id) = (number, message.id)
    let answer = try await client.next("answer to \(Swift.type(of: message).type)") { frame -> Answer<Value>? in
      guard frame.kind == .control, frame.document == document else { return nil }
      guard let answer = try? JSONDecoder().decode(Answer<Value>.self, from: Data(frame.payload)), answer.type == "reply", answer.id == id
      else { return nil }
      return answer
    }
    if let error = answer.error { throw FakeClient.Refused(name: error.name, message: error.message) }
    return answer.value!
  }

  /// Waits for an event that `isWanted` says yes to.
  func event<Event: ControlMessage>(_ type: Event.Type, where isWanted: @Sendable (Event) -> Bool = { _ in true }) async throws -> Event {
    let document = number
    return try await client.next("\(type.type)") { frame in
      guard frame.kind == .control, frame.document == document,
        let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(frame.payload)), envelope.type == type.type,
        let event = try? JSONDecoder().decode(Event.self, from: Data(frame.payload)), isWanted(event)
      else { return nil }
      return event
    }
  }

  /// Waits for a frame of `kind`.
  func frame(_ kind: BridgeFrame.Kind, target: UInt32? = nil) async throws -> BridgeFrame {
    let document = number
    return try await client.next("frame of kind \(kind)") { frame in
      frame.kind == kind && frame.document == document && (target == nil || frame.target == target) ? frame : nil
    }
  }

  /// Sends a call and waits for its answer.
  func call(_ message: some ControlMessage) async throws -> [UInt8] {
    client.send(BridgeFrame(kind: .call, document: number, payload: Array(try JSONEncoder().encode(Typed(message)))))
    return try await frame(.callAnswer).payload
  }
}
