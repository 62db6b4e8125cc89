import Base
import Frames
import Testing

@testable import Stage

/// Every way to place a video, each pixel compared with what the placement's definition says, worked out pixel by pixel.
@Suite struct VideoPlacementTests {
  private static let video = VideoIdentifier(rawValue: 7)
  private static let screen = (width: 96, height: 80)
  private static let page = Color(red: 10, green: 20, blue: 90)
  private static let background = Color(red: 200, green: 0, blue: 200)

  /// What stands at a pixel.
  private enum Expectation {
    case page
    case background
    case picture(TestFrames.Paint)
    /// At an edge inside the picture or at a rounded edge, where colours mix.
    case mixed
  }

  private static func expectation(
    _ placement: VideoPlacement, _ frame: VideoFrame, x: Int, y: Int, tolerance: Double = 4
  ) -> Expectation {
    let (centreX, centreY) = (Double(x) + 0.5, Double(y) + 0.5)
    if let clip = placement.clip {
      guard centreX > clip.x, centreX < clip.x + clip.width, centreY > clip.y, centreY < clip.y + clip.height else { return .page }
    }
    // Back through the map by Cramer's rule.
    let map = placement.map
    let determinant = map.a * map.d - map.b * map.c
    let (dx, dy) = (centreX - map.e, centreY - map.f)
    let (boxX, boxY) = ((map.d * dx - map.c * dy) / determinant, (map.a * dy - map.b * dx) / determinant)
    let (width, height) = (placement.width, placement.height)
    guard boxX > 0, boxX < width, boxY > 0, boxY < height else { return .page }
    let radii = placement.cornerRadii
    for (radius, cornerX, cornerY, centreX, centreY) in [
      (radii.topLeft, 0.0, 0.0, radii.topLeft, radii.topLeft),
      (radii.topRight, width, 0, width - radii.topRight, radii.topRight),
      (radii.bottomRight, width, height, width - radii.bottomRight, height - radii.bottomRight),
      (radii.bottomLeft, 0, height, radii.bottomLeft, height - radii.bottomLeft),
    ] where abs(boxX - cornerX) < radius && abs(boxY - cornerY) < radius {
      let distance = ((boxX - centreX) * (boxX - centreX) + (boxY - centreY) * (boxY - centreY)).squareRoot()
      if distance > radius + 1.5 { return .page }
      if distance > radius - 1.5 { return .mixed }
    }
    let isSideways = frame.rotation == .quarter || frame.rotation == .threeQuarters
    let (uprightWidth, uprightHeight) =
      isSideways ? (Double(frame.height), Double(frame.width)) : (Double(frame.width), Double(frame.height))
    let contained = min(width / uprightWidth, height / uprightHeight)
    var (scaleX, scaleY) = (width / uprightWidth, height / uprightHeight)
    switch placement.fit {
    case .fill: break
    case .contain: (scaleX, scaleY) = (contained, contained)
    case .cover: (scaleX, scaleY) = (max(scaleX, scaleY), max(scaleX, scaleY))
    case .none: (scaleX, scaleY) = (1, 1)
    case .scaleDown: (scaleX, scaleY) = (min(1, contained), min(1, contained))
    }
    let pictureX = boxX - (width - uprightWidth * scaleX) * placement.positionX
    let pictureY = boxY - (height - uprightHeight * scaleY) * placement.positionY
    let (u, v) = (pictureX / scaleX / uprightWidth, pictureY / scaleY / uprightHeight)
    // An edge through a pixel's very middle is rounded down and to the right.
    guard u > 0, u <= 1, v > 0, v <= 1 else { return .background }
    if abs(u - 0.5) * uprightWidth < tolerance || abs(v - 0.5) * uprightHeight < tolerance { return .mixed }
    // Turned clockwise for display: from the upright picture back to the buffer.
    let (s, t) =
      switch frame.rotation {
      case .none: (u, v)
      case .quarter: (v, 1 - u)
      case .half: (1 - u, 1 - v)
      case .threeQuarters: (1 - v, u)
      }
    return .picture([TestFrames.Paint.red, .green, .blue, .white][(t > 0.5 ? 2 : 0) + (s > 0.5 ? 1 : 0)])
  }

