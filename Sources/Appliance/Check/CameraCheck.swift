import Base
import Call
import Camera
import Frames

/// The test of a camera: its pictures go in, what they say comes out.
struct CameraCheck: Sendable {
  /// Fewer of the promised pictures than this share do for no call.
  static let leastShare = 0.7

  private var count = 0
  private var first: Instant?
  private var last: Instant?
  private var size = (width: 0, height: 0)
  private var light: PictureLight?

  /// No picture came yet.
  init() {}

  /// Takes a picture that came at `time`.
  mutating func take(_ frame: VideoFrame, at time: Instant) {
    count += 1
    first = first ?? time
    last = time
    size = (frame.buffer.width, frame.buffer.height)
    // The newest ones count: exposure needs a few to find itself.
    light = PictureLight(of: frame.buffer)
  }

  /// Pictures a second; nil while there are too few to tell.
  private var rate: Double? {
    guard let first, let last, count > 1, last > first else { return nil }
    return Double(count - 1) / (last - first).seconds
  }

  /// What was found of the camera `name` in `state`, which promises `framesPerSecond` and gives pictures in `format`.
  func item(_ name: String, device: String, state: DeviceState, format: String, framesPerSecond: Double) -> CheckItem {
    func found(_ verdict: CheckItem.Verdict, _ text: String) -> CheckItem {
      var figures: [String: Double] = [:]
      if count > 0 { (figures["width"], figures["height"]) = (Double(size.width), Double(size.height)) }
      figures["rate_hz"] = rate
      if let light { (figures["brightness_percent"], figures["contrast_percent"]) = (light.brightness * 100, light.contrast * 100) }
      return CheckItem(name, device: device, verdict, text, figures: figures)
    }
    if let reason = state.reason { return found(.failed, "\(state.word): \(reason)") }
    guard let light, let rate else {
      return found(
        .failed, state.isRunning ? "it is open, and gives no pictures; unplug it and plug it in again" : "it did not start in time")
    }
    let pictures =
      "\(CameraCheck.rounded(rate)) pictures a second, \(size.width)x\(size.height)\(format.isEmpty ? "" : " " + format), "
      + "brightness \(Int((light.brightness * 100).rounded())) %"
    if light.isDark { return found(.failed, "no picture: is the lens covered, or the room dark? (\(pictures))") }
    if light.isFlat { return found(.failed, "a picture of one colour: does something stand before the lens? (\(pictures))") }
    if rate < framesPerSecond * CameraCheck.leastShare {
      return found(
        .failed,
        "too few pictures: \(CameraCheck.rounded(framesPerSecond)) a second were promised; is there more light, or a faster socket? (\(pictures))"
      )
    }
    return found(.ok, pictures)
  }

  private static func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
