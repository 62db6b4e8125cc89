/// A question on the screen, for whoever stands in front of the box; answered by touch, pointer or keyboard, or by nobody in time.
///
/// Made for a page's `alert`, `confirm` and `prompt` (HTML, section 8.9.1, simple dialogs).
public struct Panel: Sendable, Hashable {
  /// What can be answered.
  public enum Kind: Sendable, Hashable {
    /// Something is said, and can be acknowledged.
    case alert
    /// Something is asked that can be agreed to or not.
    case confirm
    /// A line of text is asked for; `defaultText` stands in the field at first, up to its first 1,000 characters.
    case prompt(defaultText: String)
  }

  /// How a panel ended.
  public enum Answer: Sendable, Hashable {
    /// The person agreed; of a prompt, with this text.
    case accepted(text: String?)
    /// The person declined.
    case cancelled
    /// Nobody answered in time, or the panel was taken off the screen.
    case dismissed
  }

  /// What can be answered.
  public var kind: Kind
  /// Who asks: the page's host.
  public var title: String
  /// What is said or asked; what is too long for the screen ends in an ellipsis.
  public var text: String
  /// Seconds after which nobody is there to answer, counted from the moment the panel is first shown or last touched; nil: it stays.
  public var countdown: Int?
  /// What stands on the button that accepts.
  public var acceptLabel = "OK"
  /// What stands on the button that declines.
  public var cancelLabel = "Cancel"

  /// A panel. `countdown` is in seconds, counted down by the stage.
  public init(kind: Kind, title: String, text: String, countdown: Int? = nil) {
    (self.kind, self.title, self.text, self.countdown) = (kind, title, text, countdown)
  }
}
