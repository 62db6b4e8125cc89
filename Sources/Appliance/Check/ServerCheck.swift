import Base
import Call
import DTLS
import ICE
import Net
import SCTP
import WebRTC

/// The test of a STUN or TURN server: whether it gives an address that others can reach.
struct ServerCheck: Sendable {
  let server: ICEServer
  /// What the server is for: a TURN server relays, a STUN server tells the box's address.
  private var isRelay: Bool { server.url.hasPrefix("turn") }

  /// How long a server may take.
  private static let patience = Interval.seconds(10)

  /// Collects what a session says; on the network thread.
  private final class Gathering {
    var session: PeerSession?
    var candidate: String?
    var failure: String?
    /// Whether all was asked and answered.
    var isComplete = false
    var end: (() -> Void)?
  }

  /// Asks the server, and tells what came of it.
  func item(on network: NetworkThread, certificate: Certificate, trust: TrustStore) async -> CheckItem {
    let (found, isFine) = await withCheckedContinuation { (continuation: CheckedContinuation<(String?, Bool), Never>) in
      network.loop.run { ask(network, certificate, trust) { continuation.resume(returning: ($0, $1)) } }
    }
    return CheckItem(
      "server", device: server.url, isFine ? .ok : .failed, found ?? "no answer came; is the way to it open (UDP, or TCP with TLS)?")
  }

  private func ask(
    _ network: NetworkThread, _ certificate: Certificate, _ trust: TrustStore, _ completion: @escaping (String?, _ isFine: Bool) -> Void
  ) {
    var configuration = PeerSession.Configuration(certificate: certificate)
    (configuration.iceServers, configuration.trust, configuration.isRelayOnly) = ([server], trust, isRelay)
    configuration.includesLoopback = true
    let gathering = Gathering()
    let session = PeerSession(on: network, configuration: configuration)
    gathering.session = session
    gathering.end = { [unowned gathering] in
      gathering.end = nil
      if let candidate = gathering.candidate {
        completion("\(self.isRelay ? "it relays as" : "it sees this box as") \(candidate)", true)
      } else if gathering.isComplete, gathering.failure == nil, !self.isRelay {
        // What the server sees is what the box has anyhow, and no candidate of its own.
        completion("it sees this box under its own address", true)
      } else {
        completion(gathering.failure, false)
      }
      // Not within the session's own call.
      network.loop.run { session.close() }
      gathering.session = nil
    }
    let wanted: ICE.Candidate.Kind = isRelay ? .relayed : .serverReflexive
    session.onEvent = { event in
      switch event {
      case .iceCandidate(let candidate?):
        guard let parsed = try? ICE.Candidate(parsing: candidate.candidate), parsed.kind == wanted else { return }
        gathering.candidate = "\(parsed.address.ip)"
        gathering.end?()
      case .iceCandidate(nil):
        gathering.isComplete = true
        gathering.end?()
      case .iceCandidateError(_, _, let code, let text): gathering.failure = ServerCheck.reason(code, text)
      default: break
      }
    }
    network.loop.schedule(at: MonotonicClock.now() + ServerCheck.patience) { gathering.end?() }
    do throws(PeerConnectionError) {
      try session.withConnection { connection, now throws(PeerConnectionError) in
        _ = try connection.createDataChannel(ChannelOptions())
        try connection.setLocalDescription(now: now)
      }
    } catch {
      gathering.failure = "\(error)"
      gathering.end?()
    }
  }

  private static func reason(_ code: Int, _ text: String) -> String {
    switch code {
    case 401: "it does not know this user name or password (\(text))"
    case 701: text
    default: "it refuses: \(code) \(text)"
    }
  }
}
