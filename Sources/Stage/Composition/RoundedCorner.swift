import Glibc

/// One corner of a rounded box: how much of each of its pixels lies inside.
struct RoundedCorner {
  /// Where on the screen.
  let area: Rectangle
  /// 0 to 255 for each pixel of the area, row by row.
  private let coverage: [UInt8]

  /// The corners of a box that are not right angles, where they can be seen.
  static func corners(of box: PlacedBox) -> [RoundedCorner] {
    guard let turn = box.turn, !box.visible.isEmpty else { return [] }
    let radii = box.placement.boundedRadii
    let (scaleX, scaleY) = turn.isSideways ? (abs(box.map.c), abs(box.map.b)) : (abs(box.map.a), abs(box.map.d))
    let (width, height) = (box.placement.width, box.placement.height)
    let middle = box.map.apply(x: width / 2, y: height / 2)
    return [(radii.topLeft, 0, 0), (radii.topRight, width, 0), (radii.bottomRight, width, height), (radii.bottomLeft, 0, height)]
      .compactMap { radius, x, y in
        guard radius > 0 else { return nil }
        let point = box.map.apply(x: x, y: y)
        return RoundedCorner(
          radiusX: radius * scaleX, radiusY: radius * scaleY, isRight: point.x > middle.x, isBottom: point.y > middle.y, of: box)
      }
  }

  private init?(radiusX: Double, radiusY: Double, isRight: Bool, isBottom: Bool, of box: PlacedBox) {
    let bounds = box.bounds
    // The box was rounded to pixels, so its corners must not be larger than what it became.
    let (radiusX, radiusY) = (min(radiusX, Double(bounds.width)), min(radiusY, Double(bounds.height)))
    let (width, height) = (Int(radiusX.rounded(.up)), Int(radiusY.rounded(.up)))
    guard width > 0, height > 0 else { return nil }
    let corner = Rectangle(
      x: isRight ? bounds.x + bounds.width - width : bounds.x, y: isBottom ? bounds.y + bounds.height - height : bounds.y, width: width,
      height: height)
    area = corner.intersection(box.visible)
    guard !area.isEmpty else { return nil }
    let samples = 8
    var coverage = [UInt8](repeating: 0, count: area.width * area.height)
    var sums = [Double](repeating: 0, count: area.width)
    for row in 0..<area.height {
      for column in sums.indices { sums[column] = 0 }
      for sample in 0..<samples {
        // From the box's edge to this line, and from its side to where the ellipse crosses the line.
        let line = Double(area.y + row) + (Double(sample) + 0.5) / Double(samples)
        let distance = isBottom ? Double(bounds.y + bounds.height) - line : line - Double(bounds.y)
        let fromCentre = max(0, radiusY - distance) / radiusY
        let crossing = radiusX - radiusX * (1 - fromCentre * fromCentre).squareRoot()
        for column in sums.indices {
          let pixel = area.x + column
          let outer = isRight ? bounds.x + bounds.width - 1 - pixel : pixel - bounds.x
          sums[column] += min(1, max(0, Double(outer + 1) - crossing))
        }
      }
      for column in sums.indices {
        coverage[row * area.width + column] = UInt8((sums[column] / Double(samples) * 255).rounded())
      }
    }
    self.coverage = coverage
  }

  /// Multiplies premultiplied pixels by what of them lies inside the corner.
  func mask(_ part: Rectangle, of raster: Raster) {
    unsafe coverage.withUnsafeBufferPointer { coverage in
      for y in part.y..<part.y + part.height {
        let pixels = unsafe UnsafeMutableRawPointer(raster.address(x: part.x, y: y)).assumingMemoryBound(to: UInt32.self)
        let row = (y - area.y) * area.width + part.x - area.x
        for x in 0..<part.width {
          let factor = unsafe UInt32(coverage[row + x])
          if factor == 255 { continue }
          let pixel = unsafe pixels[x]
          // Two channels at a time, each times factor / 255, rounded.
          var (even, odd) = ((pixel & 0x00FF_00FF) &* factor &+ 0x0080_0080, (pixel >> 8 & 0x00FF_00FF) &* factor &+ 0x0080_0080)
          even = (even &+ (even >> 8 & 0x00FF_00FF)) >> 8 & 0x00FF_00FF
          odd = (odd &+ (odd >> 8 & 0x00FF_00FF)) & 0xFF00_FF00
          unsafe pixels[x] = even | odd
        }
      }
    }
  }
}

extension VideoPlacement {
  /// The radii as the box can bear them: where two would overlap, all are made smaller (CSS Backgrounds and Borders Level 3, section 4.5).
  var boundedRadii: CornerRadii {
    func sound(_ radius: Double) -> Double { radius > 0 && radius.isFinite ? radius : 0 }
    var radii = CornerRadii(
      topLeft: sound(cornerRadii.topLeft), topRight: sound(cornerRadii.topRight), bottomRight: sound(cornerRadii.bottomRight),
      bottomLeft: sound(cornerRadii.bottomLeft))
    let sides = [
      (width, radii.topLeft + radii.topRight), (width, radii.bottomLeft + radii.bottomRight),
      (height, radii.topLeft + radii.bottomLeft), (height, radii.topRight + radii.bottomRight),
    ]
    let factor = sides.reduce(1) { $1.1 > $1.0 ? min($0, $1.0 / $1.1) : $0 }
    radii = CornerRadii(
      topLeft: radii.topLeft * factor, topRight: radii.topRight * factor, bottomRight: radii.bottomRight * factor,
      bottomLeft: radii.bottomLeft * factor)
    return radii
  }
}
