import Base
import CLinux
import Call
import Codecs
import FoundationEssentials
import Net
import PageSession
import Stage

// What operators ask of the box, and what it tells them.
extension Box {
  /// Opens the control socket.
  func serve() {
    socket.register(
      Services(
        status: { [unowned self] in status() }, stats: { [unowned self] in stats() },
        screenshot: { [unowned self] () throws(VerbFailure) in
          guard configuration.access.allowsScreenshots else {
            throw VerbFailure(.notPermitted, "screenshots are switched off: access.screenshots = false in the configuration")
          }
          do throws(Picture.Failure) { return try stage.screenshot() } catch { throw VerbFailure(.internalError, "\(error)") }
        }, startCall: { [unowned self] () throws(VerbFailure) in try startCall() },
        hangUp: { [unowned self] () throws(VerbFailure) in try hangUp() },
        open: { [unowned self] url throws(VerbFailure) in try open(url) },
        reload: { [unowned self] () throws(VerbFailure) in try page().tell(.reloadRequested) },
        restart: { [unowned self] part throws(VerbFailure) in try restart(part) },
        gesture: { [unowned self] gesture throws(VerbFailure) in try perform(gesture) },
        blank: { [unowned self] wish throws(VerbFailure) in power.set(wish) },
        gamma: { [unowned self] wish throws(VerbFailure) in power.setGamma(wish) }))
    socket.register(noticeServices)
    socket.register("check") { [unowned self] _ throws(VerbFailure) in .value(checkDevices()) }
    socket.start()
    if let address = configuration.access.metrics { serveMetrics(on: address) }
  }

  private func serveMetrics(on address: SocketAddress) {
    let server = MetricsServer(on: address, loop: network.loop) { [weak self] in
      guard let self, let status = try? JSON(status()), let statistics = try? JSON(stats()) else { return "" }
      return Metrics(status: status, statistics: statistics).text
    }
    metrics.withLock { $0 = server }
    server.start()
  }

  private func status() -> Status {
    let now = MonotonicClock.now()
    let rate = Double(flips.withLock { $0.count { now - $0 < .seconds(2) } }) / 2
    var status = Status(
      version: Version.current, name: name, serial: configuration.identity.serial ?? "",
      stage: Status.Screen(stage, flipsPerSecond: rate),
      sound: media.soundStatus, network: networkStatus(), clock: Status.Clock(synchronised: linux_clock_is_synchronised()), since: Date())
    status.take(health.withLock { $0 })
    status.sound.volume = notices.withLock { $0.volume }
    if case .direct(let whip, let whep) = configuration.call?.target { status.url = whep ?? whip }
    if case .page(let url) = configuration.call?.target { status.url = url }
    status.cameras = media.cameraStatus
    status.codecs = HardwareCodecs.shared.choices.map(Status.Codec.init)
    let endpoints: [Leg.Kind: String?]
    if case .direct(let whip, let whep) = configuration.call?.target { endpoints = [.whip: whip, .whep: whep] } else { endpoints = [:] }
    let call = call.withLock { $0 }
    status.page = call.page.map { Status.Page($0.state) }
    status.calls = call.legs.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, leg in
      Status.Call(state: leg.state.name, since: leg.since, peer: (endpoints[kind] ?? nil) ?? kind.rawValue)
    }
    status.calls += call.connections.map { Status.Call(state: $0.state, since: $0.since, peer: status.page?.url ?? "page") }
    status.slot = SystemSlot.running
    if provisioning != nil { status.update = UpdateOutcome.current }
    let given = provisioning?.grants ?? []
    status.grants = configuration.grants.all.map { grant in
      Status.Grant(grant, since: given.first { $0.origin == "\(grant.origin)" }?.since ?? started)
    }
    return status
  }

  private func networkStatus() -> Status.Network {
    let addresses = NetworkInterfaces.addresses().filter { !$0.isLoopback }
    let names = addresses.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    return Status.Network(
      state: addresses.contains { !$0.ip.isLinkLocal } ? "up" : "down",
      interfaces: names.map { name in Status.Interface(name: name, addresses: addresses.filter { $0.name == name }.map { "\($0.ip)" }) })
  }

  private func stats() -> BoxStatistics {
    let (direct, page) = call.withLock { ($0.direct, $0.page) }
    let sessions = direct?.sessions ?? []
    let (counts, display) = (stage.statistics, stage.displayStatus)
    return Box.wait { [network, latency, server, devices, media] in
      let pages = await page?.statistics()
      var statistics = await network.loop.perform { BoxStatistics(sessions, screen: latency, stage: counts, display: display) }
      if let server { statistics.add(server.counters) }
      if let devices { statistics.add(devices.counters) }
      statistics.add(media)
      if let pages { statistics.add(pages, host: page?.host) }
      return statistics
    }
  }
}
