import Foundation
import Stage

/// A picture's pixels by what they can be: grey is video, magenta the border around it, red and yellow the page.
struct Pixels {
  let picture: Picture

  /// A rectangle of whole pixels.
  struct Box: Equatable, CustomStringConvertible {
    var left, top, right, bottom: Int
    /// The box without so many pixels on each side.
    func inset(by count: Int) -> Box { Box(left: left + count, top: top + count, right: right - count, bottom: bottom - count) }
    func contains(_ x: Int, _ y: Int) -> Bool { x >= left && x < right && y >= top && y < bottom }
    var description: String { "\(left),\(top) to \(right),\(bottom)" }
  }

  /// Blue, green and red of a pixel.
  typealias Color = (red: Int, green: Int, blue: Int)

  /// Calls `body` with each pixel.
  func visit(_ body: (_ x: Int, _ y: Int, Color) -> Void) {
    picture.pixels.withUnsafeBufferPointer { pixels in
      var index = 0
      for y in 0..<picture.height {
        for x in 0..<picture.width {
          unsafe body(x, y, (Int(pixels[index + 2]), Int(pixels[index + 1]), Int(pixels[index])))
          index += 4
        }
      }
    }
  }

  static func isGrey(_ color: Color) -> Bool {
    abs(color.red - color.green) <= 8 && abs(color.red - color.blue) <= 8 && color.red >= 40 && color.red <= 225
  }
  static func isMagenta(_ color: Color) -> Bool { color.red >= 200 && color.green <= 50 && color.blue >= 200 }
  static func isPage(_ color: Color) -> Bool { color.red >= 200 && color.blue <= 60 }
  /// Magenta and grey in any proportion.
  static func isMagentaOverGrey(_ color: Color) -> Bool {
    abs(color.red - color.blue) <= 24 && color.green <= color.red + 8 && color.red >= 40
  }

  /// The box around everything magenta; nil where there is none.
  var border: Box? {
    var box = Box(left: .max, top: .max, right: 0, bottom: 0)
    visit { x, y, color in
      guard Pixels.isMagenta(color) else { return }
      box = Box(left: min(box.left, x), top: min(box.top, y), right: max(box.right, x + 1), bottom: max(box.bottom, y + 1))
    }
    return box.right > 0 ? box : nil
  }

  /// What is wrong with a border of `thickness` pixels that has to be filled with video, and with nothing around it: nil when nothing is.
  ///
  /// Two pixels at each edge may be blended, as where an edge lies between pixels.
  func disagreement(with border: Box, thickness: Int) -> String? {
    let (around, outside) = (border.inset(by: 2), border.inset(by: -2))
    let (edge, video) = (border.inset(by: thickness - 2), border.inset(by: thickness + 2))
    var (count, first) = (0, "")
    visit { x, y, color in
      let isRight: Bool
      let place: String
      if video.contains(x, y) {
        (isRight, place) = (Pixels.isGrey(color), "in the video")
      } else if edge.contains(x, y) {
        (isRight, place) = (Pixels.isMagentaOverGrey(color), "at the video's edge")
      } else if around.contains(x, y) {
        (isRight, place) = (Pixels.isMagenta(color), "in the border")
      } else if outside.contains(x, y) {
        return
      } else {
        (isRight, place) = (Pixels.isPage(color), "outside")
      }
      guard !isRight else { return }
      count += 1
      if first.isEmpty { first = "at \(x),\(y) \(place) is \(color)" }
    }
    return count == 0 ? nil : "\(count) pixels, the first one \(first); the border: \(border)"
  }

  /// Writes the picture where PARLOR_TEST_PICTURES says, for people to look at.
  func keep(_ name: String) {
    guard let folder = ProcessInfo.processInfo.environment["PARLOR_TEST_PICTURES"], let png = try? picture.png() else { return }
    try? Data(png).write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
  }
}
