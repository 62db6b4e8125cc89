/// Which keys an on-screen keyboard has, row by row from the top.
struct KeyboardLayout: Equatable {
  /// What is on the keys at one time.
  enum Page: Sendable { case letters, symbols, moreSymbols, accents, numbers }

  /// What a key does.
  enum Key: Sendable, Hashable {
    /// Types this, or its capital.
    case text(String)
    case shift, backspace, enter, space
    /// Takes the keyboard off the screen.
    case hide
    case page(Page)
    /// Nothing: a place left free.
    case none
  }

  /// A key and how many columns it takes.
  struct Place: Equatable {
    var key: Key
    var width = 1.0
  }

  /// Rows are centred, where they are not as wide as the keyboard.
  var rows: [[Place]]
  /// How many columns the keyboard has.
  var columns: Double
  /// How much of the keyboard's width the columns take, of 1.
  var share = 1.0

  /// The keys of a page; what is typed decides on some of them.
  static func page(_ page: Page, language: KeyboardLanguage, purpose: FocusedField.Purpose) -> KeyboardLayout {
    switch page {
    case .letters: letters(language, purpose)
    case .symbols: symbols(["1234567890", "@#€$%&-+()", "*\"':;/!?"], next: .page(.moreSymbols), other: .accents)
    case .moreSymbols: symbols(["_=<>[]{}\\|", "~^`§°£¥•«»", "¿¡„“”‚‘’"], next: .page(.symbols), other: .accents)
    case .accents: symbols(["äöüßàáâãåæ", "çèéêëìíîïñ", "òóôõøùúû"], next: .shift, other: .symbols)
    case .numbers: numbers(purpose)
    }
  }

  private static func letters(_ language: KeyboardLanguage, _ purpose: FocusedField.Purpose) -> KeyboardLayout {
    let letters = language == .german ? ["qwertzuiopü", "asdfghjklöä", "yxcvbnmß"] : ["qwertyuiop", "asdfghjkl", "zxcvbnm"]
    let columns = Double(letters[0].count)
    let special = purpose == .email ? "@" : purpose == .url ? "/" : ","
    return KeyboardLayout(
      rows: [
        row(letters[0]), row(letters[1]), row(letters[2], between: .shift, and: .backspace, width: 1.5),
        [Place(key: .page(.symbols), width: 1.5), Place(key: .text(special)), Place(key: .space, width: columns - 6.5)] + end,
      ], columns: columns)
  }

  /// Ten columns of what is not among the letters.
  private static func symbols(_ characters: [String], next: Key, other: Page) -> KeyboardLayout {
    KeyboardLayout(
      rows: [
        row(characters[0]), row(characters[1]), row(characters[2], between: next, and: .backspace, width: 1),
        [Place(key: .page(.letters), width: 1.5), Place(key: .page(other)), Place(key: .text(",")), Place(key: .space, width: 2.5)] + end,
      ], columns: 10)
  }

  private static func numbers(_ purpose: FocusedField.Purpose) -> KeyboardLayout {
    let (side, left, right) = extras(purpose)
    return KeyboardLayout(
      rows: [
        row("123") + [Place(key: .backspace)], row("456") + [Place(key: side)], row("789") + [Place(key: .hide)],
        [Place(key: left), Place(key: .text("0")), Place(key: right), Place(key: .enter)],
      ], columns: 4, share: 0.5)
  }

  /// The page that a field is begun with.
  static func firstPage(for purpose: FocusedField.Purpose) -> Page {
    switch purpose {
    case .digits, .number, .phone, .pin, .date, .time: .numbers
    case .datetime: .symbols
    case .normal, .alpha, .url, .email, .name, .password, .terminal: .letters
    }
  }

  /// What stands beside the digits: at the side, and left and right of the zero.
  private static func extras(_ purpose: FocusedField.Purpose) -> (side: Key, left: Key, right: Key) {
    switch purpose {
    case .number: (.text("-"), .text("."), .text(","))
    case .phone: (.text("+"), .text("*"), .text("#"))
    case .date: (.text("-"), .text("."), .text("/"))
    case .time: (.none, .none, .text(":"))
    default: (.none, .none, .none)
    }
  }

  /// The right end of the last row, 4 columns.
  private static let end = [Place(key: .text(".")), Place(key: .hide, width: 1.25), Place(key: .enter, width: 1.75)]

  private static func row(_ characters: String) -> [Place] { characters.map { Place(key: .text(String($0))) } }

  private static func row(_ characters: String, between first: Key, and last: Key, width: Double) -> [Place] {
    [Place(key: first, width: width)] + row(characters) + [Place(key: last, width: width)]
  }
}

extension KeyboardLayout.Key {
  /// What the key types; nil when it does something else.
  func text(isShifted: Bool) -> String? {
    switch self {
    case .text(let text):
      let capital = text.uppercased()
      // The sharp s would become two letters.
      return isShifted && capital.count == 1 ? capital : text
    case .space: return " "
    default: return nil
    }
  }

  /// What stands on the key.
  func label(isShifted: Bool) -> String {
    switch self {
    case .text: text(isShifted: isShifted) ?? ""
    case .space, .none: ""
    case .shift: "⇧"
    case .backspace: "⌫"
    case .enter: "↵"
    case .hide: "⌨▾"
    case .page(.letters): "abc"
    case .page(.symbols), .page(.numbers): "?123"
    case .page(.moreSymbols): "#+="
    case .page(.accents): "äéñ"
    }
  }
}
