import Base
import Call
import FoundationEssentials
import Frames

// Cameras, microphone and loudspeaker: what is wrong with them.
extension Box {
  /// How the devices stand, by the areas of health.
  struct DeviceStates: Sendable {
    var cameras: DeviceHealth
    var microphone = DeviceHealth(.microphone)
    var speaker = DeviceHealth(.speaker)

    init(cameraCount: Int) { cameras = DeviceHealth(.camera, count: cameraCount) }

    /// Takes note of a state, and returns the health of its area.
    mutating func set(_ state: DeviceState, of device: BoxMedia.Device) -> DeviceHealth {
      switch device {
      case .camera(let index):
        cameras.set(state, at: index)
        return cameras
      case .microphone:
        microphone.set(state)
        return microphone
      case .speaker:
        speaker.set(state)
        return speaker
      }
    }
  }

  /// Has what is wrong with devices told, from now on.
  func watchDevices() {
    for (device, watch) in media.watches {
      _ = watch.add { [weak self, loop = network.loop] state in loop.run { [weak self] in self?.deviceChanged(device, state) } }
    }
  }

  private func deviceChanged(_ device: BoxMedia.Device, _ state: DeviceState) {
    let area = deviceStates.withLock { $0.set(state, of: device) }
    health.withLock { $0.set(area.problem, area: area.area, now: Date()) }
    showHealth()
  }
}
