/// Which of the last packet indices were seen (RFC 3711 section 3.3.2). A bitmap used as a ring, so that moving on clears words only.
struct ReplayWindow: Sendable {
  /// How far back an index may lie behind the highest one.
  let size: Int
  /// The highest index seen; nil before the first.
  private(set) var highest: UInt64?
  private var words: [UInt64]

  init(size: Int) {
    self.size = size
    // One word more than needed: the highest index may stand at the beginning of its word.
    words = [UInt64](repeating: 0, count: (size + 63) / 64 + 1)
  }

  /// Throws `replayed` or `tooOld` for an index that must not be accepted.
  func check(_ index: UInt64) throws(SRTPError) {
    guard let highest, index <= highest else { return }
    if highest - index >= UInt64(size) { throw .tooOld }
    if words[Int(index / 64 % UInt64(words.count))] & 1 << (index % 64) != 0 { throw .replayed }
  }

  /// Remembers an index that `check` let pass and that authenticated.
  mutating func insert(_ index: UInt64) {
    let word = index / 64
    let highestWord = highest.map { $0 / 64 } ?? word
    if word > highestWord {
      for step in 1...min(word - highestWord, UInt64(words.count)) { words[Int((highestWord + step) % UInt64(words.count))] = 0 }
    }
    highest = max(highest ?? index, index)
    words[Int(word % UInt64(words.count))] |= 1 << (index % 64)
  }
}
