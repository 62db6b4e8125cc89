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
      for row in y..<y + rows {
        let from = unsafe UnsafeRawPointer(source + row * Int(update.stride) + x * 4)
        unsafe UnsafeMutableRawPointer(pixels + row * width + x).copyMemory(from: from, byteCount: columns * 4)
      }
      damage.add(PixelRectangle(x: x, y: y, width: columns, height: rows))
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
