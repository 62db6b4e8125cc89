import Base
import DTLS
import Frames
import Net
import Synchronization
import WebRTC

/// A call without a page: publishes with WHIP, plays with WHEP, and comes back by itself after every failure.
public final class DirectCall: Sendable {
  /// What a direct call is made of.
  public struct Configuration: Sendable {
    /// Where camera and microphone are published; nil: nothing is sent.
    public var whip: SignallingEndpoint?
    /// Where the other side is played from; nil: nothing is received.
    public var whep: SignallingEndpoint?
    /// How the connections reach the network.
    public var session: PeerSession.Configuration
    /// Who makes requests to `whip` and `whep`; nil: whom the environment names, else nobody.
    public var proxy: HTTPProxy?
    /// How long a connection may take from the answer on.
    public var connectTimeout = Interval.seconds(20)

    /// A call with the given connections.
    public init(session: PeerSession.Configuration) { self.session = session }
  }

  /// The parts of the box that a call uses.
  public struct Media: Sendable {
    public var camera: CameraThread?
    public var microphone: MicrophoneThread?
    public var playout: PlayoutThread?
    /// Gets each picture of the other side, on the decoder's thread.
    public var show: @Sendable (VideoFrame) -> Void

    /// The parts; what is nil is neither sent nor played.
    public init(
      camera: CameraThread?, microphone: MicrophoneThread?, playout: PlayoutThread?, show: @escaping @Sendable (VideoFrame) -> Void
    ) { (self.camera, self.microphone, self.playout, self.show) = (camera, microphone, playout, show) }
  }

  private let configuration: Configuration
  private let media: Media
  private let network: NetworkThread
  private let onChange: @Sendable (Leg.Kind, Leg.State) -> Void
  private let legs = Guarded<[Leg]>([])

  /// A call that is not yet started. `onChange` is told of each leg's states, from any thread.
  public init(
    configuration: Configuration, media: Media, network: NetworkThread, onChange: @escaping @Sendable (Leg.Kind, Leg.State) -> Void
  ) {
    (self.configuration, self.media, self.network, self.onChange) = (configuration, media, network, onChange)
  }

  /// Starts both legs at once. Does nothing while they run.
  public func start() {
    legs.with { legs in
      guard legs.isEmpty else { return }
      for (kind, endpoint) in [(Leg.Kind.whip, configuration.whip), (.whep, configuration.whep)] {
        guard let endpoint else { continue }
        legs.append(
          Leg(kind: kind, endpoint: endpoint, configuration: configuration, media: media, network: network) { [onChange] in
            onChange(kind, $0)
          })
      }
    }
  }

  /// Whether the call was started and not hung up.
  public var isActive: Bool { legs.with { !$0.isEmpty } }

  /// Ends both legs, tells the servers, and waits until that is done.
  public func hangUp() async {
    let ending = legs.with { legs in
      defer { legs = [] }
      return legs
    }
    await withTaskGroup(of: Void.self) { group in
      for leg in ending { group.addTask { await leg.hangUp() } }
    }
  }

  /// Has the connections follow the machine's addresses.
  public func networkChanged() {
    let sessions = sessions
    network.loop.run { for session in sessions { session.networkChanged() } }
  }

  /// The sessions that are up now, for statistics.
  public var sessions: [PeerSession] { legs.with { $0 }.compactMap(\.session) }
}
