/// Where the parts of a panel stand on the screen.
struct PanelLayout: Equatable {
  /// What of a panel can be touched.
  enum Part: Sendable { case accept, cancel, field }

  /// The whole panel.
  var box: Rectangle
  /// The button that accepts.
  var accept: Rectangle
  /// The button that declines.
  var cancel: Rectangle?
  /// The field of a prompt.
  var field: Rectangle?
  /// The caret's place before each character of the field and after the last, as x on the screen.
  var carets: [Int] = []

  /// What stands at a point.
  func part(x: Double, y: Double) -> Part? {
    func isIn(_ area: Rectangle?) -> Bool {
      guard let area else { return false }
      return x >= Double(area.x) && x < Double(area.x + area.width) && y >= Double(area.y) && y < Double(area.y + area.height)
    }
    return isIn(accept) ? .accept : isIn(cancel) ? .cancel : isIn(field) ? .field : nil
  }

  /// Before which character a touch at `x` puts the caret.
  func caret(at x: Double) -> Int {
    carets.indices.min { abs(Double(carets[$0]) - x) < abs(Double(carets[$1]) - x) } ?? 0
  }
}

/// What a panel looks like at the moment.
struct PanelContent: Equatable {
  var panel: Panel
  var secondsLeft: Int?
  /// Of a prompt.
  var field: TextField?
  /// The button under a finger or a pressed pointer.
  var pressed: PanelLayout.Part?
}