  private func check(
    _ placement: VideoPlacement, _ frame: VideoFrame, tolerance: Double = 4, ignoringEdges: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let (width, height) = VideoPlacementTests.screen
    let layer = TestSurfaces.page(width: width, height: height, videos: [placement], canvas: VideoPlacementTests.page)
    let picture = Stage.picture(of: [layer], frames: [placement.video: frame], width: width, height: height)
    var (wrong, seen) = (0, 0)
    func mixed(_ color: Color) -> Color {
      func channel(_ top: UInt8, _ bottom: UInt8) -> UInt8 {
        UInt8((Double(top) * placement.opacity + Double(bottom) * (1 - placement.opacity)).rounded())
      }
      let page = VideoPlacementTests.page
      return Color(
        red: channel(color.red, page.red), green: channel(color.green, page.green), blue: channel(color.blue, page.blue))
    }
    for y in 0..<height {
      for x in 0..<width {
        let expected: Color
        switch VideoPlacementTests.expectation(placement, frame, x: x, y: y, tolerance: tolerance) {
        case .page: expected = VideoPlacementTests.page
        case .background: expected = mixed(VideoPlacementTests.background)
        case .picture(let paint):
          expected = mixed(paint.color)
          seen += 1
        case .mixed: continue
        }
        if ignoringEdges && VideoPlacementTests.isAtEdge(placement, frame, x: x, y: y) { continue }
        if !picture[x, y].resembles(expected) {
          if wrong == 0 {
            Issue.record(
              "at \(x), \(y): \(picture[x, y]) instead of \(expected): \(placement), \(frame.rotation)", sourceLocation: sourceLocation)
          }
          wrong += 1
        }
      }
    }
    #expect(seen > 50, "the picture is seen: \(placement)", sourceLocation: sourceLocation)
  }

  /// Whether a pixel beside this one is something else.
  private static func isAtEdge(_ placement: VideoPlacement, _ frame: VideoFrame, x: Int, y: Int) -> Bool {
    func name(_ x: Int, _ y: Int) -> String { "\(expectation(placement, frame, x: x, y: y))" }
    let here = name(x, y)
    for dy in -1...1 { for dx in -1...1 where name(x + dx, y + dy) != here { return true } }
    return false
  }

  private static func placement(
    width: Double = 60, height: Double = 40, map: AffineMap = .translation(x: 17, y: 13), fit: VideoPlacement.Fit = .fill,
    positionX: Double = 0.5, positionY: Double = 0.5, radii: VideoPlacement.CornerRadii = .init(), opacity: Double = 1,
    clip: VideoPlacement.ClipRectangle? = nil, background: Color = background
  ) -> VideoPlacement {
    VideoPlacement(
      video: video, width: width, height: height, map: map, fit: fit, positionX: positionX, positionY: positionY, cornerRadii: radii,
      opacity: opacity, clip: clip, background: background.opaqueValue)
  }

  /// The eight ways that a box of 60 by 40 can lie along the screen's sides.
  private static let maps: [AffineMap] = [
    AffineMap(a: 1, b: 0, c: 0, d: 1, e: 17, f: 13), AffineMap(a: -1, b: 0, c: 0, d: 1, e: 77, f: 13),
    AffineMap(a: 1, b: 0, c: 0, d: -1, e: 17, f: 53), AffineMap(a: -1, b: 0, c: 0, d: -1, e: 77, f: 53),
    AffineMap(a: 0, b: 1, c: -1, d: 0, e: 61, f: 10), AffineMap(a: 0, b: -1, c: 1, d: 0, e: 21, f: 70),
    AffineMap(a: 0, b: 1, c: 1, d: 0, e: 21, f: 10), AffineMap(a: 0, b: -1, c: -1, d: 0, e: 61, f: 70),
  ]

