/// Gives each connector a CRTC of its own that can drive it.
struct CRTCMatching {
  /// For each connector, in the given order; nil: none is left for it.
  private(set) var assignment: [CRTCSnapshot?]

  private let choices: [[CRTCSnapshot]]
  private let current: [UInt32?]
  private var bestScore = -1

  /// The best assignment: earlier connectors are served before later ones, and as few as possible change the CRTC that they have.
  init(_ connectors: [ConnectorSnapshot], crtcs: [CRTCSnapshot]) {
    current = connectors.map(\.crtc)
    choices = connectors.map { connector in
      let possible = crtcs.filter { $0.mask & connector.possibleCRTCs != 0 }
      // What a connector has is tried first, so that the first try is nearly always the best.
      return possible.filter { $0.id == connector.crtc } + possible.filter { $0.id != connector.crtc }
    }
    assignment = connectors.map { _ in nil }
    search(assignment, from: 0, score: 0)
  }

  /// What serving a connector is worth: more than all that come after it, and than all that keep what they have.
  private func worth(_ index: Int) -> Int { 1 << (choices.count - index + 5) }

  private mutating func search(_ partial: [CRTCSnapshot?], from index: Int, score: Int) {
    guard index < choices.count else {
      if score > bestScore { (assignment, bestScore) = (partial, score) }
      return
    }
    let possible = score + (index..<choices.count).reduce(0) { $0 + worth($1) + (current[$1] == nil ? 0 : 1) }
    guard possible > bestScore else { return }
    for crtc in choices[index] where !partial.contains(crtc) {
      var next = partial
      next[index] = crtc
      search(next, from: index + 1, score: score + worth(index) + (crtc.id == current[index] ? 1 : 0))
    }
    search(partial, from: index + 1, score: score)
  }
}
