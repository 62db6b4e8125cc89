import Frames
import Glibc

/// A placement's content box on the screen: which pixels it takes, whatever the video shows.
struct PlacedBox: Equatable {
  /// Where the placement's values come from.
  let placement: VideoPlacement
  /// From the content box to the screen.
  let map: AffineMap
  /// How the box lies on the screen, when its sides are the screen's; nil when it lies askew.
  let turn: Turn?
  /// The box in pixels; when it lies askew, the smallest rectangle around it.
  let bounds: Rectangle
  /// What of `bounds` can be seen; empty when nothing can.
  let visible: Rectangle

  /// The box of `placement` on a surface that stands at `target`, on a screen of `screen`'s pixels.
  init(_ placement: VideoPlacement, target: Rectangle, screen: Rectangle) {
    self.placement = placement
    map = placement.map.followed(by: .translation(x: Double(target.x), y: Double(target.y)))
    turn = Turn(map)
    let none = Rectangle(x: 0, y: 0, width: 0, height: 0)
    let isSound =
      map.isFinite && placement.width > 0 && placement.height > 0 && placement.width <= PlacedBox.limit
      && placement.height <= PlacedBox.limit
      && placement.positionX.isFinite && placement.positionY.isFinite && placement.opacity > 0
    guard isSound, map.a * map.d - map.b * map.c != 0,
      let bounds = PlacedBox.area(map, x: 0...placement.width, y: 0...placement.height, isSnapped: turn != nil)
    else {
      (bounds, visible) = (none, none)
      return
    }
    self.bounds = bounds
    var visible = bounds.intersection(target).intersection(screen)
    if let clip = placement.clip {
      let (left, top) = (clip.x + Double(target.x), clip.y + Double(target.y))
      guard let cut = PlacedBox.area(.identity, left, top, left + clip.width, top + clip.height), clip.width > 0, clip.height > 0 else {
        self.visible = none
        return
      }
      visible = visible.intersection(cut)
    }
    self.visible = visible.isEmpty ? none : visible
  }

  /// Sizes and coordinates beyond this show nothing: arithmetic stays exact, and C libraries within their types.
  private static let limit = 1_000_000.0

  /// The pixels that a part of the content box covers; nil where coordinates are out of all bounds.
  ///
  /// Each edge is rounded by itself, halves to the right and down as page engines do, so that what adjoins in the page adjoins on the screen.
  static func area(_ map: AffineMap, x: ClosedRange<Double>, y: ClosedRange<Double>, isSnapped: Bool) -> Rectangle? {
    if isSnapped { return area(map, x.lowerBound, y.lowerBound, x.upperBound, y.upperBound) }
    var (left, top, right, bottom) = (Double.infinity, Double.infinity, -Double.infinity, -Double.infinity)
    for (x, y) in [(x.lowerBound, y.lowerBound), (x.upperBound, y.lowerBound), (x.lowerBound, y.upperBound), (x.upperBound, y.upperBound)] {
      let point = map.apply(x: x, y: y)
      (left, top, right, bottom) = (min(left, point.x), min(top, point.y), max(right, point.x), max(bottom, point.y))
    }
    guard min(left, top) >= -limit, max(right, bottom) <= limit else { return nil }
    let (x, y) = (Int(left.rounded(.down)), Int(top.rounded(.down)))
    return Rectangle(x: x, y: y, width: Int(right.rounded(.up)) - x, height: Int(bottom.rounded(.up)) - y)
  }

  private static func area(_ map: AffineMap, _ left: Double, _ top: Double, _ right: Double, _ bottom: Double) -> Rectangle? {
    let (one, other) = (map.apply(x: left, y: top), map.apply(x: right, y: bottom))
    let all = [one.x, one.y, other.x, other.y]
    guard all.allSatisfy({ abs($0) <= limit }) else { return nil }
    func edge(_ value: Double) -> Int { Int((value + 0.5).rounded(.down)) }
    let (x, y) = (edge(min(one.x, other.x)), edge(min(one.y, other.y)))
    return Rectangle(x: x, y: y, width: edge(max(one.x, other.x)) - x, height: edge(max(one.y, other.y)) - y)
  }

  /// A video's picture in its content box.
  struct Picture: Equatable {
    /// The whole picture in content box units; what lies outside the box is cut off.
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    /// The part of the box that shows it.
    var seenX: ClosedRange<Double>
    var seenY: ClosedRange<Double>
  }

  /// How a picture of the given upright size stands in the box; nil when none of it does.
  func picture(width sourceWidth: Int, height sourceHeight: Int) -> Picture? {
    let (boxWidth, boxHeight) = (placement.width, placement.height)
    let (naturalWidth, naturalHeight) = (Double(sourceWidth), Double(sourceHeight))
    let contained = min(boxWidth / naturalWidth, boxHeight / naturalHeight)
    let scale =
      switch placement.fit {
      case .fill: 1.0
      case .contain: contained
      case .cover: max(boxWidth / naturalWidth, boxHeight / naturalHeight)
      case .none: 1.0
      case .scaleDown: min(1, contained)
      }
    let width = placement.fit == .fill ? boxWidth : naturalWidth * scale
    let height = placement.fit == .fill ? boxHeight : naturalHeight * scale
    let (x, y) = ((boxWidth - width) * placement.positionX, (boxHeight - height) * placement.positionY)
    let (left, right) = (max(0, x), min(boxWidth, x + width))
    let (top, bottom) = (max(0, y), min(boxHeight, y + height))
    guard left < right, top < bottom else { return nil }
    return Picture(x: x, y: y, width: width, height: height, seenX: left...right, seenY: top...bottom)
  }

  /// The part of `frame`'s buffer that `picture` shows, in whole pixels and at an even offset, so that luma and chroma stay together.
  static func crop(_ frame: VideoFrame, _ picture: Picture) -> Rectangle {
    let (uprightWidth, uprightHeight) = (Double(frame.uprightWidth), Double(frame.uprightHeight))
    let left = (picture.seenX.lowerBound - picture.x) / picture.width * uprightWidth
    let right = (picture.seenX.upperBound - picture.x) / picture.width * uprightWidth
    let top = (picture.seenY.lowerBound - picture.y) / picture.height * uprightHeight
    let bottom = (picture.seenY.upperBound - picture.y) / picture.height * uprightHeight
    // Turned back to how the pixels lie in the buffer.
    let (bufferX, bufferY) =
      switch frame.rotation {
      case .none: ((left, right), (top, bottom))
      case .quarter: ((top, bottom), (uprightWidth - right, uprightWidth - left))
      case .half: ((uprightWidth - right, uprightWidth - left), (uprightHeight - bottom, uprightHeight - top))
      case .threeQuarters: ((uprightHeight - bottom, uprightHeight - top), (left, right))
      }
    func span(_ edges: (Double, Double), of total: Int) -> (start: Int, length: Int) {
      let length = min(total, max(1, Int((edges.1 - edges.0).rounded())))
      return (min(max(0, Int(edges.0.rounded())), total - length) & ~1, length)
    }
    let (x, y) = (span(bufferX, of: frame.width), span(bufferY, of: frame.height))
    return Rectangle(x: x.start, y: y.start, width: x.length, height: y.length)
  }
}
