/// What is done to a microphone's sound before anybody gets it (the constraints of W3C Media Capture and Streams that have these names).
public struct VoiceProcessing: Sendable, Hashable {
  /// Whether what the loudspeaker plays is taken out.
  public var echoCancellation: Bool
  /// Whether steady noise is taken out.
  public var noiseSuppression: Bool
  /// Whether quiet voices are made louder, and loud ones quieter.
  public var autoGainControl: Bool

  /// What calls want, unless they say otherwise: all of it.
  public init(echoCancellation: Bool = true, noiseSuppression: Bool = true, autoGainControl: Bool = true) {
    (self.echoCancellation, self.noiseSuppression, self.autoGainControl) = (echoCancellation, noiseSuppression, autoGainControl)
  }

  /// The sound as the microphone gives it.
  public static let none = VoiceProcessing(echoCancellation: false, noiseSuppression: false, autoGainControl: false)

  /// Whether anything is done.
  public var isNeeded: Bool { self != .none }
}
