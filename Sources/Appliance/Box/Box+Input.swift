import Base
import Stage

// What people do that concerns the box and not what is on its screen.
extension Box {
  /// The machine's input devices, and the call key or button that the configuration names.
  static func inputDevices(_ configuration: Configuration) -> InputDevices {
    InputDevices(callKeys: Set([configuration.call?.key].compactMap { $0 }), callButton: configuration.call?.button)
  }

  /// Takes what people did, on the stage's thread.
  func take(_ news: InputNews) {
    switch news {
    case .press:
      guard configuration.call?.start == .touch, !isCallOpen else { return }
      changeCall { box throws(VerbFailure) in if !box.isCallOpen { try box.startCall() } }
    case .callKey:
      changeCall { box throws(VerbFailure) in if box.isCallOpen { try box.hangUp() } else { try box.startCall() } }
    case .activity: power.touch()
    case .volume(let step):
      // Remembered in a file, which the stage's thread must not wait for.
      callChanges.async { [weak self] in _ = self?.changeVolume(Volume.Change(step)) }
    }
  }

  /// Whether a call is under way, or a page that makes calls is open.
  var isCallOpen: Bool { call.withLock { $0.direct != nil || $0.page != nil } }

  /// Starts or ends a call on a thread that may wait. What comes while a call is just being started or ended is an impatient hand, and nothing more.
  private func changeCall(_ change: @escaping @Sendable (Box) throws(VerbFailure) -> Void) {
    guard !isCallChanging.exchange(true, ordering: .acquiringAndReleasing) else { return }
    callChanges.async { [weak self] in
      guard let self else { return }
      do throws(VerbFailure) { try change(self) } catch { Log.warning("by hand: \(error)") }
      isCallChanging.store(false, ordering: .releasing)
    }
  }
}

extension Volume.Change {
  /// What a volume key does.
  init(_ step: InputAction.VolumeStep) {
    self =
      switch step {
      case .up: .raise(5)
      case .down: .raise(-5)
      case .mute: .toggleMute
      }
  }
}
