import Frames

/// What becomes of the picture: which monitors show it, and how.
public struct DisplayStatus: Sendable, Equatable {
  /// Why nothing, or not what was wanted, is shown.
  public enum Problem: Sendable, Equatable {
    /// No monitor is connected; one is waited for.
    case nothingConnected
    /// The configured connector does not exist; the text says which do.
    case connectorAbsent(String)
    /// A monitor cannot be driven as wanted; the text says why and what is done instead.
    case unusable(String)
    /// Another program has the display.
    case busy
    /// The device may not be opened; the text says what is needed.
    case denied(String)
    /// There is no graphics card, or it does not work.
    case noCard(String)
  }

  /// The connectors' names, such as `HDMI-A-1`, the first decides the picture's size; `headless` without a display; empty when nothing is connected.
  public var outputs: [String] = []
  /// The first one's mode, such as `1920x1080@60`.
  public var mode = ""
  /// Why this mode: `configured`, `preferred`, `fallback`.
  public var modeSource = ""
  /// Clockwise turn of the picture on the monitor.
  public var rotation = VideoFrame.Rotation.none
  /// How many hardware planes show the picture on the first monitor.
  public var planes = 0
  /// Page flips that the kernel reported for the first monitor.
  public var flips = 0
  /// Refreshes that a picture was meant for and missed.
  public var missedFlips = 0
  /// Video frames that planes of their own showed on the first monitor.
  public var planeFrames = PlaneFrames()
  /// Whether the monitors are switched off on purpose.
  public var isBlanked = false
  /// How light the middle between black and white is on the first monitor, 1 where nobody changed that; nil: its driver cannot change it.
  public var gamma: Double?
  /// What is wrong; nil: nothing.
  public var problem: Problem?
  /// The kernel driver's name.
  public var driver = ""

  init(outputs: [String] = []) { self.outputs = outputs }

  /// Nothing is shown any more.
  mutating func forgetMonitors(because problem: Problem) {
    (outputs, mode, modeSource, planes, gamma, self.problem) = ([], "", "", 0, nil, problem)
  }

  /// Whether more than counts differ.
  func isOther(than status: DisplayStatus) -> Bool {
    var same = status
    (same.flips, same.missedFlips, same.planeFrames) = (flips, missedFlips, planeFrames)
    return same != self
  }
}

/// Video frames that planes of their own showed, without composition.
public struct PlaneFrames: Sendable, Equatable {
  /// Those that the processor copied into a buffer of the card.
  public var copied = 0
  /// Those that were shown from where they were, in another device's memory.
  public var imported = 0

  /// None so far.
  init() {}

  mutating func add(_ passage: VideoPlane.Passage?) {
    switch passage {
    case .copied: copied += 1
    case .imported: imported += 1
    case nil: break
    }
  }

  static func += (sum: inout PlaneFrames, more: PlaneFrames) {
    sum.copied += more.copied
    sum.imported += more.imported
  }
}

/// Which card's monitors are driven, and how.
public struct DisplaySettings: Sendable {
  /// The card's device node; nil: the first with a monitor, else the first that could have one.
  public var card: String?
  /// Which monitors, in which mode, and how they hang.
  public var preferences: DisplayPreferences
  /// Whether a driver that can is asked for changes in whole commits. False has every driver treated as the oldest are: for tests.
  package var usesAtomic = true

  /// Settings; without more, whatever monitor is connected, in the mode it prefers.
  public init(card: String? = nil, preferences: DisplayPreferences = DisplayPreferences()) {
    (self.card, self.preferences) = (card, preferences)
  }
}
