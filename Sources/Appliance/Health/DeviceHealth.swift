import Frames

/// What is wrong with the cameras, the microphone or the loudspeaker: their states in, at most one code of their area out.
///
/// A device that is looked for again is as it was until that comes to something, so that a code does not come and go with each attempt.
struct DeviceHealth: Sendable {
  /// The codes of one area.
  struct Codes: Sendable {
    var absent, busy, failed: HealthCode

    static let camera = Codes(absent: .cameraAbsent, busy: .cameraBusy, failed: .cameraFailed)
    static let microphone = Codes(absent: .microphoneAbsent, busy: .microphoneBusy, failed: .microphoneFailed)
    static let speaker = Codes(absent: .speakerAbsent, busy: .speakerBusy, failed: .speakerFailed)
  }

  private let codes: Codes
  private var states: [DeviceState]

  /// The health of `count` devices of which nothing is known yet.
  init(_ codes: Codes, count: Int = 1) { (self.codes, states) = (codes, Array(repeating: .starting, count: count)) }

  /// The part of the codes before the dot.
  var area: String { codes.absent.area }

  /// The device at `index` stands otherwise now.
  mutating func set(_ state: DeviceState, at index: Int = 0) {
    if state != .starting { states[index] = state }
  }

  /// What is wrong with the first device that does not work; nil: nothing is.
  var problem: (code: HealthCode, reason: String)? {
    for state in states {
      switch state {
      case .starting, .running: continue
      case .absent(let reason): return (codes.absent, reason)
      case .busy(let reason): return (codes.busy, reason)
      case .failed(let reason): return (codes.failed, reason)
      }
    }
    return nil
  }
}