  @Test(arguments: VideoPlacement.Fit.allCases, [(0, 0), (0.5, 0.5), (1, 0.25)])
  func fitsAndPositions(fit: VideoPlacement.Fit, position: (Double, Double)) {
    for (width, height) in [(80, 60), (40, 60), (120, 50), (30, 20)] {
      let frame = TestFrames.quadrants(width: width, height: height)
      check(VideoPlacementTests.placement(fit: fit, positionX: position.0, positionY: position.1), frame)
    }
  }

  @Test(arguments: maps)
  func mirroredAndTurnedByMapAndFrame(map: AffineMap) {
    for rotation in [VideoFrame.Rotation.none, .quarter, .half, .threeQuarters] {
      for fit in [VideoPlacement.Fit.fill, .cover, .contain] {
        let frame = TestFrames.quadrants(width: 64, height: 36, rotation: rotation)
        check(VideoPlacementTests.placement(map: map, fit: fit, positionX: 0.25, positionY: 0.75), frame)
      }
    }
  }

  @Test(arguments: maps)
  func roundedCornersOfDifferentSizes(map: AffineMap) {
    let radii = VideoPlacement.CornerRadii(topLeft: 4, topRight: 18, bottomRight: 9, bottomLeft: 0)
    check(VideoPlacementTests.placement(map: map, radii: radii), TestFrames.quadrants(width: 64, height: 36))
    check(VideoPlacementTests.placement(map: map, fit: .contain, radii: radii), TestFrames.quadrants(width: 36, height: 36))
  }

  @Test(arguments: maps)
  func clippedAndTranslucent(map: AffineMap) {
    let clip = VideoPlacement.ClipRectangle(x: 25, y: 21, width: 41, height: 33)
    let frame = TestFrames.quadrants(width: 64, height: 36)
    check(VideoPlacementTests.placement(map: map, clip: clip), frame)
    check(VideoPlacementTests.placement(map: map, opacity: 0.4), frame)
    check(VideoPlacementTests.placement(map: map, fit: .contain, radii: .init(10), opacity: 0.6, clip: clip), frame)
  }

  @Test(arguments: [(1.0, 15.0), (0.75, 30), (1, 45), (0.9, 200), (0.6, 300)])
  func turnedByAnyAngle(scale: Double, degrees: Double) {
    // cos and sin of the angle by their series would do; a table keeps Glibc out.
    let (cosine, sine) = [15.0: (0.9659, 0.2588), 30: (0.8660, 0.5), 45: (0.7071, 0.7071), 200: (-0.9397, -0.3420), 300: (0.5, -0.8660)][
      degrees]!
    let linear = AffineMap(a: scale * cosine, b: scale * sine, c: -scale * sine, d: scale * cosine, e: 0, f: 0)
    let middle = linear.apply(x: 30, y: 20)
    let map = linear.followed(by: .translation(x: 48 - middle.x, y: 40 - middle.y))
    for rotation in [VideoFrame.Rotation.none, .quarter, .half, .threeQuarters] {
      for fit in [VideoPlacement.Fit.fill, .contain, .cover] {
        let frame = TestFrames.quadrants(width: 64, height: 36, rotation: rotation)
        check(VideoPlacementTests.placement(map: map, fit: fit, radii: .init(8)), frame, tolerance: 4, ignoringEdges: true)
      }
    }
    let translucent = VideoPlacementTests.placement(map: map, opacity: 0.5, clip: .init(x: 30, y: 30, width: 30, height: 20))
    check(translucent, TestFrames.quadrants(width: 64, height: 36), tolerance: 4, ignoringEdges: true)
  }

  @Test func skewedBoxShowsItsPicture() {
    let map = AffineMap(a: 1, b: 0.25, c: -0.3, d: 0.9, e: 22, f: 10)
    check(VideoPlacementTests.placement(map: map), TestFrames.quadrants(width: 64, height: 36), tolerance: 4, ignoringEdges: true)
  }

