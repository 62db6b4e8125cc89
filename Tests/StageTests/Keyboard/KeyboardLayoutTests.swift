import Testing

@testable import Stage

@Suite struct KeyboardLayoutTests {
  private static let screens = [(1_920, 1_080), (1_080, 1_920), (2_560, 1_080), (640, 360), (480, 800), (3_840, 2_160)]

  private func keys(_ page: KeyboardLayout.Page, _ language: KeyboardLanguage = .english, _ purpose: FocusedField.Purpose = .normal)
    -> [KeyboardLayout.Key]
  {
    KeyboardLayout.page(page, language: language, purpose: purpose).rows.flatMap { $0.map(\.key) }
  }

  /// All that can be typed, beginning with the letters.
  private func characters(_ language: KeyboardLanguage, _ purpose: FocusedField.Purpose) -> Set<String> {
    var (pages, waiting): (Set<KeyboardLayout.Page>, [KeyboardLayout.Page]) = ([], [KeyboardLayout.firstPage(for: purpose)])
    var result: Set<String> = []
    while let page = waiting.popLast() {
      guard pages.insert(page).inserted else { continue }
      let keys = keys(page, language, purpose)
      for key in keys {
        if case .page(let next) = key { waiting.append(next) }
        if let text = key.text(isShifted: false) { result.insert(text) }
        if keys.contains(.shift), let text = key.text(isShifted: true) { result.insert(text) }
      }
    }
    return result
  }

  @Test(arguments: [KeyboardLanguage.english, .german])
  func everyCharacterOfAPasswordCanBeTyped(_ language: KeyboardLanguage) {
    let ascii = (32..<127).map { String(Unicode.Scalar(UInt8($0))) }
    let umlauts = "äöüÄÖÜß€§".map(String.init)
    for purpose in FocusedField.Purpose.allCases where KeyboardLayout.firstPage(for: purpose) != .numbers {
      let missing = Set(ascii + umlauts).subtracting(characters(language, purpose))
      #expect(missing.isEmpty, "\(purpose): \(missing.sorted())")
    }
  }

  @Test func padHasWhatThePurposeNeeds() {
    let cases: [(FocusedField.Purpose, String)] = [
      (.digits, ""), (.pin, ""), (.number, "-.,"), (.phone, "+*#"), (.date, "-./"), (.time, ":"),
    ]
    for (purpose, extras) in cases {
      #expect(characters(.german, purpose) == Set(("0123456789" + extras).map(String.init)), "\(purpose)")
    }
    #expect(keys(.letters, .english, .email).contains(.text("@")) && keys(.letters, .english, .url).contains(.text("/")))
  }

  @Test func everyPageEditsSendsAndGoes() {
    for page in [KeyboardLayout.Page.letters, .symbols, .moreSymbols, .accents, .numbers] {
      for language in [KeyboardLanguage.english, .german] {
        let keys = keys(page, language)
        for key in [KeyboardLayout.Key.backspace, .enter, .hide] { #expect(keys.contains(key), "\(page) \(key)") }
        #expect(Set(keys).subtracting([.none]).count == keys.count { $0 != .none }, "a key of \(page) stands twice")
      }
    }
    #expect(
      KeyboardLanguage(keyboardLayout: "de") == .german && KeyboardLanguage(keyboardLayout: "de(nodeadkeys)") == .german)
    #expect(KeyboardLanguage(keyboardLayout: "us") == .english && KeyboardLanguage(keyboardLayout: "dev") == .english)
  }

  @Test(arguments: screens)
  func keysAreAsLargeAsFingersAndDoNotOverlap(width: Int, height: Int) {
    let screen = Rectangle(x: 0, y: 0, width: width, height: height)
    let finger = Int(Lettering.unit(width: width, height: height) / 12)
    for page in [KeyboardLayout.Page.letters, .symbols, .moreSymbols, .accents, .numbers] {
      for language in [KeyboardLanguage.english, .german] {
        let layout = KeyboardLayout.page(page, language: language, purpose: .phone)
        let (low, high) = (
          KeyboardPlan(layout, screen: screen, isAtTop: false), KeyboardPlan(layout, screen: screen, isAtTop: true)
        )
        #expect(low.area.y + low.area.height == height && high.area.y == 0)
        #expect(!low.area.overlaps(high.area), "what one place covers, the other leaves free")
        for (index, key) in low.keys.enumerated() {
          #expect(key.face.width >= finger && key.face.height >= finger, "\(key.key)")
          #expect(low.area.contains(key.cell) && key.cell.contains(key.face))
          #expect(!low.keys[(index + 1)...].contains { $0.cell.overlaps(key.cell) })
          let middle = (Double(key.cell.x) + Double(key.cell.width) / 2, Double(key.cell.y) + Double(key.cell.height) / 2)
          #expect(low.key(middle.0, middle.1) == key)
        }
      }
    }
  }
}
