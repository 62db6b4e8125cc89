import Base
import Net

/// The thread that owns every peer connection and socket: an event loop, and the sessions on it that have something to send.
public final class NetworkThread: @unchecked Sendable {
  // Unchecked: all but the constants is touched on the loop's thread only, which the loop checks.

  /// The loop.
  public let loop: EventLoop
  /// Looks names up, multicast ones included.
  public let resolver: Resolver
  /// Answers for the names that stand for this machine's addresses.
  let multicast: MDNSSocket
  private var waiting: [PeerSession] = []

  /// Starts the thread.
  public init(realtimePriority: Int32? = nil) async {
    let loop = EventLoop(name: "parlor-net", realtimePriority: realtimePriority)
    loop.start()
    self.loop = loop
    let made = await loop.perform { Handover(MDNSSocket(loop: loop)) }
    multicast = made.object
    resolver = Resolver(loop: loop, multicast: made.object)
    loop.run { [self] in
      loop.beforeWait = { [unowned self] in
        let sessions = self.waiting
        self.waiting = []
        for session in sessions { session.process() }
      }
    }
  }

  /// Has `session` look after its events and packets before the loop waits again.
  func wake(_ session: PeerSession) {
    if !waiting.contains(where: { $0 === session }) { waiting.append(session) }
  }

  /// Ends the thread. Sessions are closed before.
  public func stop() {
    let socket = Handover(multicast)
    loop.run { socket.object.close() }
    loop.stop()
  }
}
