import CALSA
import Frames

/// What can be wrong with a source of sound, a sound card or a file.
public enum SoundError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A file cannot be opened, read or written; `reason` is the system's.
  case file(path: String, reason: String)
  /// A file is not what it should be; `reason` says what is accepted.
  case malformed(path: String, reason: String)
  /// Two sample rates that cannot be converted into each other.
  case unsupportedRate(Int)
  /// The device is not there, or has gone; `reason` names what was looked for and what is there.
  case absent(device: String, reason: String)
  /// Another program holds the device.
  case busy(device: String)
  /// The device neither gives nor takes sound any more, `milliseconds` long.
  case stalled(device: String, milliseconds: Int)
  /// The device refused `operation`; `reason` is the system's, or says what was wanted of it.
  case device(String, operation: String, reason: String)

  public var description: String {
    switch self {
    case .file(let path, let reason), .malformed(let path, let reason): "\(path): \(reason)"
    case .unsupportedRate(let rate): "sample rate \(rate) Hz, accepted are 4000 to 192000"
    case .absent(let device, let reason): device == SoundSelection.any.description ? reason : "\(device): \(reason)"
    case .busy(let device): "\(device): another program uses it"
    case .stalled(let device, let milliseconds): "\(device): no sound moved for \(milliseconds) ms"
    case .device(let device, let operation, let reason): "\(device): cannot \(operation): \(reason)"
    }
  }

  /// How a device stands that failed like this.
  public var deviceState: DeviceState {
    switch self {
    case .absent: .absent(reason: description)
    case .busy: .busy(reason: description)
    default: .failed(reason: description)
    }
  }
}

/// What ALSA calls an error number.
func systemReason(_ error: Int32) -> String { unsafe String(cString: snd_strerror(-abs(error))) }
