import Base
import Frames
import Net
import SDP
import WebRTC

/// One direction of a direct call: connects, watches the connection, and connects again with growing pauses for as long as the call lasts.
public final class Leg: Sendable {
  /// Which way the media goes.
  public enum Kind: String, Sendable {
    /// This side publishes.
    case whip
    /// This side plays.
    case whep
  }

  /// How a leg stands.
  public enum State: Sendable, Equatable {
    case connecting
    case connected
    /// Failed with a stable code and a reason; the next attempt comes after the pause.
    case waiting(code: String, reason: String, pause: Interval)
    case ended
  }

  let kind: Kind
  private let endpoint: SignallingEndpoint
  private let configuration: DirectCall.Configuration
  private let media: DirectCall.Media
  private let network: NetworkThread
  private let onChange: @Sendable (State) -> Void
  private let current = Guarded<PeerSession?>(nil)
  private let task = Guarded<Task<Void, Never>?>(nil)

  init(
    kind: Kind, endpoint: SignallingEndpoint, configuration: DirectCall.Configuration, media: DirectCall.Media, network: NetworkThread,
    onChange: @escaping @Sendable (State) -> Void
  ) {
    (self.kind, self.endpoint, self.configuration, self.media) = (kind, endpoint, configuration, media)
    (self.network, self.onChange) = (network, onChange)
    task.with { $0 = Task { await run() } }
  }

  var session: PeerSession? { current.with { $0 } }

  func hangUp() async {
    let running = task.with { $0 }
    running?.cancel()
    await running?.value
  }

  /// How long a connection may be without its peer before it is made anew. ICE says `disconnected` after 5 s.
  private static let disconnectedPatience = Interval.seconds(4)

  /// Why an attempt ended.
  private struct Failure: Error {
    var code: String
    var reason: String
    /// What the server asked for (`Retry-After`).
    var pause: Interval?
  }

  private func run() async {
    var backoff = Backoff(seed: UInt64.random(in: .min ... .max))
    let http = HTTPClient(trust: configuration.session.trust, proxy: configuration.proxy)
    defer { http.close() }
    while !Task.isCancelled {
      onChange(.connecting)
      let failure = await attempt(http, connected: { backoff.succeeded(at: MonotonicClock.now()) })
      if Task.isCancelled { break }
      let now = MonotonicClock.now()
      let pause = backoff.failed(at: now, retryAfter: failure.pause) - now
      Log.warning("\(kind.rawValue): \(failure.reason) (\(failure.code)); next attempt in \(Int(pause.seconds.rounded())) s")
      onChange(.waiting(code: failure.code, reason: failure.reason, pause: pause))
      try? await Task.sleep(for: .nanoseconds(pause.nanoseconds))
    }
    onChange(.ended)
  }

  /// One connection from its offer to its end; returns why it ended.
  private func attempt(_ http: HTTPClient, connected: () -> Void) async -> Failure {
    let (events, continuation) = AsyncStream<PeerConnectionEvent>.makeStream()
    let session = await network.loop.perform { [network, configuration] in
      let session = PeerSession(on: network, configuration: configuration.session)
      session.onEvent = { continuation.yield($0) }
      return session
    }
    current.with { $0 = session }
    let client = WHIPClient(endpoint: endpoint, client: http)
    let failure = await withTaskCancellationHandler {
      await converse(session, client, events, connected: connected)
    } onCancel: {
      continuation.finish()
    }
    continuation.finish()
    current.with { $0 = nil }
    await network.loop.perform { session.close() }
    // The server learns of the end even when the task was cancelled: that is the very case of hanging up.
    await Task.detached {
      do {
        try await client.delete()
      } catch {
        Log.info("the server was not told of the end: \(error)")
      }
    }.value
    return failure
  }

