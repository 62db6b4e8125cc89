import Camera
import Sound

extension Configuration {
  /// Whether the call can do with a camera and a microphone. What is named is used all the same.
  var capturesMedia: Bool {
    switch call?.target {
    case .page: true
    case .direct(let whip, _): whip != nil
    case nil: false
    }
  }

  /// Whether the call can do with a loudspeaker.
  var playsSound: Bool {
    switch call?.target {
    case .page: true
    case .direct(_, let whep): whep != nil
    case nil: false
    }
  }

  /// Where pictures or sound come from, or go to.
  public enum Device: Sendable, Equatable, CustomStringConvertible {
    /// Whatever is there, or arrives first.
    case any
    /// What ALSA's configuration calls "default"; of sound alone.
    case standard
    /// Made by Parlor itself: a moving picture with a time code, a tone with a click.
    case synthetic
    /// Nothing: no picture, silence, or sound that nobody hears.
    case none
    /// A Y4M or WAV file.
    case file(String)
    /// A device of the machine: a camera's stable name or node, a sound card's identifier or ALSA name.
    case named(String)

    public var description: String {
      switch self {
      case .any: "any"
      case .standard: "default"
      case .synthetic: "synthetic"
      case .none: "none"
      case .file(let path): "file:\(path)"
      case .named(let name): name
      }
    }

    /// What a page with a grant is told while the device does not say its own name: a file's name without its folders.
    var name: String {
      if case .file(let path) = self { return path.split(separator: "/").last.map(String.init) ?? path }
      return description
    }

    /// Which sound card is wanted; nil: none is.
    var soundSelection: SoundSelection? {
      switch self {
      case .any: .any
      case .standard: .standard
      case .named(let name): .named(name)
      case .synthetic, .none, .file: nil
      }
    }
  }

  /// An entry of `[[camera]]`.
  public struct Camera: Sendable, Equatable {
    /// Where the pictures come from; never `standard`.
    public var device = Device.any
    /// Pixels from left to right that are wanted; what the camera has comes closest.
    public var width = 1280
    /// Pixels from top to bottom that are wanted.
    public var height = 720
    /// Pictures a second that are wanted.
    public var rate = 30.0
    /// Percent of the control's range; nil: as the camera has it.
    public var brightness: Double?
    /// Percent of the control's range; nil: as the camera has it.
    public var zoom: Double?
    /// What holds the flicker of lamps off the picture; nil: as the camera has it.
    public var powerLineFrequency: CameraSettings.PowerLineFrequency?
    /// Whether pictures are turned over from left to right, for everybody.
    public var isMirrored = false
    /// When the H.264 is used that a camera codes itself.
    public var ownH264 = CameraSettings.OwnH264.automatic

    /// Whichever camera is there, 1280 by 720 pixels, 30 a second.
    public init() {}

    /// What a camera of the machine is asked for; nil: none is used.
    var settings: CameraSettings? {
      var settings = CameraSettings()
      switch device {
      case .any: settings.selection = .any
      case .named(let name): settings.selection = .named(name)
      case .standard, .synthetic, .none, .file: return nil
      }
      (settings.width, settings.height, settings.framesPerSecond) = (width, height, rate)
      (settings.brightness, settings.zoom) = (brightness.map { $0 / 100 }, zoom.map { $0 / 100 })
      (settings.powerLineFrequency, settings.isMirrored, settings.ownH264) = (powerLineFrequency, isMirrored, ownH264)
      return settings
    }
  }

  /// `[sound]`.
  public struct Sound: Sendable, Equatable {
    /// Where sound comes from.
    public var capture = Device.any
    /// Where sound goes to; never `synthetic`.
    public var playback = Device.any
    /// Whether what the loudspeaker plays is taken out of what the microphone hears, where a page says nothing else.
    public var cancelsEcho = true
    /// Whether noise is taken out of what the microphone hears, where a page says nothing else.
    public var suppressesNoise = true
    /// Whether voices are brought to the same level, where a page says nothing else.
    public var controlsGain = true
    /// How loud the box is until somebody changes that, in percent.
    public var volume = 100

    /// Whatever is there, with all that helps voices.
    public init() {}

    /// What is done to a microphone's sound where a page says nothing else.
    var processing: VoiceProcessing {
      VoiceProcessing(echoCancellation: cancelsEcho, noiseSuppression: suppressesNoise, autoGainControl: controlsGain)
    }
  }
}
