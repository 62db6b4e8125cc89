/// Which decoded pictures later ones may refer to, and in which order (ITU-T H.264 sections 8.2.1, 8.2.4 and 8.2.5), for frames.
struct H264References: Sendable {
  /// A reference.
  struct Reference: Sendable, Equatable {
    /// Where it is, in words of whoever decodes.
    var surface: UInt32
    var frameNumber: Int
    var order: Int32
    /// Nil: a short-term reference.
    var longTermIndex: Int?
  }

  /// The references, in the order they were decoded in.
  private(set) var references: [Reference] = []
  private var previousOrderHigh: Int32 = 0
  private var previousOrderLow: Int32 = 0
  private var previousFrameNumber = 0
  private var frameNumberOffset = 0
  private var followsForgetAll = false

  /// The picture order count of a frame; counts on. Called once for each frame, before `list`. What a stream makes overflow wraps.
  mutating func order(of slice: H264Stream.Slice, _ sequence: H264Stream.Sequence) -> Int32 {
    let maximum = 1 << sequence.frameNumberBits
    defer { previousFrameNumber = slice.frameNumber }
    if sequence.orderType == 0 {
      if slice.isKeyFrame { (previousOrderHigh, previousOrderLow) = (0, 0) }
      let (low, full) = (Int32(slice.orderLowBits), Int32(1) << Int32(sequence.orderBits))
      var high = previousOrderHigh
      if low < previousOrderLow, previousOrderLow - low >= full / 2 {
        high &+= full
      } else if low > previousOrderLow, low - previousOrderLow > full / 2 {
        high &-= full
      }
      if slice.isReference { (previousOrderHigh, previousOrderLow) = (high, low) }
      return high &+ low
    }
    if slice.isKeyFrame || followsForgetAll {
      frameNumberOffset = 0
    } else if previousFrameNumber > slice.frameNumber {
      frameNumberOffset += maximum
    }
    followsForgetAll = false
    let number = frameNumberOffset + slice.frameNumber
    guard sequence.orderType == 1 else { return slice.isKeyFrame ? 0 : Int32(truncatingIfNeeded: 2 * number - (slice.isReference ? 0 : 1)) }
    let cycle = sequence.orderCycle
    var absolute = cycle.isEmpty ? 0 : number
    if !slice.isReference, absolute > 0 { absolute -= 1 }
    var expected: Int32 = 0
    if absolute > 0 {
      let (turns, position) = ((absolute - 1) / cycle.count, (absolute - 1) % cycle.count)
      expected = Int32(truncatingIfNeeded: turns) &* cycle.reduce(0, &+) &+ cycle[0...position].reduce(0, &+)
    }
    return expected &+ (slice.isReference ? 0 : sequence.offsetForNonReference) &+ slice.orderDelta
  }

  /// The number of a short-term reference as a picture sees it (formula 8-27).
  private static func number(_ reference: Reference, _ current: Int, _ sequence: H264Stream.Sequence) -> Int {
    reference.frameNumber > current ? reference.frameNumber - (1 << sequence.frameNumberBits) : reference.frameNumber
  }

  /// The references of a P slice in its order; nil when one that it names is missing.
  func list(for slice: H264Stream.Slice, _ sequence: H264Stream.Sequence) -> [Reference]? {
    let current = slice.frameNumber
    let short = references.filter { $0.longTermIndex == nil }.sorted {
      H264References.number($0, current, sequence) > H264References.number($1, current, sequence)
    }
    let long = references.filter { $0.longTermIndex != nil }.sorted { ($0.longTermIndex ?? 0) < ($1.longTermIndex ?? 0) }
    var list = Array((short + long).prefix(slice.activeReferences))
    guard !list.isEmpty else { return nil }
    let maximum = 1 << sequence.frameNumberBits
    var predicted = current
    for (position, change) in slice.modifications.enumerated() {
      let found: Reference?
      if change.operation == 2 {
        found = references.first { $0.longTermIndex == change.value }
      } else {
        let difference = change.value + 1
        predicted = change.operation == 0 ? predicted - difference : predicted + difference
        predicted = (predicted + maximum) % maximum
        let wanted = predicted > current ? predicted - maximum : predicted
        found = references.first { $0.longTermIndex == nil && H264References.number($0, current, sequence) == wanted }
      }
      guard let found, position < slice.activeReferences else { return nil }
      let place = min(position, list.count)
      list.insert(found, at: place)
      if let later = list.indices.first(where: { $0 > place && list[$0] == found }) { list.remove(at: later) }
      list = Array(list.prefix(slice.activeReferences))
    }
    return list
  }

  /// Takes up a decoded frame and lets others go, as its slices say.
  mutating func finish(_ slice: H264Stream.Slice, _ sequence: H264Stream.Sequence, surface: UInt32, order: Int32) {
    if slice.isKeyFrame { references.removeAll() }
    guard slice.isReference else { return }
    var new = Reference(surface: surface, frameNumber: slice.frameNumber, order: order, longTermIndex: slice.becomesLongTerm ? 0 : nil)
    let current = slice.frameNumber
    for marking in slice.markings ?? [] {
      switch marking {
      case .forget(let difference):
        references.removeAll { $0.longTermIndex == nil && H264References.number($0, current, sequence) == current - difference }
      case .forgetLongTerm(let index): references.removeAll { $0.longTermIndex == index }
      case .makeLongTerm(let difference, let index):
        references.removeAll { $0.longTermIndex == index }
        for position in references.indices
        where references[position].longTermIndex == nil
          && H264References.number(references[position], current, sequence) == current - difference
        {
          references[position].longTermIndex = index
        }
      case .limitLongTerm(let count): references.removeAll { ($0.longTermIndex ?? -1) >= count }
      case .forgetAll:
        references.removeAll()
        (new.frameNumber, new.order) = (0, 0)
        (previousFrameNumber, followsForgetAll, previousOrderHigh, previousOrderLow) = (0, true, 0, 0)
      case .becomeLongTerm(let index):
        references.removeAll { $0.longTermIndex == index }
        new.longTermIndex = index
      }
    }
    // The window slides: the oldest short-term reference goes.
    while references.count >= max(1, sequence.referenceCount) {
      let oldest = references.indices.filter { references[$0].longTermIndex == nil }.min {
        H264References.number(references[$0], current, sequence) < H264References.number(references[$1], current, sequence)
      }
      references.remove(at: oldest ?? 0)
    }
    references.append(new)
  }

  /// Forgets everything: a key frame comes next.
  mutating func reset() { self = H264References() }
}
