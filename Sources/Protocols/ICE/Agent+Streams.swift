import Base
import Bytes
import STUN
import TURN

/// A TCP connection to a passive candidate of the peer (RFC 6544).
struct PeerStream: Sendable {
  let id: SocketIdentifier
  var remote: Candidate
  /// This side's address once it is open.
  var local: SocketAddress?
  /// It has to be open by then; nil when it is.
  var openBy: Instant?
  var reassembler = StreamReassembler(.lengthPrefixed)
}

extension Agent {
  /// How many connections are opened for one peer.
  static let streamLimit = 16

  /// Opens a connection to a candidate that waits for one.
  mutating func connect(to remote: Candidate, now: Instant) {
    guard configuration.usesTCP, !configuration.relayOnly, remote.tcpType == .passive || remote.tcpType == .simultaneousOpen else { return }
    guard sockets.contains(where: { $0.address.ip.family == remote.address.ip.family }) else { return }
    guard streams.count < Agent.streamLimit else { return counters.count("ice.stream.excess") }
    let id = makeStreamID()
    streams.append(PeerStream(id: id, remote: remote, openBy: now + configuration.streamTimeout))
    push(.openStream(id, to: remote.address, tlsName: nil))
  }

  /// The owner opened the stream; `local` is its address on this side.
  public mutating func streamOpened(_ id: SocketIdentifier, local: SocketAddress, now: Instant) {
    guard connectionState != .closed else { return }
    if let index = relays.firstIndex(where: { $0.stream == id }) {
      relays[index].openBy = nil
      relays[index].client.start(now: now)
      drainRelay(index, now: now)
    } else if let index = streams.firstIndex(where: { $0.id == id }) {
      streams[index].openBy = nil
      streams[index].local = local
      let remote = streams[index].remote
      pair(activeCandidate(local), path: .stream(id), with: remote, now: now)
    } else {
      push(.closeStream(id))
    }
    finish(now)
  }

  /// The owner could not open the stream, or lost it. `reason` is told to the page for a server.
  public mutating func streamFailed(_ id: SocketIdentifier, reason: String, now: Instant) {
    guard connectionState != .closed else { return }
    if let index = relays.firstIndex(where: { $0.stream == id }) {
      relays[index].stream = nil
      failRelay(index, code: 701, text: reason, now: now)
    } else if streams.contains(where: { $0.id == id }) {
      counters.count("ice.stream.failed")
      streams.removeAll { $0.id == id }
      dropPairs { $0.path == .stream(id) }
    }
    finish(now)
  }

  /// Takes the next bytes of a stream. Application data in them comes out of `pollApplicationData`.
  public mutating func receiveStream(_ bytes: RawSpan, on id: SocketIdentifier, now: Instant) {
    guard connectionState != .closed else { return }
    self.now = now
    if let index = relays.firstIndex(where: { $0.stream == id }) {
      relays[index].reassembler.append(bytes)
      // The relay may fail on the way, so it is looked up each time.
      while let index = relays.firstIndex(where: { $0.stream == id }) {
        do {
          guard let message = try relays[index].reassembler.next() else { break }
          receiveRelayed(message, index, now: now)
        } catch {
          counters.count("ice.stream.malformed")
          failRelay(index, code: 701, text: "TURN server sent what is not TURN", now: now)
        }
      }
    } else if let index = streams.firstIndex(where: { $0.id == id }) {
      streams[index].reassembler.append(bytes)
      let remote = streams[index].remote.address
      // With this framing every stream can be read.
      while let index = streams.firstIndex(where: { $0.id == id }), let message = try? streams[index].reassembler.next() {
        if receivePayload(message.span.bytes, from: remote, on: .stream(id), now: now) { applicationData.append(message) }
      }
    } else {
      counters.count("ice.stream.unknown")
    }
    finish(now)
  }

  private mutating func receiveRelayed(_ message: [UInt8], _ index: Int, now: Instant) {
    let id = relays[index].id
    switch relays[index].client.receive(message.span.bytes, now: now) {
    case .handled: drainRelay(index, now: now)
    case .ignored: counters.count("ice.relay.unexpected")
    case .data(let peer, let offset, let count):
      let data = Array(message[offset..<offset + count])
      if receivePayload(data.span.bytes, from: peer, on: .relay(id), now: now) { applicationData.append(data) }
    }
  }

  /// The local candidate of a connection that this side opened.
  func activeCandidate(_ local: SocketAddress) -> Candidate {
    let known =
      locals.first { $0.candidate.transport == .tcp && $0.candidate.address.ip == local.ip }
      ?? locals.first { $0.candidate.transport == .tcp && $0.candidate.address.ip.family == local.ip.family }
    return Candidate(
      foundation: known?.candidate.foundation ?? "tcp", transport: .tcp,
      priority: known?.candidate.priority ?? Agent.priority(type: 90, preference: Agent.activeTCPPreference), address: local, kind: .host,
      tcpType: .active, usernameFragment: current.local.usernameFragment)
  }
}
