import Base
import Camera
import DTLS
import Frames
import Net
import Sound
import Synchronization
import WebRTC

/// The other end of a call, on this machine: takes what is published by WHIP and looks at it, and plays its own synthetic camera and
/// microphone by WHEP, or does both in one connection. For the demo, for measurements, and for trying a box without a server.
public final class BuiltInPeer: Sendable {
  /// What a session does.
  enum Role: Sendable {
    /// Takes what the other side publishes.
    case publish
    /// Plays its own camera and microphone.
    case play
    /// Both, and speaks captions on a data channel of that name.
    case call
  }

  private let network: NetworkThread
  private let certificate: Certificate
  private let camera: CameraThread
  private let microphone: MicrophoneThread
  private let playout: PlayoutThread
  private let sessions = Guarded<[String: PeerSession]>([:])
  private let server = Guarded<WHIPServer?>(nil)
  /// What it saw of what was published.
  public let pictures = PictureProbe()
  /// What it heard of what was published.
  public let sounds = SoundProbe()

  /// Starts the peer on the loopback, at any free port. Clients must show `token`.
  public init(
    token: String?, certificate: Certificate, source: any VideoSource & Sendable = SyntheticCamera(),
    address: SocketAddress = SocketAddress(.loopback4, 0)
  ) async throws {
    self.certificate = certificate
    network = await NetworkThread()
    camera = CameraThread(source: source)
    microphone = MicrophoneThread(source: SyntheticMicrophone())
    let listener = sounds
    playout = PlayoutThread { listener.listen(to: $0, time: $1) }
    var options = WHIPServer.Options()
    options.token = token
    do {
      let made = try WHIPServer(
        on: address, options: options,
        handlers: WHIPServer.Handlers(
          offer: { [unowned self] in await answer($0 == .play ? .play : .publish, session: $1, offer: $2) },
          trickle: { [unowned self] session, fragment, isRestart in await trickle(session, fragment, isRestart: isRestart) },
          ended: { [unowned self] in await end($0) }))
      server.with { $0 = made }
    } catch {
      await stop()
      throw error
    }
  }

  /// The endpoint of one kind.
  public func url(_ kind: WHIPServer.Kind) -> String { server.with { $0 }?.url(kind) ?? "" }

  /// How many sessions stand.
  public var sessionCount: Int { sessions.with { $0.count } }

  /// When the first block of its microphone began: the synthetic clicks come at whole seconds from then.
  public var microphoneStart: Instant { microphone.start }

  /// Ends all sessions and the threads.
  public func stop() async {
    let running = server.with { server in
      defer { server = nil }
      return server
    }
    await running?.stop()
    let left = sessions.with { $0.values.map { $0 } }
    await network.loop.perform { for session in left { session.close() } }
    camera.stop()
    microphone.stop()
    playout.stop()
    network.stop()
  }

  /// Answers an offer; gives back the answer, or why there is none.
  func answer(
    _ role: Role, session identifier: String, offer: String, onState: @escaping @Sendable (PeerConnectionState) -> Void = { _ in }
  ) async -> Result<String, WHIPServer.Refusal> {
    await network.loop.perform { [self] in
      var configuration = PeerSession.Configuration(certificate: certificate)
      configuration.includesLoopback = true
      let session = PeerSession(on: network, configuration: configuration)
      session.onEvent = { [unowned self, unowned session] event in
        if case .connectionStateChange(let state) = event { onState(state) }
        follow(event, session, role)
      }
      do throws(PeerConnectionError) {
        if role == .play { try addSources(to: session, direction: .sendonly) }
        try session.withConnection { connection, now throws(PeerConnectionError) in
          try connection.setRemoteDescription(.offer, sdp: offer, now: now)
        }
        // Once the offer is there, its transceivers take the sources.
        if role == .call { try addSources(to: session, direction: .sendrecv) }
        try session.withConnection { connection, now throws(PeerConnectionError) in try connection.setLocalDescription(now: now) }
      } catch {
        session.close()
        return .failure(error.name == .operation ? .malformed(error.message) : .unprocessable(error.message))
      }
      session.process()
      sessions.with { $0[identifier] = session }
      return .success(session.connection.localDescription?.description.description ?? "")
    }
  }

  private func addSources(to session: PeerSession, direction: WebRTC.Direction) throws(PeerConnectionError) {
    for kind in [MediaKind.audio, .video] {
      let identifier = try session.withConnection { connection, _ throws(PeerConnectionError) in
        let identifier = try connection.addTrack(kind, streams: ["peer"])
        try connection.setDirection(direction, of: identifier)
        return identifier
      }
      if kind == .audio { session.send(microphone, on: identifier) } else { session.send(camera, on: identifier) }
    }
  }

  private func follow(_ event: PeerConnectionEvent, _ session: PeerSession, _ role: Role) {
    if case .dataChannelOpen(let channel) = event,
      session.connection.dataChannels.contains(where: { $0.identifier == channel && $0.options.label == "captions" })
    {
      return BuiltInPeer.caption(0, on: channel, of: session)
    }
    guard case .track(let identifier) = event, role != .play else { return }
    let probe = pictures
    if session.connection.transceiver(identifier)?.kind == .video {
      session.show(identifier) { probe.look(at: $0, time: MonotonicClock.now()) }
    } else {
      session.play(identifier, on: playout)
    }
  }

  /// Says one caption after the other, for as long as the session stands.
  private static func caption(_ index: Int, on channel: DataChannelIdentifier, of session: PeerSession) {
    guard !session.isEnded else { return }
    let text = captions[index % captions.count]
    do throws(PeerConnectionError) {
      try session.withConnection { connection, now throws(PeerConnectionError) in
        try connection.send(Array(text.utf8).span.bytes, isText: true, on: channel, now: now)
      }
    } catch {
      return Log.info("captions end: \(error)")
    }
    session.loop.schedule(at: MonotonicClock.now() + .seconds(4)) { [weak session] in
      if let session { caption(index + 1, on: channel, of: session) }
    }
  }

  private static let captions = [
    "Hello, this is the front desk.", "You are looking at a web page, drawn over the video.",
    "The video itself never passes through the page.",
    "Sound, pictures and these words share one connection.",
  ]

  func trickle(
    _ identifier: String, _ fragment: SDPFragment, isRestart: Bool
  ) async -> Result<SDPFragment?, WHIPServer.Refusal> {
    guard let session = sessions.with({ $0[identifier] }) else { return .failure(.conflict("the session is over")) }
    // A client that lost its path makes a new session here: that is as quick as a restart on a machine of its own.
    if isRestart { return .failure(.unprocessable("ICE restarts are not taken here")) }
    return await network.loop.perform {
      do throws(PeerConnectionError) {
        for part in fragment.media {
          for text in part.candidates {
            try session.withConnection { connection, now throws(PeerConnectionError) in
              try connection.addIceCandidate(
                IceCandidate(
                  candidate: text, sdpMid: part.mid, sdpMLineIndex: nil, usernameFragment: fragment.credentials(of: part).usernameFragment),
                now: now)
            }
          }
        }
        return .success(nil)
      } catch {
        return .failure(.malformed(error.message))
      }
    }
  }

  func end(_ identifier: String) async {
    let session = sessions.with { $0.removeValue(forKey: identifier) }
    await network.loop.perform { session?.close() }
  }
}
