/// A text field that has the focus, as the program it belongs to describes it.
package struct FocusedField: Sendable, Equatable {
  /// What is to be typed (`zwp_text_input_v3.content_purpose`).
  package enum Purpose: UInt32, Sendable, CaseIterable {
    case normal, alpha, digits, number, phone, url, email, name, password, pin, date, time, datetime, terminal
  }

  /// How it is to be typed (`zwp_text_input_v3.content_hint`).
  package struct Hints: OptionSet, Sendable {
    package var rawValue: UInt32
    package static let autoCapitalization = Hints(rawValue: 0x4)
    package static let uppercase = Hints(rawValue: 0x10)
    package static let hiddenText = Hints(rawValue: 0x40)
    package static let sensitiveData = Hints(rawValue: 0x80)

    package init(rawValue: UInt32) { self.rawValue = rawValue }
  }

  /// Another number means another field, or that the same one was asked to be typed into once more.
  package var activation: UInt64
  /// What is to be typed.
  package var purpose: Purpose
  /// How it is to be typed.
  package var hints: Hints
  /// Where the caret stands on the screen; nil when the program does not say.
  package var caret: Rectangle?
  /// Where a finger or button went down on the program last; nil: nowhere.
  package var press: Rectangle?
  /// How often that happened.
  package var pressCount: Int
  /// Whether the next letter is the first of a sentence, as far as the program tells of the text.
  package var isAtSentenceStart: Bool

  package init(
    activation: UInt64, purpose: Purpose = .normal, hints: Hints = [], caret: Rectangle? = nil, press: Rectangle? = nil,
    pressCount: Int = 1, isAtSentenceStart: Bool = false
  ) {
    (self.activation, self.purpose, self.hints) = (activation, purpose, hints)
    (self.caret, self.press, self.pressCount, self.isAtSentenceStart) = (caret, press, pressCount, isAtSentenceStart)
  }

  /// Whether what is typed is nobody else's business.
  var isSecret: Bool { purpose == .password || purpose == .pin || !hints.isDisjoint(with: [.hiddenText, .sensitiveData]) }
}
