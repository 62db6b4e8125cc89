/// What is known of a surface's pixels, tile by tile: so that where a page is transparent over a video, nothing is blended.
struct OpacityMap {
  enum Kind: UInt8 { case transparent, translucent, opaque }

  /// The pixels that the map is of.
  let bounds: Rectangle
  private let columns: Int
  private var kinds: [Kind]

  private static let tileWidth = 32
  private static let tileHeight = 16

  /// A map that knows nothing yet: all is translucent.
  init(bounds: Rectangle) {
    self.bounds = bounds
    columns = (bounds.width + OpacityMap.tileWidth - 1) / OpacityMap.tileWidth
    let rows = (bounds.height + OpacityMap.tileHeight - 1) / OpacityMap.tileHeight
    kinds = [Kind](repeating: .translucent, count: columns * rows)
  }

  /// Looks at the pixels of all tiles that `area`, inside the bounds, touches.
  mutating func update(_ area: Rectangle, from raster: Raster) {
    guard !area.isEmpty else { return }
    let (x, y) = (area.x - bounds.x, area.y - bounds.y)
    for row in y / OpacityMap.tileHeight...(y + area.height - 1) / OpacityMap.tileHeight {
      for column in x / OpacityMap.tileWidth...(x + area.width - 1) / OpacityMap.tileWidth {
        kinds[row * columns + column] = OpacityMap.kind(of: tile(row, column), in: raster)
      }
    }
  }

  private func tile(_ row: Int, _ column: Int) -> Rectangle {
    Rectangle(
      x: bounds.x + column * OpacityMap.tileWidth, y: bounds.y + row * OpacityMap.tileHeight, width: OpacityMap.tileWidth,
      height: OpacityMap.tileHeight
    ).intersection(bounds)
  }

  private static func kind(of tile: Rectangle, in raster: Raster) -> Kind {
    var (every, any): (UInt32, UInt32) = (.max, 0)
    for y in tile.y..<tile.y + tile.height {
      let pixels = unsafe UnsafeMutableRawPointer(raster.address(x: tile.x, y: y)).assumingMemoryBound(to: UInt32.self)
      for x in 0..<tile.width {
        let pixel = unsafe pixels[x]
        every &= pixel
        any |= pixel
      }
      if every >> 24 != 255 && any != 0 { return .translucent }
    }
    return any == 0 ? .transparent : every >> 24 == 255 ? .opaque : .translucent
  }

  /// Whether all of `area`, inside the bounds, is known to be opaque.
  func isOpaque(_ area: Rectangle) -> Bool {
    guard !area.isEmpty else { return false }
    let (x, y) = (area.x - bounds.x, area.y - bounds.y)
    for row in y / OpacityMap.tileHeight...(y + area.height - 1) / OpacityMap.tileHeight {
      for column in x / OpacityMap.tileWidth...(x + area.width - 1) / OpacityMap.tileWidth
      where kinds[row * columns + column] != .opaque {
        return false
      }
    }
    return true
  }

  /// Whether all of `area`, inside the bounds, is known to be transparent.
  func isTransparent(_ area: Rectangle) -> Bool {
    guard !area.isEmpty else { return true }
    let (x, y) = (area.x - bounds.x, area.y - bounds.y)
    for row in y / OpacityMap.tileHeight...(y + area.height - 1) / OpacityMap.tileHeight {
      for column in x / OpacityMap.tileWidth...(x + area.width - 1) / OpacityMap.tileWidth
      where kinds[row * columns + column] != .transparent {
        return false
      }
    }
    return true
  }

  /// Calls `body` for the parts of `area`, inside the bounds, that are not transparent.
  func forEachPart(of area: Rectangle, _ body: (Rectangle, _ isOpaque: Bool) -> Void) {
    guard !area.isEmpty else { return }
    let (x, y) = (area.x - bounds.x, area.y - bounds.y)
    let lastColumn = (x + area.width - 1) / OpacityMap.tileWidth
    for row in y / OpacityMap.tileHeight...(y + area.height - 1) / OpacityMap.tileHeight {
      var column = x / OpacityMap.tileWidth
      while column <= lastColumn {
        let kind = kinds[row * columns + column]
        let start = column
        repeat { column += 1 } while column <= lastColumn && kinds[row * columns + column] == kind
        guard kind != .transparent else { continue }
        let run = Rectangle(
          x: bounds.x + start * OpacityMap.tileWidth, y: bounds.y + row * OpacityMap.tileHeight,
          width: (column - start) * OpacityMap.tileWidth, height: OpacityMap.tileHeight)
        body(run.intersection(area), kind == .opaque)
      }
    }
  }
}
