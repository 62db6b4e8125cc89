/// A message on the screen, for whoever stands in front of the box: large enough to be read from two metres.
public struct Notice: Sendable, Hashable {
  /// What the notice is about.
  public enum Kind: Sendable, Hashable {
    /// The box is starting.
    case starting
    /// A call is being set up.
    case connecting
    /// There is no network, and the box waits for it.
    case waitingForNetwork
    /// Something failed; the stable code stands on the screen too, so that it can be read out over the telephone.
    case error(code: String)
    /// The box shows who it is, so that an operator can tell it from the others.
    case identify
    /// Anything else worth saying.
    case information
  }

  /// What the notice is about.
  public var kind: Kind
  /// A few words in large letters.
  public var title: String
  /// A sentence or two below the title; may be empty.
  public var text: String
  /// Seconds left until what `text` announces; the stage counts them down from the moment the notice is first shown.
  public var countdown: Int?

  /// A notice. `countdown` is in seconds, counted down by the stage.
  public init(kind: Kind, title: String, text: String = "", countdown: Int? = nil) {
    (self.kind, self.title, self.text, self.countdown) = (kind, title, text, countdown)
  }

  /// The two colours that notices are drawn with.
  public struct Theme: Sendable, Hashable {
    /// The letters' colour.
    public var foreground: Color
    /// The colour of the box behind them.
    public var background: Color

    /// A theme of two colours.
    public init(foreground: Color = .white, background: Color = Color(red: 0x12, green: 0x24, blue: 0x38)) {
      (self.foreground, self.background) = (foreground, background)
    }
  }
}
