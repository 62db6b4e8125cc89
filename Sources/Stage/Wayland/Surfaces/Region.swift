extension Wayland {
  /// A set of pixels, kept as rectangles that do not overlap.
  struct Region: Equatable {
    private(set) var rectangles: [Rectangle] = []

    init() {}
    init(_ rectangle: Rectangle) { add(rectangle) }

    var isEmpty: Bool { rectangles.isEmpty }

    mutating func add(_ rectangle: Rectangle) {
      guard rectangle.width > 0, rectangle.height > 0 else { return }
      if rectangles.contains(where: { $0.contains(rectangle) }) { return }
      subtract(rectangle)
      rectangles.append(rectangle)
    }

    mutating func subtract(_ rectangle: Rectangle) {
      guard rectangle.width > 0, rectangle.height > 0, rectangles.contains(where: { $0.overlaps(rectangle) }) else { return }
      rectangles = rectangles.flatMap { Region.remainder(of: $0, without: rectangle) }
    }

    func contains(x: Int, y: Int) -> Bool { rectangles.contains { $0.contains(x: x, y: y) } }

    /// Whether all of `rectangle` belongs to the region.
    func contains(_ rectangle: Rectangle) -> Bool {
      var rest = Region(rectangle)
      for own in rectangles { rest.subtract(own) }
      return rest.isEmpty
    }

    /// The up to four parts of `a` that `b` leaves.
    private static func remainder(of a: Rectangle, without b: Rectangle) -> [Rectangle] {
      guard let common = Region.common(a, b) else { return [a] }
      let (right, bottom) = (common.x + common.width, common.y + common.height)
      return [
        Rectangle(x: a.x, y: a.y, width: a.width, height: common.y - a.y),
        Rectangle(x: a.x, y: bottom, width: a.width, height: a.y + a.height - bottom),
        Rectangle(x: a.x, y: common.y, width: common.x - a.x, height: common.height),
        Rectangle(x: right, y: common.y, width: a.x + a.width - right, height: common.height),
      ].filter { $0.width > 0 && $0.height > 0 }
    }

    /// What two rectangles share; nil when that is nothing.
    static func common(_ a: Rectangle, _ b: Rectangle) -> Rectangle? {
      let (x, y) = (max(a.x, b.x), max(a.y, b.y))
      let (right, bottom) = (min(a.x + a.width, b.x + b.width), min(a.y + a.height, b.y + b.height))
      return right > x && bottom > y ? Rectangle(x: x, y: y, width: right - x, height: bottom - y) : nil
    }

    /// The smallest rectangle around two.
    static func bounds(_ a: Rectangle, _ b: Rectangle) -> Rectangle {
      let (x, y) = (min(a.x, b.x), min(a.y, b.y))
      let (right, bottom) = (max(a.x + a.width, b.x + b.width), max(a.y + a.height, b.y + b.height))
      return Rectangle(x: x, y: y, width: right - x, height: bottom - y)
    }
  }

  /// `wl_region`.
  final class RegionResource: Resource {
    enum Request: UInt16 { case destroy, add, subtract }

    override var interface: String { "wl_region" }
    private(set) var region = Region()

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .add: region.add(try rectangle(&arguments))
      case .subtract: region.subtract(try rectangle(&arguments))
      case nil: throw unknown(opcode)
      }
      guard region.rectangles.count <= Limits.regionRectangles else {
        throw ProtocolFailure(.noMemory, object: id, "a region of more than \(Limits.regionRectangles) rectangles")
      }
    }

    private func rectangle(_ arguments: inout Arguments) throws(ProtocolFailure) -> Rectangle {
      Rectangle(x: try arguments.int(), y: try arguments.int(), width: try arguments.int(), height: try arguments.int())
    }
  }

  /// Rectangles that changed, joined when they become many.
  struct DamageList: Equatable {
    private(set) var rectangles: [Rectangle] = []

    var isEmpty: Bool { rectangles.isEmpty }

    mutating func add(_ rectangle: Rectangle) {
      guard rectangle.width > 0, rectangle.height > 0 else { return }
      if rectangles.contains(where: { $0.contains(rectangle) }) { return }
      rectangles.removeAll { rectangle.contains($0) }
      rectangles.append(rectangle)
      guard rectangles.count > Limits.damageRectangles else { return }
      rectangles = [rectangles.dropFirst().reduce(rectangles[0], Region.bounds)]
    }

    mutating func add(_ other: DamageList) { for rectangle in other.rectangles { add(rectangle) } }

    mutating func removeAll() { rectangles.removeAll() }
  }
}
