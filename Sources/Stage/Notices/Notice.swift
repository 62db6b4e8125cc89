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

  /// A line of two columns, such as an interface and its address.
  public struct Row: Sendable, Hashable {
    /// What the value is.
    public var label: String
    /// The value; what is too long for the screen takes up to three lines, and then ends in an ellipsis.
    public var value: String

    /// A line of two columns.
    public init(_ label: String, _ value: String) { (self.label, self.value) = (label, value) }
  }

  /// What the notice is about.
  public var kind: Kind
  /// A few words in large letters.
  public var title: String
  /// A sentence or two below the title; may be empty.
  public var text: String
  /// Details below the text.
  public var rows: [Row]
  /// What a QR code beside all that says, at most 1,000 bytes of ASCII (scanners guess how others are meant); nil: there is none.
  public var code: String?
  /// Seconds left until what the notice announces; the stage counts them down from the moment the notice is first shown.
  public var countdown: Int?
  /// What stands before the seconds, such as `Trying again in`.
  public var countdownLabel: String

  /// A notice. `countdown` is in seconds, counted down by the stage.
  public init(
    kind: Kind, title: String, text: String = "", rows: [Row] = [], code: String? = nil, countdown: Int? = nil, countdownLabel: String = ""
  ) {
    (self.kind, self.title, self.text, self.rows, self.code) = (kind, title, text, rows, code)
    (self.countdown, self.countdownLabel) = (countdown, countdownLabel)
  }

  /// What everything that the stage itself says is drawn with.
  public struct Theme: Sendable, Hashable {
    /// The letters' colour.
    public var foreground: Color
    /// The colour of the box behind them.
    public var background: Color
    /// A picture above the title of each notice; nil: none.
    public var logo: Artwork?

    /// A theme of two colours, and a logo.
    public init(
      foreground: Color = .white, background: Color = Color(red: 0x12, green: 0x24, blue: 0x38), logo: Artwork? = nil
    ) {
      (self.foreground, self.background, self.logo) = (foreground, background, logo)
    }
  }
}
