/// Areas that have to be painted again: a few rectangles, which may overlap.
struct Damage {
  /// The areas; none is empty, and none lies inside another.
  private(set) var areas: [Rectangle] = []

  /// More areas than these are joined: each costs a pass over the layers.
  private static let limit = 16

  init() { areas.reserveCapacity(Damage.limit + 1) }

  var isEmpty: Bool { areas.isEmpty }

  /// Adds what of `area` lies in `bounds`.
  mutating func add(_ area: Rectangle, in bounds: Rectangle) {
    var area = area.intersection(bounds)
    guard !area.isEmpty else { return }
    // Joins what costs no more joined; that may in turn join with others.
    var index = 0
    while index < areas.count {
      let other = areas[index]
      if other.contains(area) { return }
      let both = other.union(area)
      if both.area <= other.area + area.area {
        areas.remove(at: index)
        area = both
        index = 0
      } else {
        index += 1
      }
    }
    areas.append(area)
    if areas.count > Damage.limit { joinCheapest() }
  }

  private mutating func joinCheapest() {
    var best = (first: 0, second: 1, waste: Int.max)
    for first in areas.indices {
      for second in (first + 1)..<areas.count {
        let waste = areas[first].union(areas[second]).area - areas[first].area - areas[second].area
        if waste < best.waste { best = (first, second, waste) }
      }
    }
    let both = areas[best.first].union(areas[best.second])
    areas.remove(at: best.second)
    areas.remove(at: best.first)
    add(both, in: both)
  }

  /// Forgets all areas, and keeps their memory.
  mutating func clear() { areas.removeAll(keepingCapacity: true) }
}
