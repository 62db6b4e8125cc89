import CGlass

/// What a view shows: premultiplied pixels, blue first, in memory of our own. Main thread only.
final class PagePicture {
  private(set) var width = 0
  private(set) var height = 0
  private(set) var pixels: UnsafeMutablePointer<UInt32>?
  /// What has changed since it was last put on the screen.
  var damage = Region()

  deinit { unsafe pixels?.deallocate() }

  /// Takes the rectangles of an update over.
  func apply(_ update: picture_update) {
    if Int(update.width) != width || Int(update.height) != height { resize(width: Int(update.width), height: Int(update.height)) }
    guard let pixels, let source = unsafe update.pixels, let rectangles = unsafe update.rectangles else { return }
    for index in 0..<Int(update.count) {
      let rectangle = unsafe rectangles[index]
      let (x, y, columns, rows) = (Int(rectangle.x), Int(rectangle.y), Int(rectangle.width), Int(rectangle.height))
      damage.add(PixelRectangle(x: x, y: y, width: columns, height: rows))
      if rectangle.moved_x != 0 || rectangle.moved_y != 0 {
        move(x: x, y: y, width: columns, height: rows, by: (Int(rectangle.moved_x), Int(rectangle.moved_y)))
        continue
      }
      for row in y..<y + rows {
        let from = unsafe UnsafeRawPointer(source + row * Int(update.stride) + x * 4)
        unsafe UnsafeMutableRawPointer(pixels + row * width + x).copyMemory(from: from, byteCount: columns * 4)
      }
    }
  }

  /// Fills a rectangle with what stands at a distance from it.
  private func move(x: Int, y: Int, width columns: Int, height rows: Int, by distance: (x: Int, y: Int)) {
    // Within the picture, at both ends.
    let (left, right) = (max(x, distance.x), min(x + columns, width + distance.x))
    let (top, bottom) = (max(y, distance.y), min(y + rows, height + distance.y))
    guard let pixels, left < right, top < bottom else { return }
    // Rows that are still needed are not overwritten; `memmove` sees to the same within one.
    for step in 0..<bottom - top {
      let row = distance.y > 0 ? bottom - 1 - step : top + step
      let from = unsafe pixels + (row - distance.y) * width + left - distance.x
      unsafe UnsafeMutableRawPointer(pixels + row * width + left).copyMemory(from: from, byteCount: (right - left) * 4)
    }
  }

  private func resize(width: Int, height: Int) {
    unsafe pixels?.deallocate()
    self.width = width
    self.height = height
    let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: max(1, width * height))
    unsafe memory.initialize(repeating: 0, count: width * height)
    unsafe pixels = memory
    damage.removeAll()
    damage.add(PixelRectangle(x: 0, y: 0, width: width, height: height))
  }

  /// Copies parts of the picture to another of the same size, its rows without gaps.
  func copy(_ region: Region, to target: UnsafeMutablePointer<UInt32>) {
    guard let pixels else { return }
    for rectangle in region.rectangles {
      for row in rectangle.y..<rectangle.y + rectangle.height {
        let offset = row * width + rectangle.x
        unsafe UnsafeMutableRawPointer(target + offset).copyMemory(from: pixels + offset, byteCount: rectangle.width * 4)
      }
    }
  }
}
