/// Where the keys of an on-screen keyboard stand on a screen: a strip along its lower or upper edge.
struct KeyboardPlan: Equatable {
  /// A key in its place.
  struct PlacedKey: Equatable {
    var key: KeyboardLayout.Key
    /// What of the screen presses the key.
    var cell: Rectangle
    /// What of it is drawn as the key.
    var face: Rectangle
  }

  /// All that the keyboard covers.
  let area: Rectangle
  let keys: [PlacedKey]

  /// The plan of `layout` on a screen.
  init(_ layout: KeyboardLayout, screen: Rectangle, isAtTop: Bool) {
    // However wide or tall the screen is, it is at least 16/9 units wide: keys are wider than fingers.
    let unit = Lettering.unit(width: screen.width, height: screen.height)
    let width = unit * 16 / 9 * layout.share
    let (gap, margin) = (Int(max(1, (unit / 160).rounded())), Int((unit / 60).rounded()))
    // Between a finger's width and a square, at most half of the screen's height in all.
    let smallest = (unit / 12).rounded(.up) + Double(2 * gap)
    let rowHeight = Int(max(smallest, min(unit / 7, Double(screen.height) / 10)))
    let height = min(screen.height, layout.rows.count * rowHeight + 2 * margin)
    area = Rectangle(x: screen.x, y: isAtTop ? screen.y : screen.y + screen.height - height, width: screen.width, height: height)
    var keys: [PlacedKey] = []
    for (index, row) in layout.rows.enumerated() {
      let columnWidth = width / layout.columns
      var x = Double(area.x) + (Double(area.width) - row.reduce(0) { $0 + $1.width } * columnWidth) / 2
      for place in row {
        let (left, right) = (Int(x.rounded()), Int((x + place.width * columnWidth).rounded()))
        x += place.width * columnWidth
        guard place.key != .none else { continue }
        let cell = Rectangle(x: left, y: area.y + margin + index * rowHeight, width: right - left, height: rowHeight)
        let face = Rectangle(x: cell.x + gap, y: cell.y + gap, width: max(1, cell.width - 2 * gap), height: max(1, cell.height - 2 * gap))
        keys.append(PlacedKey(key: place.key, cell: cell, face: face))
      }
    }
    self.keys = keys
  }

  /// Whether a point of the screen lies on the keyboard.
  func covers(_ x: Double, _ y: Double) -> Bool { KeyboardPlan.contains(area, x, y) }

  /// The key at a point of the screen.
  func key(_ x: Double, _ y: Double) -> PlacedKey? { keys.first { KeyboardPlan.contains($0.cell, x, y) } }

  static func contains(_ area: Rectangle, _ x: Double, _ y: Double) -> Bool {
    x >= Double(area.x) && x < Double(area.x + area.width) && y >= Double(area.y) && y < Double(area.y + area.height)
  }
}
