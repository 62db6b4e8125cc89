import Glibc

/// Why a video device did not do what it was asked for.
public struct V4L2Error: Error, Equatable, Sendable, CustomStringConvertible {
  /// What was asked: the kernel's name of the request, or "open", "mmap", "poll".
  public var call: String
  /// The device, and more where that helps.
  public var subject: String
  /// The system's error number.
  public var code: Int32

  /// A refusal of `call`.
  public init(call: String, subject: String, code: Int32) { (self.call, self.subject, self.code) = (call, subject, code) }

  /// Whether the device is not there (any more).
  public var isGone: Bool { [ENODEV, ENXIO, ENOENT].contains(code) }
  /// Whether another program holds the device.
  public var isBusy: Bool { code == EBUSY }
  /// Whether the bus has no room for what was asked (USB: the device's share is more than is left).
  public var isOutOfBandwidth: Bool { code == ENOSPC }
  /// Whether a codec has handed out everything after it was told to stop.
  public var isDrained: Bool { code == EPIPE }
  /// Whether the driver does not know the request, or what it is about.
  public var isUnsupported: Bool { [ENOTTY, EINVAL, ENODATA].contains(code) }

  public var description: String { unsafe "\(subject): \(call): \(String(cString: strerror(code)))" }
}
