import Base

/// How long hardware is waited for.
struct CodingPatience: Sendable {
  /// For a picture for which the device first has to be opened or set up.
  var start = Interval.milliseconds(500)
  /// For any other picture: three frames at 30 a second, so that a busy machine is not taken for a broken device.
  var frame = Interval.milliseconds(100)
  /// For finding devices, and for each trial: opening a device and coding a few small pictures.
  var probe = Interval.seconds(3)
}
