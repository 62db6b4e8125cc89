import Base
import Glibc
import Net

// How parts of the box end and come back.
extension Box {
  /// Ends a part of the box, and has it come back.
  func restart(_ part: Services.Part) throws(VerbFailure) {
    switch part {
    case .page: try page().tell(.restartRequested)
    case .call:
      if let page = call.withLock({ $0.page }) { return page.tell(.openRequested(url: nil)) }
      if call.withLock({ $0.direct }) != nil { try hangUp() }
      try startCall()
    case .app:
      guard PageProgram.isManagedElsewhere() else {
        throw VerbFailure(.unavailable, "no service manager started parlor run, so nothing would start it again")
      }
      Log.notice("the app restarts")
      kill(getpid(), SIGTERM)
    case .box:
      Log.notice("the box restarts")
      try SystemManager.reboot()
    }
  }

  /// Restarts the box when the configuration says so.
  func followRestartSchedule() {
    guard let schedule = RestartSchedule(configuration.power) else { return }
    network.loop.run { [weak self] in self?.look(at: schedule) }
  }

  private func look(at schedule: RestartSchedule) {
    var schedule = schedule
    if schedule.pass(.now, isInCall: health.withLock { $0.isInCall }) {
      Log.notice("it is time to restart: power.restart_at")
      // Not on the network thread, which must not wait.
      callChanges.async { [weak self] in
        do throws(VerbFailure) { try self?.restart(.box) } catch { Log.error("power.restart_at: \(error)") }
      }
    }
    let next = schedule
    network.loop.schedule(at: MonotonicClock.now() + .seconds(30)) { [weak self] in self?.look(at: next) }
  }
}
