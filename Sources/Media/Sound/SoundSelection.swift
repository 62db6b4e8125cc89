/// Which microphone or loudspeaker is wanted.
public enum SoundSelection: Sendable, Equatable, CustomStringConvertible {
  /// Whichever is there: a USB device before others, and the newest of those.
  case any
  /// What ALSA's configuration calls "default".
  case standard
  /// The card with this identifier (`/proc/asound/cards`), which stays when cards are numbered anew, or an ALSA device name such as "hw:Kiosk,0".
  case named(String)

  public var description: String {
    switch self {
    case .any: "any"
    case .standard: "default"
    case .named(let name): name
    }
  }
}