  private func converse(
    _ session: PeerSession, _ client: WHIPClient, _ events: AsyncStream<PeerConnectionEvent>, connected: () -> Void
  ) async -> Failure {
    do {
      let offer = try await offer(session)
      let answer = try await client.post(offer: offer)
      try await network.loop.perform { () -> Result<Void, PeerConnectionError> in
        Result { () throws(PeerConnectionError) in
          session.addIceServers(answer.iceServers)
          try session.withConnection { connection, now throws(PeerConnectionError) in
            try connection.setRemoteDescription(.answer, sdp: answer.sdp, now: now)
          }
        }
      }.get()
      return await watch(session, client, events, offer: offer, connected: connected)
    } catch let error as SignallingError {
      return Failure(code: error.code, reason: "\(error)", pause: error.retryAfter)
    } catch {
      return Failure(code: "call.negotiation", reason: "\(error)", pause: nil)
    }
  }

  private func offer(_ session: PeerSession) async throws -> String {
    try await network.loop.perform { [self] () -> Result<String, PeerConnectionError> in
      Result { () throws(PeerConnectionError) in
        let direction: WebRTC.Direction = kind == .whip ? .sendonly : .recvonly
        for media in [MediaKind.audio, .video] {
          let identifier = try session.withConnection { connection, _ throws(PeerConnectionError) in
            try connection.addTransceiver(media, direction: direction, streams: ["parlor"])
          }
          attach(session, identifier, media)
        }
        try session.withConnection { connection, now throws(PeerConnectionError) in try connection.setLocalDescription(now: now) }
        // Host candidates are there by now; what comes later is trickled.
        session.process()
        return session.connection.localDescription?.description.description ?? ""
      }
    }.get()
  }

  private func attach(_ session: PeerSession, _ identifier: TransceiverIdentifier, _ kind: MediaKind) {
    switch (self.kind, kind) {
    case (.whip, .audio): if let microphone = media.microphone { session.send(microphone, on: identifier) }
    case (.whip, .video): if let camera = media.camera { session.send(camera, on: identifier) }
    case (.whep, .audio): if let playout = media.playout { session.play(identifier, on: playout) }
    case (.whep, .video): session.show(identifier, output: media.show)
    }
  }

  /// Trickles candidates and waits for the end of the connection.
  private func watch(
    _ session: PeerSession, _ client: WHIPClient, _ events: AsyncStream<PeerConnectionEvent>, offer: String, connected: () -> Void
  ) async -> Failure {
    let timeout = Task { [network, configuration] in
      try await Task.sleep(for: .nanoseconds(configuration.connectTimeout.nanoseconds))
      network.loop.run { session.giveUp() }
    }
    var patience: Task<Void, any Error>?
    defer {
      timeout.cancel()
      patience?.cancel()
    }
    for await event in events {
      switch event {
      case .connectionStateChange(.disconnected):
        // ICE looks for another path by itself; a new session is the quicker way back when it finds none.
        patience = Task { [network] in
          try await Task.sleep(for: .nanoseconds(Leg.disconnectedPatience.nanoseconds))
          network.loop.run { session.giveUp() }
        }
      case .connectionStateChange(.connected):
        timeout.cancel()
        patience?.cancel()
        connected()
        onChange(.connected)
      case .dtlsTransportStateChange(.closed): return Failure(code: "call.ended", reason: "the other side ended the call", pause: nil)
      case .connectionStateChange(.failed), .connectionStateChange(.closed):
        let reason = await network.loop.perform { session.connection.failureReason }
        return Failure(code: "call.lost", reason: reason ?? "the connection ended", pause: nil)
      case .iceCandidate(let candidate):
        // A candidate that was in the offer already does no harm a second time, but costs a request.
        if let candidate, offer.contains(candidate.candidate) { continue }
        await trickle(candidate, session, client)
      default: break
      }
    }
    return Failure(code: "call.ended", reason: "hung up", pause: nil)
  }

  private func trickle(_ candidate: IceCandidate?, _ session: PeerSession, _ client: WHIPClient) async {
    let description = await network.loop.perform { session.connection.localDescription?.description }
    guard let candidate, let mid = candidate.sdpMid, let media = description?.media(mid: mid) else { return }
    let fragment = SDPFragment(
      usernameFragment: media.usernameFragment, password: media.password,
      media: [SDPFragment.Media(mid: mid, candidates: [candidate.candidate])])
    do {
      _ = try await client.patch("\(fragment)")
    } catch {
      Log.info("\(kind.rawValue): a candidate could not be trickled: \(error)")
    }
  }
}
