extension Wayland {
  /// Where a popup is to stand next to something, and what may be changed so that it stays on the screen (`xdg_positioner`).
  struct PopupPlacement: Equatable {
    /// Sides of a rectangle, as `xdg_positioner.anchor` and `xdg_positioner.gravity` number them.
    enum Edge: UInt32 {
      case none, top, bottom, left, right, topLeft, bottomLeft, topRight, bottomRight

      /// -1 left, 0 middle, 1 right.
      var horizontal: Int {
        switch self {
        case .left, .topLeft, .bottomLeft: -1
        case .right, .topRight, .bottomRight: 1
        case .none, .top, .bottom: 0
        }
      }

      /// -1 top, 0 middle, 1 bottom.
      var vertical: Int {
        switch self {
        case .top, .topLeft, .topRight: -1
        case .bottom, .bottomLeft, .bottomRight: 1
        case .none, .left, .right: 0
        }
      }
    }

    /// What may be changed (`xdg_positioner.constraint_adjustment`).
    struct Adjustments: OptionSet {
      var rawValue: UInt32
      static let slideX = Adjustments(rawValue: 1)
      static let slideY = Adjustments(rawValue: 2)
      static let flipX = Adjustments(rawValue: 4)
      static let flipY = Adjustments(rawValue: 8)
      static let resizeX = Adjustments(rawValue: 16)
      static let resizeY = Adjustments(rawValue: 32)
      static let all = Adjustments(rawValue: 63)
    }

    var width = 0
    var height = 0
    /// What the popup stands next to, in the parent's window geometry.
    var anchorRectangle = Rectangle(x: 0, y: 0, width: 0, height: 0)
    var anchor = Edge.none
    var gravity = Edge.none
    var adjustments: Adjustments = []
    var offsetX = 0
    var offsetY = 0
    var isReactive = false

    /// Whether size and anchor have been set.
    var isComplete: Bool { width > 0 && height > 0 && anchorRectangle.width > 0 && anchorRectangle.height > 0 }

    /// The popup's place, kept within `bounds` as far as the adjustments allow. All in the parent's window geometry.
    func place(within bounds: Rectangle) -> Rectangle {
      let horizontal = Axis(
        anchorStart: anchorRectangle.x, anchorLength: anchorRectangle.width, anchor: anchor.horizontal, gravity: gravity.horizontal,
        offset: offsetX, length: width, flips: adjustments.contains(.flipX), slides: adjustments.contains(.slideX),
        resizes: adjustments.contains(.resizeX)
      ).place(from: bounds.x, to: bounds.x + bounds.width)
      let vertical = Axis(
        anchorStart: anchorRectangle.y, anchorLength: anchorRectangle.height, anchor: anchor.vertical, gravity: gravity.vertical,
        offset: offsetY, length: height, flips: adjustments.contains(.flipY), slides: adjustments.contains(.slideY),
        resizes: adjustments.contains(.resizeY)
      ).place(from: bounds.y, to: bounds.y + bounds.height)
      return Rectangle(x: horizontal.start, y: vertical.start, width: horizontal.length, height: vertical.length)
    }

    /// One dimension of the matter: both are treated alike.
    private struct Axis {
      var anchorStart: Int
      var anchorLength: Int
      var anchor: Int
      var gravity: Int
      var offset: Int
      var length: Int
      var flips: Bool
      var slides: Bool
      var resizes: Bool

      private func start(anchor: Int, gravity: Int, offset: Int) -> Int {
        let point = anchor < 0 ? anchorStart : anchor > 0 ? anchorStart + anchorLength : anchorStart + anchorLength / 2
        let corner = gravity < 0 ? point - length : gravity > 0 ? point : point - length / 2
        return corner + offset
      }

      func place(from lower: Int, to upper: Int) -> (start: Int, length: Int) {
        func fits(_ start: Int) -> Bool { start >= lower && start + length <= upper }
        var start = start(anchor: anchor, gravity: gravity, offset: offset)
        if fits(start) { return (start, length) }
        if flips {
          let flipped = self.start(anchor: -anchor, gravity: -gravity, offset: -offset)
          if fits(flipped) { return (flipped, length) }
        }
        if slides {
          // Towards the gravity first, then back: the side where the popup begins stays on the screen.
          if gravity < 0 {
            start = max(start, lower)
            start = min(start, upper - length)
            if length > upper - lower { start = upper - length }
          } else {
            start = min(start, upper - length)
            start = max(start, lower)
          }
          if fits(start) { return (start, length) }
        }
        if resizes {
          let (newStart, end) = (max(start, lower), min(start + length, upper))
          if end > newStart { return (newStart, end - newStart) }
        }
        return (start, length)
      }
    }
  }

  /// `xdg_positioner`.
  final class Positioner: Resource {
    enum Request: UInt16 {
      case destroy, setSize, setAnchorRectangle, setAnchor, setGravity, setAdjustments, setOffset, setReactive, setParentSize
      case setParentConfigure
    }
    enum Failure: UInt32 { case invalidInput }

    override var interface: String { "xdg_positioner" }
    private(set) var placement = PopupPlacement()

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .setSize:
        let (width, height) = (try arguments.int(), try arguments.int())
        let sides = 1...Limits.bufferSide
        guard sides.contains(width), sides.contains(height) else {
          throw failure(Failure.invalidInput, "a popup of \(width)x\(height) pixels")
        }
        (placement.width, placement.height) = (width, height)
      case .setAnchorRectangle:
        let area = Rectangle(
          x: try arguments.int().clamped, y: try arguments.int().clamped, width: try arguments.int().clamped,
          height: try arguments.int().clamped)
        guard area.width >= 0, area.height >= 0 else { throw failure(Failure.invalidInput, "an anchor of negative size") }
        // Empty anchors are forbidden, yet stock clients send them and mean a point.
        placement.anchorRectangle = Rectangle(x: area.x, y: area.y, width: max(1, area.width), height: max(1, area.height))
      case .setAnchor: placement.anchor = try edge(try arguments.uint())
      case .setGravity: placement.gravity = try edge(try arguments.uint())
      case .setAdjustments: placement.adjustments = PopupPlacement.Adjustments(rawValue: try arguments.uint()).intersection(.all)
      case .setOffset: (placement.offsetX, placement.offsetY) = (try arguments.int().clamped, try arguments.int().clamped)
      case .setReactive:
        try require(version: 3, opcode)
        placement.isReactive = true
      case .setParentSize:
        try require(version: 3, opcode)
        _ = (try arguments.int(), try arguments.int())
      case .setParentConfigure:
        try require(version: 3, opcode)
        _ = try arguments.uint()
      case nil: throw unknown(opcode)
      }
    }

    private func edge(_ value: UInt32) throws(ProtocolFailure) -> PopupPlacement.Edge {
      guard let edge = PopupPlacement.Edge(rawValue: value) else { throw failure(Failure.invalidInput, "edge \(value)") }
      return edge
    }
  }
}
