import Base
import Bytes
import TURN

@testable import ICE
@testable import STUN

/// A peer that only answers (RFC 8445 section 2.5), over UDP and over TCP that it accepts. Its answers are written here, apart from the agent.
final class LitePeer: VirtualNode {
  let parameters = Parameters(usernameFragment: "lite", password: "password of the lite side", isLite: true)
  let address: SocketAddress
  let network: VirtualNetwork
  /// Sources whose check carried USE-CANDIDATE.
  private(set) var nominations: [SocketAddress] = []
  private(set) var sawControlled = false
  private(set) var received: [[UInt8]] = []
  private(set) var checkCount = 0
  private var streams: [ObjectIdentifier: (stream: VirtualStream, reassembler: StreamReassembler)] = [:]
  var isSilent = false
  var acceptsStreams = true

  init(_ network: VirtualNetwork, at text: String) {
    (self.network, address) = (network, SocketAddress(text)!)
    network.add(self, at: address.ip)
  }

  var deadline: Instant? { nil }
  func handleTimeout(now: Instant) {}

  func receive(_ bytes: [UInt8], from source: SocketAddress, to destination: SocketAddress, now: Instant) {
    guard !isSilent else { return }
    if let answer = answer(bytes, from: source) { network.send(answer, from: destination, to: source) }
  }

  func accept(_ stream: VirtualStream, to destination: SocketAddress, now: Instant) -> Bool {
    guard acceptsStreams else { return false }
    streams[ObjectIdentifier(stream)] = (stream, StreamReassembler(.lengthPrefixed))
    return true
  }

  func receive(_ bytes: [UInt8], on stream: VirtualStream, now: Instant) {
    let key = ObjectIdentifier(stream)
    streams[key]?.reassembler.append(bytes.span.bytes)
    while let message = try? streams[key]?.reassembler.next() {
      if let answer = answer(message, from: stream.remote) { send(answer, on: stream) }
    }
  }

  /// Sends data on the first stream.
  func sendOnStream(_ data: [UInt8]) {
    if let stream = streams.values.first?.stream { send(data, on: stream) }
  }

  private func send(_ bytes: [UInt8], on stream: VirtualStream) {
    network.send([UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes, on: stream)
  }

  private func answer(_ bytes: [UInt8], from source: SocketAddress) -> [UInt8]? {
    guard let message = try? Message(bytes.span.bytes) else {
      received.append(bytes)
      return nil
    }
    let key = Array(parameters.password.utf8)
    guard message.messageClass == .request, message.text(.username)?.hasPrefix("lite:") == true, message.hasValidIntegrity(key: key) else {
      return nil
    }
    checkCount += 1
    if message.has(.useCandidate) { nominations.append(source) }
    if message.has(.iceControlled) { sawControlled = true }
    var response = MessageBuilder(.success, to: message)
    response.append(.xorMappedAddress, xorAddress: source)
    response.appendIntegrity(key: key)
    response.appendFingerprint()
    return response.bytes
  }
}
