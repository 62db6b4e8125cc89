import Base
import Call
import DTLS
import Net
import WebRTC

/// Two sessions of this process that call each other over the loopback: real sockets, a network thread each, signalling without a network.
final class LoopbackCall: Sendable {
  /// What happened on one side.
  enum Event: Sendable {
    case connected(isCaller: Bool, Instant)
    case failed(String)
    case track(TransceiverIdentifier, MediaKind)
    case channelOpen(isCaller: Bool, DataChannelIdentifier)
    case bufferedAmountLow(DataChannelIdentifier)
    case message(count: Int)
  }

  let caller: PeerSession
  let callee: PeerSession
  private let networks: [NetworkThread]
  private let handle: @Sendable (LoopbackCall, Event) -> Void

  /// Two sessions that know nothing of each other. `handle` is called on the network thread of the side where something happens.
  init(certificates: (Certificate, Certificate), handle: @escaping @Sendable (LoopbackCall, Event) -> Void) async {
    let networks = [await NetworkThread(), await NetworkThread()]
    self.networks = networks
    self.handle = handle
    caller = await LoopbackCall.session(networks[0], certificates.0)
    callee = await LoopbackCall.session(networks[1], certificates.1)
    await follow(caller, isCaller: true, peer: callee)
    await follow(callee, isCaller: false, peer: caller)
  }

  private static func session(_ network: NetworkThread, _ certificate: Certificate) async -> PeerSession {
    await network.loop.perform {
      var configuration = PeerSession.Configuration(certificate: certificate)
      configuration.includesLoopback = true
      configuration.codecs = CodecCapability.all.filter { $0.kind == .audio || $0.name == "VP8" }
      return PeerSession(on: network, configuration: configuration)
    }
  }

  private func follow(_ session: PeerSession, isCaller: Bool, peer: PeerSession) async {
    await session.loop.perform { [self] in
      session.onEvent = { [unowned self, unowned session, unowned peer, handle] event in
        switch event {
        case .iceCandidate(let candidate):
          run(on: peer) { try peer.withConnection { connection, now in try connection.addIceCandidate(candidate, now: now) } }
        case .connectionStateChange(.connected): handle(self, .connected(isCaller: isCaller, MonotonicClock.now()))
        case .connectionStateChange(.failed): handle(self, .failed("the connection failed"))
        case .track(let identifier):
          guard let kind = session.withConnection({ connection, _ in connection.transceiver(identifier)?.kind }) else { return }
          handle(self, .track(identifier, kind))
        case .dataChannelOpen(let identifier): handle(self, .channelOpen(isCaller: isCaller, identifier))
        case .dataChannelBufferedAmountLow(let identifier): handle(self, .bufferedAmountLow(identifier))
        case .dataChannelMessage(_, let bytes, _): handle(self, .message(count: bytes.count))
        default: break
        }
      }
    }
  }

  /// The caller offers what `prepare` adds to its connection, and the callee answers. What goes wrong is told as an event.
  func start(_ prepare: @escaping @Sendable (PeerSession) throws -> Void) {
    // Each description is handed on before the candidates that follow it.
    run(on: caller) { [self] in
      try prepare(caller)
      let offer = try LoopbackCall.describe(caller)
      run(on: callee) { [self] in
        try callee.withConnection { connection, now in try connection.setRemoteDescription(.offer, sdp: offer, now: now) }
        let answer = try LoopbackCall.describe(callee)
        run(on: caller) { [self] in
          try caller.withConnection { connection, now in try connection.setRemoteDescription(.answer, sdp: answer, now: now) }
        }
      }
    }
  }

  private func run(on session: PeerSession, _ work: @escaping @Sendable () throws -> Void) {
    session.loop.run { [handle] in
      do { try work() } catch { handle(self, .failed("\(error)")) }
    }
  }

  private static func describe(_ session: PeerSession) throws -> String {
    try session.withConnection { connection, now in
      try connection.setLocalDescription(now: now)
      return connection.localDescription?.description.description ?? ""
    }
  }

  /// Hangs up and ends the threads.
  func end() async {
    await caller.loop.perform { [caller] in caller.close() }
    await callee.loop.perform { [callee] in callee.close() }
    for network in networks { network.stop() }
  }
}
