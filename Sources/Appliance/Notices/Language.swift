import Stage

/// A language of the people in front of the box. Operators' verbs and the log are in English.
public enum Language: String, Sendable, CaseIterable {
  case english = "en"
  case german = "de"

  /// The letters that they expect on a keyboard.
  var keyboardLanguage: KeyboardLanguage {
    switch self {
    case .english: .english
    case .german: .german
    }
  }
}
