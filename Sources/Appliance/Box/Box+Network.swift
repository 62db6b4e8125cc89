import Base
import FoundationEssentials
import Net

// How the box follows the network.
extension Box {
  /// Keeps the network monitor, which belongs to the loop.
  final class NetworkWatch: @unchecked Sendable {
    // Unchecked: touched on the network thread only.
    var monitor: NetworkMonitor?
  }

  /// Follows the network from now on.
  func watchNetwork() async {
    let watch = NetworkWatch()
    monitor.withLock { $0 = watch }
    await network.loop.perform { [self] in
      do throws(SystemError) {
        watch.monitor = try NetworkMonitor(loop: network.loop) { [weak self] in self?.networkChanged($0) }
      } catch {
        Log.warning("changes of the network are not noticed: \(error)")
      }
      networkChanged(watch.monitor?.addresses ?? NetworkInterfaces.addresses())
    }
    // On other machines nobody notes what keeps interfaces off their networks.
    if provisioning != nil { network.loop.run { [weak self] in self?.followConnections() } }
  }

  /// Looks every few seconds at what `parlor keep-connections` has noted.
  private func followConnections() {
    let troubles = ConnectionTrouble.load()
    let isNews = health.withLock { health in
      let former = health
      health.setConnections(troubles, now: Date())
      return health != former
    }
    if isNews { showHealth() }
    network.loop.schedule(at: MonotonicClock.now() + .seconds(5)) { [weak self] in self?.followConnections() }
  }

  private func networkChanged(_ addresses: [InterfaceAddress]) {
    let (direct, page) = call.withLock { ($0.direct, $0.page) }
    direct?.networkChanged()
    page?.networkChanged()
    let isUp = addresses.contains { !$0.isLoopback && !$0.ip.isLinkLocal } || isCallLocal
    page?.tell(.network(isUp: isUp))
    health.withLock { health in
      if isUp { health.clear(.networkDown, now: Date()) } else { health.raise(.networkDown, "no interface has an address", now: Date()) }
    }
    showHealth()
  }

  /// A box that calls itself needs no network.
  private var isCallLocal: Bool {
    let urls: [String?]
    switch configuration.call?.target {
    case .direct(let whip, let whep): urls = [whip, whep]
    case .page(let url): urls = [url]
    case nil: return false
    }
    return urls.compactMap { $0 }.allSatisfy { $0.contains("//127.") || $0.contains("//localhost") || $0.contains("//[::1]") }
  }
}
