/// Which TSNs have arrived: the cumulative TSN and a bitmap of those beyond it (RFC 9260 section 6.2).
struct ReceivedTSNs: Sendable {
  /// What became of a TSN.
  enum Result { case new, duplicate, outOfWindow }

  /// TSNs further than this beyond the cumulative one are not taken: gap blocks have 16 bits.
  static let window = 65_000

  /// The last TSN below which nothing is missing.
  private(set) var cumulative: UInt32
  /// How far the highest TSN lies beyond the cumulative one.
  private(set) var reach = 0
  /// One bit per TSN, at its lower 16 bits. Bits outside the window are 0.
  private var words = [UInt64](repeating: 0, count: 1_024)

  /// Nothing arrived; the peer's first TSN is `initialTSN`.
  init(initialTSN: UInt32) { cumulative = initialTSN &- 1 }

  /// Whether TSNs are missing below the highest one.
  var hasGap: Bool { reach > 0 }

  @inline(__always) private func place(_ tsn: UInt32) -> (word: Int, mask: UInt64) {
    (Int((tsn >> 6) & 1_023), 1 << UInt64(tsn & 63))
  }

  /// What `insert` would say of `tsn`.
  func classify(_ tsn: UInt32) -> Result {
    let offset = tsn &- cumulative
    guard offset != 0, offset < 1 << 31 else { return .duplicate }
    guard offset <= UInt32(Self.window) else { return .outOfWindow }
    let (word, mask) = place(tsn)
    return words[word] & mask == 0 ? .new : .duplicate
  }

  /// Notes that `tsn`, which is new, arrived.
  mutating func insert(_ tsn: UInt32) {
    let offset = Int(tsn &- cumulative)
    if offset == 1, reach == 0 {
      cumulative = tsn
      return
    }
    let (word, mask) = place(tsn)
    words[word] |= mask
    reach = max(reach, offset)
    if offset == 1 { advance() }
  }

  /// Moves the cumulative TSN to `tsn`, whatever is missing below it (RFC 3758 section 3.6). False when it is not ahead or out of the window.
  mutating func forward(to tsn: UInt32) -> Bool {
    let distance = tsn &- cumulative
    guard distance != 0, distance <= UInt32(Self.window) else { return false }
    for _ in 0..<distance {
      cumulative &+= 1
      let (word, mask) = place(cumulative)
      words[word] &= ~mask
    }
    reach = max(0, reach - Int(distance))
    advance()
    return true
  }

  private mutating func advance() {
    while reach > 0 {
      let (word, mask) = place(cumulative &+ 1)
      guard words[word] & mask != 0 else { return }
      words[word] &= ~mask
      cumulative &+= 1
      reach -= 1
    }
  }

  /// The first block of TSNs that arrived beyond `offset`, as offsets from the cumulative TSN. Nil when there is none.
  func block(after offset: Int) -> (first: Int, last: Int)? {
    let first = find(from: offset + 1, set: true)
    guard first <= reach else { return nil }
    return (first, find(from: first, set: false) - 1)
  }

  private func find(from start: Int, set: Bool) -> Int {
    var offset = start
    while offset <= reach {
      let tsn = cumulative &+ UInt32(offset)
      let bit = Int(tsn & 63)
      let word = words[Int((tsn >> 6) & 1_023)]
      let rest = (set ? word : ~word) >> UInt64(bit)
      if rest != 0 { return min(offset + rest.trailingZeroBitCount, reach + 1) }
      offset += 64 - bit
    }
    return reach + 1
  }
}
