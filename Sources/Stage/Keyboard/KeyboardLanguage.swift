/// Whose letters stand on the keys of the on-screen keyboard.
public enum KeyboardLanguage: String, Sendable, CaseIterable {
  case english = "en"
  case german = "de"

  /// The language that people expect who have this layout on their keyboards, by XKB's name of it.
  init(keyboardLayout: String) {
    let country = keyboardLayout.prefix { $0 != "," && $0 != "(" }
    self = ["de", "at", "ch", "li"].contains(country) ? .german : .english
  }
}
