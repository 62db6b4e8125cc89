import Frames
import Glibc
import Sound

extension Status {
  /// A camera.
  public struct Camera: Codable, Sendable, Equatable {
    /// What the configuration calls it.
    public var id: String
    /// What it calls itself, while it is there.
    public var name: String
    /// `starting`, `running`, `absent`, `busy` or `failed`.
    public var state: String
    /// Why it does not run.
    public var reason: String?
    /// As it comes from the driver, such as `YUYV`.
    public var format: String
    /// Such as `1280x720`.
    public var size: String
    /// Pictures a second.
    public var rate: Double
    /// Pictures so far, and those that were lost or of no use.
    public var frames = 0
    public var dropped = 0

    /// A camera in `state`.
    public init(id: String, state: DeviceState, format: String, size: String, rate: Double) {
      (self.id, self.format, self.size, self.rate) = (id, format, size, rate)
      (self.state, reason) = (state.word, state.reason)
      if case .running(let name) = state { self.name = name } else { name = id }
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(name, forKey: .name)
      try container.encode(state, forKey: .state)
      try container.encode(reason, forKey: .reason)
      try container.encode(format, forKey: .format)
      try container.encode(size, forKey: .size)
      try container.encode(rate, forKey: .rate)
      try container.encode(frames, forKey: .frames)
      try container.encode(dropped, forKey: .dropped)
    }

    /// A line for a person.
    var text: String {
      let pictures = state == "running" ? ", \(size) \(format) at \(Int(rate.rounded()))" + (dropped > 0 ? ", \(dropped) dropped" : "") : ""
      return "\(name): \(state)" + pictures + (reason.map { ", \($0)" } ?? "")
    }
  }

  /// The sound devices.
  public struct Sound: Codable, Sendable, Equatable {
    /// What the configuration calls the source of sound.
    public var capture: String
    /// What the configuration calls where sound is played.
    public var playback: String
    /// How often a device ran dry or full.
    public var xruns: Int
    /// How loud the box is.
    public var volume: Volume
    /// The card that sound comes from; nil: it does not come from a card.
    public var microphone: SoundDevice?
    /// The card that sound goes to; nil: it does not go to a card.
    public var speaker: SoundDevice?

    public init(capture: String, playback: String, xruns: Int = 0, volume: Volume = Volume()) {
      (self.capture, self.playback, self.xruns, self.volume) = (capture, playback, xruns, volume)
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(capture, forKey: .capture)
      try container.encode(playback, forKey: .playback)
      try container.encode(xruns, forKey: .xruns)
      try container.encode(volume, forKey: .volume)
      try container.encode(microphone, forKey: .microphone)
      try container.encode(speaker, forKey: .speaker)
    }
  }

  /// One direction of a sound card.
  public struct SoundDevice: Codable, Sendable, Equatable {
    /// `starting`, `running`, `absent`, `busy` or `failed`.
    public var state: String
    /// What the card calls itself, while it is there.
    public var name: String?
    /// Why it does not run.
    public var reason: String?
    /// How often it ran dry or full.
    public var xruns: Int
    /// From the microphone into the box, or from the box to the loudspeaker, in milliseconds.
    public var delay: Double
    /// From one interrupt of the card to the next, in milliseconds.
    public var period: Double
    /// What the card's ring holds, in milliseconds.
    public var buffer: Double
    /// How much faster than it claims the card runs against the machine's clock, in millionths.
    public var drift: Double
    /// The loudest sample of the last ten milliseconds, in dB of full scale; of a microphone before anything is done to it.
    public var level: Double
    /// The same after processing; nil for a loudspeaker, as all that follows.
    public var processedLevel: Double?
    /// How much weaker the echo is than what is played, in dB; nil as long as there was none.
    public var echoReturnLoss: Double?
    /// How much weaker processing makes it, in dB.
    public var echoReturnLossEnhancement: Double?
    /// How late it comes, in milliseconds.
    public var echoDelay: Double?

    /// A device in `state`, `peak` (0 to 1) loud.
    public init(state: DeviceState, figures: StreamFigures, peak: Double) {
      (self.state, reason) = (state.word, state.reason)
      if case .running(let name) = state { self.name = name }
      (xruns, delay, drift) = (figures.xruns, SoundDevice.rounded(figures.delay), SoundDevice.rounded(figures.drift))
      (period, buffer) = (SoundDevice.rounded(figures.period), SoundDevice.rounded(figures.buffer))
      level = SoundDevice.decibels(peak)
    }

    /// Adds what processing says of a microphone's sound.
    mutating func add(processedPeak: Double, voice: VoiceProcessor.Figures) {
      processedLevel = SoundDevice.decibels(processedPeak)
      echoReturnLoss = voice.echoReturnLoss.map { SoundDevice.rounded(Double($0)) }
      echoReturnLossEnhancement = voice.echoReturnLossEnhancement.map { SoundDevice.rounded(Double($0)) }
      echoDelay = voice.delay.map { SoundDevice.rounded($0.seconds * 1_000) }
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    private static func decibels(_ peak: Double) -> Double { rounded(20 * log10(max(1e-6, peak))) }

    enum CodingKeys: String, CodingKey {
      case state, name, reason, xruns
      case delay = "delay_ms"
      case period = "period_ms"
      case buffer = "buffer_ms"
      case drift = "drift_ppm"
      case level = "level_db"
      case processedLevel = "processed_level_db"
      case echoReturnLoss = "echo_return_loss_db"
      case echoReturnLossEnhancement = "echo_return_loss_enhancement_db"
      case echoDelay = "echo_delay_ms"
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(state, forKey: .state)
      try container.encode(name, forKey: .name)
      try container.encode(reason, forKey: .reason)
      try container.encode(xruns, forKey: .xruns)
      try container.encode(delay, forKey: .delay)
      try container.encode(period, forKey: .period)
      try container.encode(buffer, forKey: .buffer)
      try container.encode(drift, forKey: .drift)
      try container.encode(level, forKey: .level)
      try container.encodeIfPresent(processedLevel, forKey: .processedLevel)
      try container.encodeIfPresent(echoReturnLoss, forKey: .echoReturnLoss)
      try container.encodeIfPresent(echoReturnLossEnhancement, forKey: .echoReturnLossEnhancement)
      try container.encodeIfPresent(echoDelay, forKey: .echoDelay)
    }

    /// A line for a person.
    var text: String {
      guard state == "running" else { return state + (reason.map { ", \($0)" } ?? "") }
      return "\(name ?? ""), delay \(delay) ms, drift \(drift) ppm, level \(level) dB"
    }
  }
}
