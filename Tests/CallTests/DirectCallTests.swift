import Base
import Camera
import DTLS
import Frames
import Net
import Testing

@testable import Call

@Suite(.serialized) struct DirectCallTests {
  /// A box's side of a call that only plays.
  private struct Player {
    let network: NetworkThread
    let call: DirectCall
    let states: AsyncStream<Leg.State>
    let frames = Guarded(0)

    init(url: String, token: String) async throws {
      network = await NetworkThread()
      var session = PeerSession.Configuration(certificate: try Certificate.generate())
      session.includesLoopback = true
      var configuration = DirectCall.Configuration(session: session)
      configuration.whep = try SignallingEndpoint(url: url, token: token)
      let (stream, continuation) = AsyncStream<Leg.State>.makeStream()
      states = stream
      let frames = frames
      call = DirectCall(
        configuration: configuration,
        media: DirectCall.Media(camera: nil, microphone: nil, playout: nil, show: { _ in frames.with { $0 += 1 } }), network: network
      ) { _, state in continuation.yield(state) }
    }

    /// The first state that `matches`, within the time of a test.
    func first(_ matches: @escaping @Sendable (Leg.State) -> Bool) async -> Leg.State? {
      let timeout = Task {
        try await Task.sleep(for: .seconds(40))
        await call.hangUp()
      }
      defer { timeout.cancel() }
      for await state in states {
        if matches(state) { return state }
        if state == .ended { return nil }
      }
      return nil
    }

    func end() async {
      await call.hangUp()
      network.stop()
    }
  }

  private static func isWaiting(_ state: Leg.State) -> Bool { if case .waiting = state { true } else { false } }

  @Test func aWrongTokenIsNamedAndTriedAgain() async throws {
    let peer = try await BuiltInPeer(token: "right", certificate: try Certificate.generate())
    let player = try await Player(url: peer.url(.play), token: "wrong")
    player.call.start()
    let state = await player.first(DirectCallTests.isWaiting)
    guard case .waiting(let code, let reason, let pause) = state else {
      Issue.record("the call did not say what is wrong: \(String(describing: state))")
      return
    }
    #expect(code == "call.unauthorized")
    #expect(reason.contains("token"))
    #expect(pause >= .milliseconds(900))
    await player.end()
    await peer.stop()
  }

  @Test func aCallComesBackAfterThePeerWasGone() async throws {
    let peer = try await BuiltInPeer(token: nil, certificate: try Certificate.generate())
    let address = try #require(SocketAddress(peer.url(.play).split(separator: "/")[1].description))
    let player = try await Player(url: peer.url(.play), token: "any")
    player.call.start()
    #expect(await player.first { $0 == .connected } == .connected)
    await peer.stop()
    let state = await player.first(DirectCallTests.isWaiting)
    #expect(state != nil)
    let other = try await BuiltInPeer(token: nil, certificate: try Certificate.generate(), address: address)
    #expect(await player.first { $0 == .connected } == .connected)
    for _ in 0..<1_000 where player.frames.with({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(player.frames.with { $0 } > 0)
    await player.end()
    await other.stop()
  }

  @Test func hangingUpEndsTheSessionAtTheServer() async throws {
    let peer = try await BuiltInPeer(token: nil, certificate: try Certificate.generate())
    let player = try await Player(url: peer.url(.play), token: "any")
    player.call.start()
    #expect(await player.first { $0 == .connected } == .connected)
    #expect(peer.sessionCount == 1)
    await player.end()
    #expect(peer.sessionCount == 0)
    await peer.stop()
  }

  @Test func cameraIsInUseAsLongAsItsPicturesAreSent() async throws {
    let peer = try await BuiltInPeer(token: nil, certificate: try Certificate.generate())
    let camera = CameraThread(source: SyntheticCamera(width: 160, height: 120, framesPerSecond: 10))
    defer { camera.stop() }
    let screen = Mailbox<VideoFrame>()
    let (uses, continuation) = AsyncStream<Bool>.makeStream()
    camera.observeUse { continuation.yield(camera.isInUse) }
    // The box's own screen is no use of the camera.
    camera.add(screen) {}
    #expect(!camera.isInUse)

    let network = await NetworkThread()
    var session = PeerSession.Configuration(certificate: try Certificate.generate())
    session.includesLoopback = true
    var configuration = DirectCall.Configuration(session: session)
    configuration.whip = try SignallingEndpoint(url: peer.url(.publish), token: nil)
    let media = DirectCall.Media(camera: camera, microphone: nil, playout: nil, show: { _ in })
    let call = DirectCall(configuration: configuration, media: media, network: network) { _, _ in }
    call.start()
    var iterator = uses.makeAsyncIterator()
    #expect(await iterator.next() == true)
    await call.hangUp()
    #expect(await iterator.next() == false && !camera.isInUse)
    network.stop()
    await peer.stop()
  }
}
