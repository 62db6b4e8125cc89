import Testing

@testable import Stage

@Suite struct PopupPlacementTests {
  private typealias Placement = Wayland.PopupPlacement

  /// A popup of 40 by 30 next to an anchor, on a screen of 200 by 100 whose parent lies at its corner.
  private func place(
    anchor: Rectangle, _ edge: Placement.Edge, _ gravity: Placement.Edge, _ adjustments: Placement.Adjustments = [],
    size: (Int, Int) = (40, 30),
    offset: (Int, Int) = (0, 0)
  ) -> Rectangle {
    var placement = Placement()
    (placement.width, placement.height) = size
    placement.anchorRectangle = anchor
    (placement.anchor, placement.gravity, placement.adjustments) = (edge, gravity, adjustments)
    (placement.offsetX, placement.offsetY) = offset
    return placement.place(within: Rectangle(x: 0, y: 0, width: 200, height: 100))
  }

  @Test func anchorAndGravity() {
    let middle = Rectangle(x: 80, y: 40, width: 20, height: 10)
    let cases: [(Placement.Edge, Placement.Edge, Int, Int)] = [
      (.none, .none, 70, 30), (.bottomLeft, .bottomRight, 80, 50), (.topRight, .topLeft, 60, 10), (.top, .top, 70, 10),
      (.bottom, .bottom, 70, 50), (.left, .left, 40, 30), (.right, .right, 100, 30), (.topLeft, .bottomRight, 80, 40),
      (.bottomRight, .topRight, 100, 20), (.topLeft, .topLeft, 40, 10),
    ]
    for (edge, gravity, x, y) in cases {
      #expect(place(anchor: middle, edge, gravity) == Rectangle(x: x, y: y, width: 40, height: 30), "\(edge) \(gravity)")
    }
    #expect(place(anchor: middle, .bottomLeft, .bottomRight, offset: (3, -2)) == Rectangle(x: 83, y: 48, width: 40, height: 30))
  }

  @Test func adjustmentsKeepItOnTheScreen() {
    let low = Rectangle(x: 180, y: 85, width: 15, height: 10)
    // Where it would go is outside to the right and below.
    let plain = place(anchor: low, .bottomLeft, .bottomRight)
    #expect(plain == Rectangle(x: 180, y: 95, width: 40, height: 30))
    #expect(place(anchor: low, .bottomLeft, .bottomRight, .flipY) == Rectangle(x: 180, y: 55, width: 40, height: 30))
    #expect(place(anchor: low, .bottomLeft, .bottomRight, [.flipX, .flipY]) == Rectangle(x: 155, y: 55, width: 40, height: 30))
    #expect(place(anchor: low, .bottomLeft, .bottomRight, [.slideX, .slideY]) == Rectangle(x: 160, y: 70, width: 40, height: 30))
    #expect(place(anchor: low, .bottomLeft, .bottomRight, [.resizeX, .resizeY]) == Rectangle(x: 180, y: 95, width: 20, height: 5))
    // Flipping comes first, then sliding.
    #expect(place(anchor: low, .bottomLeft, .bottomRight, .all) == Rectangle(x: 155, y: 55, width: 40, height: 30))
    // The offset turns with the flip.
    #expect(place(anchor: low, .bottomLeft, .bottomRight, .flipY, offset: (0, 4)).y == 51)
  }

  @Test func flipThatDoesNotHelpIsNotDone() {
    let tall = Rectangle(x: 0, y: 45, width: 10, height: 10)
    #expect(place(anchor: tall, .bottomLeft, .bottomRight, .flipY, size: (40, 60)).y == 55)
    #expect(place(anchor: tall, .bottomLeft, .bottomRight, [.flipY, .slideY], size: (40, 60)).y == 40)
    #expect(
      place(anchor: tall, .bottomLeft, .bottomRight, [.flipY, .resizeY], size: (40, 60)) == Rectangle(x: 0, y: 55, width: 40, height: 45))
  }

  @Test func whatIsLargerThanTheScreenKeepsItsBeginning() {
    let anchor = Rectangle(x: 50, y: 50, width: 10, height: 10)
    #expect(place(anchor: anchor, .bottomLeft, .bottomRight, .slideY, size: (40, 300)).y == 0)
    #expect(place(anchor: anchor, .topLeft, .topRight, .slideY, size: (40, 300)).y == -200)
    #expect(
      place(anchor: anchor, .bottomLeft, .bottomRight, [.slideY, .resizeY], size: (40, 300))
        == Rectangle(x: 50, y: 0, width: 40, height: 100))
  }
}