  @Test func enlargedBoxShowsItsMiddle() {
    // A thousand times as large as the screen, and the picture's middle in the screen's.
    let map = AffineMap(a: 100, b: 0, c: 0, d: 100, e: 48 - 3_000, f: 40 - 2_000)
    check(VideoPlacementTests.placement(map: map), TestFrames.quadrants(width: 640, height: 360), tolerance: 0.6, ignoringEdges: true)
  }

  @Test func edgesOfAdjoiningBoxesMeetAtEveryFraction() {
    // A row of three boxes on a white page: whatever fraction they start at, no white shows between them, and each edge is rounded by itself.
    for fraction in stride(from: 0.0, to: 2, by: 0.125) {
      let placements = (0..<3).map { index in
        VideoPlacement(
          video: .init(rawValue: UInt32(index)), width: 20.25, height: 30,
          map: .translation(x: 5 + fraction + 20.25 * Double(index), y: 10.5), fit: .fill)
      }
      let frames = Dictionary(
        uniqueKeysWithValues: placements.map { ($0.video, TestFrames.solid(.blue, width: 20, height: 30)) })
      let layer = TestSurfaces.page(width: 96, height: 80, videos: placements, canvas: .white)
      let picture = Stage.picture(of: [layer], frames: frames, width: 96, height: 80)
      let (left, right) = (Int((5.5 + fraction).rounded(.down)), Int((5.5 + fraction + 60.75).rounded(.down)))
      for x in 0..<96 {
        let isInside = x >= left && x < right
        #expect(picture[x, 11].resembles(isInside ? TestFrames.Paint.blue.color : .white), "at \(x), fraction \(fraction)")
      }
      #expect(picture[left, 10] == .white && picture[left, 40] != .white && picture[left, 41] == .white)
    }
  }

  @Test func senselessPlacementsShowNothing() {
    let senseless: [Double] = [.nan, .infinity, -.infinity, 1e300, -1e300, 1e18, 0, -1]
    var placements: [VideoPlacement] = []
    for value in senseless {
      for change: (inout VideoPlacement) -> Void in [
        { $0.width = value }, { $0.height = value }, { $0.map.a = value }, { $0.map.b = value }, { $0.map.c = value }, { $0.map.d = value },
        { $0.map.e = value }, { $0.map.f = value }, { $0.positionX = value }, { $0.positionY = value }, { $0.opacity = value },
        { $0.cornerRadii.topLeft = value }, { $0.cornerRadii = .init(value) }, { $0.clip?.x = value }, { $0.clip?.y = value },
        { $0.clip?.width = value }, { $0.clip?.height = value }, { $0.map = AffineMap(a: value, b: value, c: value, d: value, e: 0, f: 0) },
      ] {
        for map in [VideoPlacementTests.maps[0], AffineMap(a: 0.7, b: 0.7, c: -0.7, d: 0.7, e: 30, f: 10)] {
          for fit in VideoPlacement.Fit.allCases {
            var placement = VideoPlacementTests.placement(map: map, fit: fit, clip: .init(x: 0, y: 0, width: 50, height: 50))
            change(&placement)
            placements.append(placement)
          }
        }
      }
    }
    let stage = Stage(width: 96, height: 80)
    stage.show(TestFrames.quadrants(width: 64, height: 36), in: VideoPlacementTests.video)
    for placement in placements {
      let layer = TestSurfaces.page(width: 96, height: 80, videos: [placement], canvas: .white)
      stage.update(layers: LayersUpdate(layers: [layer]))
      stage.present(now: Instant(nanoseconds: 0))
      let isSizeless = !(placement.width > 0 && placement.height > 0 && placement.opacity > 0)
      if isSizeless || !placement.map.isFinite { #expect(stage.picture()[30, 30] == .white, "\(placement)") }
    }
  }
}
