import Base
import Call
import Net
import Stage
import Synchronization

// What the box shows and plays by itself.
extension Box {
  /// How loud the box is, and what the overlay does.
  struct NoticeState: Sendable {
    var volume = Volume()
    /// Runs while the overlay is on.
    var overlay: Task<Void, Never>?
  }

  private var volumeFile: String { "\(options.state)/volume" }

  /// Plays as loud as before the last start, and watches the cameras for their mark.
  func startNotices() {
    let volume = Volume.load(from: volumeFile) ?? Volume(percent: configuration.sound.volume)
    notices.withLock { $0.volume = volume }
    media.playout.setGain(volume.gain)
    guard configuration.notices.marksCamera else { return }
    for camera in media.cameras { camera.thread.observeUse { [weak self] in self?.markCamera() } }
    markCamera()
  }

  /// Ends what `startNotices` and operators began.
  func stopNotices() {
    for camera in media.cameras { camera.thread.observeUse {} }
    notices.withLock { notices in
      notices.overlay?.cancel()
      notices.overlay = nil
    }
  }

  private func markCamera() {
    // Asked for under the lock: news from several threads must not overtake each other.
    notices.withLock { _ in stage.setCameraMark(media.cameras.contains { $0.thread.isInUse }) }
  }

  /// What the verbs about notices do.
  var noticeServices: NoticeServices {
    NoticeServices(
      identify: { [unowned self] seconds throws(VerbFailure) in identify(seconds: seconds) },
      showOverlay: { [unowned self] isOn throws(VerbFailure) in showOverlay(isOn) },
      volume: { [unowned self] change throws(VerbFailure) in change.map(changeVolume) ?? notices.withLock { $0.volume } })
  }

  private func identify(seconds: Int?) {
    guard let seconds else {
      stage.identify(nil)
      return power.show(for: nil)
    }
    let identification = Identification(
      name: name, place: configuration.identity.place, serial: configuration.identity.serial, version: Version.current,
      interfaces: NetworkInterfaces.all())
    stage.identify(identification.notice(in: configuration.notices.language), for: .seconds(Double(seconds)))
    // Nobody can tell a dark screen from the others.
    power.show(for: .seconds(Double(seconds)))
  }

  /// Changes the volume, shows it, and keeps it for the next start.
  @discardableResult
  func changeVolume(_ change: Volume.Change) -> Volume {
    notices.withLock { notices in
      notices.volume.apply(change)
      media.playout.setGain(notices.volume.gain)
      stage.showVolume(percent: notices.volume.percent, isMuted: notices.volume.isMuted)
      do { try notices.volume.save(to: volumeFile) } catch { Log.warning("the volume is not kept: \(error)") }
      return notices.volume
    }
  }

  private func showOverlay(_ isOn: Bool) {
    notices.withLock { notices in
      guard isOn != (notices.overlay != nil) else { return }
      notices.overlay?.cancel()
      notices.overlay = isOn ? Task { [weak self] in await self?.runOverlay() } : nil
      if !isOn { stage.setFigures([]) }
    }
  }

  private func runOverlay() async {
    var figures = OverlayFigures()
    while true {
      let sample = await overlaySample()
      let lines = figures.lines(sample)
      // Under the lock, so that nothing is shown after the overlay was taken off.
      let isOn = notices.withLock { _ in
        guard !Task.isCancelled else { return false }
        stage.setFigures(lines)
        return true
      }
      guard isOn, (try? await Task.sleep(for: .seconds(1))) != nil else { return }
    }
  }

  private func overlaySample() async -> OverlayFigures.Sample {
    let (direct, page) = call.withLock { ($0.direct, $0.page) }
    let sessions = direct?.sessions ?? []
    var reports = await network.loop.perform { sessions.map { $0.statistics() } }
    if let pages = await page?.statistics() { reports += pages.peerConnections }
    let (now, counts) = (MonotonicClock.now(), stage.statistics)
    return OverlayFigures.Sample(
      time: now, flips: counts.flips, missedFlips: stage.displayStatus.missedFlips,
      frames: counts.remoteFramesPresented + counts.videoFramesPresented, latency: latency.figures(now: now), reports: reports)
  }
}
