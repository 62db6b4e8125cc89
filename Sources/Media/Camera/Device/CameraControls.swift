import V4L2

/// Sets a camera as its settings say. What it lacks is left as it is.
struct CameraControls {
  /// Whether the camera itself turns pictures over.
  private(set) var mirrors = false
  /// What the camera refused, for the log.
  private(set) var refusals: [String] = []

  init(_ settings: CameraSettings, on device: any VideoDevice) {
    // A longer exposure would lower the frame rate in the dark.
    set(.exposureMayLowerRate, on: device) { _ in 0 }
    if let frequency = settings.powerLineFrequency {
      set(.powerLineFrequency, on: device) { control in
        let value: Int64 =
          switch frequency {
          case .off: 0
          case .hertz50: 1
          case .hertz60: 2
          case .automatic: 3
          }
        let entries = device.menu(of: control)
        return entries.isEmpty || entries.contains { $0.index == Int(value) } ? value : nil
      }
    }
    if let share = settings.brightness { set(.brightness, on: device) { $0.value(atShare: share) } }
    if let share = settings.zoom { set(.absoluteZoom, on: device) { $0.value(atShare: share) } }
    let isSet = set(.horizontalFlip, on: device) { settings.isMirrored ? 1 - $0.defaultValue : $0.defaultValue }
    mirrors = settings.isMirrored && isSet
  }

  /// Sets a control that the device has and that can hold the value.
  @discardableResult
  private mutating func set(_ identifier: VideoControl.Identifier, on device: any VideoDevice, to value: (VideoControl) -> Int64?) -> Bool {
    guard let control = device.control(identifier), control.isWritable, let value = value(control),
      (control.minimum...control.maximum).contains(value)
    else { return false }
    // Writing wakes some cameras' motors, and blinks others' pictures.
    if let current = try? device.value(of: control), current == value { return true }
    do throws(V4L2Error) {
      try device.set([ControlSetting(identifier, value)])
      return true
    } catch {
      refusals.append("\(control.name): \(error)")
      return false
    }
  }
}
