import Base
import CAllocations
import CYUV
import Camera
import Frames
import Stage

/// Pictures put on a screen of 1920 by 1080 pixels, without a graphics processor.
enum ComposeBenchmarks {
  private static let (width, height) = (1_920, 1_080)

  static func run(_ settings: Benchmark.Settings) -> [Figure] {
    let pictures = SyntheticCamera(width: width, height: height)
    let remote = [pictures.frame(at: 0), pictures.frame(at: 1)]
    let selfView = SyntheticCamera(width: 640, height: 360).frame(at: 0)
    return calls(settings, remote, selfView) + pages(settings, remote, selfView)
  }

  // MARK: Direct calls

  private static func calls(_ settings: Benchmark.Settings, _ remote: [VideoFrame], _ selfView: VideoFrame) -> [Figure] {
    let output = HeadlessOutput(width: width, height: height)
    let pixels = SurfaceBitmap(width: width, height: height)
    func figure(_ metric: String, atLeast: Double?, _ scene: (Int) -> Scene) -> Figure {
      measure(settings, metric, atLeast: atLeast, reference: "libyuv's conversion alone") {
        output.compose(scene($0))
      } by: {
        convert(remote[$0 % 2], to: pixels)
      }
    }
    return [
      figure("remote side", atLeast: 0.8) { Scene(remote: remote[$0 % 2]) },
      figure("remote side and self-view", atLeast: nil) { Scene(remote: remote[$0 % 2], selfView: selfView) },
    ]
  }

  // MARK: Pages

  private static func pages(_ settings: Benchmark.Settings, _ remote: [VideoFrame], _ selfView: VideoFrame) -> [Figure] {
    let (controls, pixels) = (page(), SurfaceBitmap(width: width, height: height))
    func stage(_ videos: [VideoPlacement]) -> Stage {
      let stage = Stage(width: width, height: height)
      let target = Rectangle(x: 0, y: 0, width: width, height: height)
      let layer = SurfaceLayer(identifier: 1, bitmap: controls, target: target, videos: videos, canvas: .black)
      stage.update(layers: LayersUpdate(layers: [layer], isRearranged: true))
      return stage
    }
    func present(_ stage: Stage, _ round: Int, _ frames: VideoFrame...) {
      for (index, frame) in frames.enumerated() { stage.show(frame, in: VideoIdentifier(rawValue: UInt32(index))) }
      stage.present(now: Instant(nanoseconds: Int64(round)))
    }
    func blend() {
      ARGBBlend(
        controls.pixels, Int32(controls.stride), pixels.pixels, Int32(pixels.stride), pixels.pixels, Int32(pixels.stride), Int32(width),
        Int32(height))
    }
    func figure(_ metric: String, atLeast: Double?, _ subject: (Int) -> Void) -> Figure {
      measure(settings, metric, atLeast: atLeast, reference: "libyuv's conversion and blending of the whole screen", subject) { round in
        convert(remote[round % 2], to: pixels)
        blend()
      }
    }
    func placement(_ video: Int, _ area: Rectangle, _ map: AffineMap? = nil, radius: Double = 0) -> VideoPlacement {
      VideoPlacement(
        video: VideoIdentifier(rawValue: UInt32(video)), width: Double(area.width), height: Double(area.height),
        map: map ?? .translation(x: Double(area.x), y: Double(area.y)), fit: .cover, cornerRadii: .init(radius))
    }
    let full = placement(0, Rectangle(x: 0, y: 0, width: width, height: height))
    // Mirrored, in the lower right corner.
    let corner = placement(
      1, Rectangle(x: 0, y: 0, width: 384, height: 216), AffineMap(a: -1, b: 0, c: 0, d: 1, e: 1_880, f: 824), radius: 24)
    let call = stage([full, corner])
    let own = stage([corner])
    let tiles = (0..<9).map { Rectangle(x: 10 + $0 % 3 * 640, y: 10 + $0 / 3 * 360, width: 620, height: 340) }
    let grid = stage(tiles.indices.map { placement($0, tiles[$0], radius: 16) })
    let scaled = VideoBufferPool()
    var figures = [
      figure("page over remote side and self-view", atLeast: 1 / 1.5) { present(call, $0, remote[$0 % 2], selfView) },
      figure("page over a new self-view alone", atLeast: nil) { present(own, $0, remote[0], selfView) },
      measure(
        settings, "page over a grid of nine videos", atLeast: 1 / 1.5, reference: "libyuv's scaling, conversion and blending of as much"
      ) {
        present(grid, $0, selfView, selfView, selfView, selfView, selfView, selfView, selfView, selfView, selfView)
      } by: { _ in
        for tile in tiles {
          let picture = selfView.buffer.scaled(width: tile.width, height: tile.height, from: scaled)
          convert(VideoFrame(buffer: picture), to: pixels, x: tile.x, y: tile.y)
        }
        blend()
      },
    ]
    var askewPlacement = full
    askewPlacement.map = AffineMap(a: 0.996, b: 0.087, c: -0.087, d: 0.996, e: 40, f: -40)
    var palePlacement = full
    palePlacement.opacity = 0.5
    let (askew, pale) = (stage([askewPlacement]), stage([palePlacement]))
    figures.append(figure("page over a translucent video", atLeast: nil) { present(pale, $0, remote[$0 % 2]) })
    figures.append(figure("page over a video askew", atLeast: nil) { present(askew, $0, remote[$0 % 2]) })
    figures.append(idle(call))
    figures.append(allocations { present(call, $0, remote[$0 % 2], selfView) })
    return figures
  }

  /// How often a page that stands still, without a new frame, is painted.
  private static func idle(_ stage: Stage) -> Figure {
    let (rounds, before) = (1_000, stage.statistics.flips)
    for round in 0..<rounds { stage.present(now: Instant(nanoseconds: Int64(round))) }
    return Figure(
      name: "compose-1080p", metric: "page without a new frame", value: Double(stage.statistics.flips - before),
      unit: "pictures in \(rounds) refreshes", runs: 1, spread: 0, bound: .atMost(0), needsReference: false)
  }

  /// How many heap allocations a picture takes when all memory has been had before: the list of frames that a flip hands on, and libyuv's
  /// own for scaling a plane, of which a picture has three.
  private static func allocations(_ show: (Int) -> Void) -> Figure {
    let rounds = 200
    // What is made only once is not counted, nor is the list of frames that the measurement itself makes.
    for round in 0..<2 { show(round) }
    let before = allocations_of_thread()
    for round in 0..<rounds { show(round) }
    let count = Double(allocations_of_thread() - before) / Double(rounds) - 1
    return Figure(
      name: "compose-1080p", metric: "allocations for a page's picture", value: count, unit: "per picture", runs: 1, spread: 0,
      bound: .atMost(4), needsReference: false)
  }

  // MARK: What is measured with

  private static func measure(
    _ settings: Benchmark.Settings, _ metric: String, atLeast: Double?, reference: String, _ subject: (Int) -> Void,
    by work: (Int) -> Void
  ) -> Figure {
    func repeated(_ work: (Int) -> Void, _ rounds: Int) -> Int {
      for round in 0..<rounds { work(round) }
      return rounds
    }
    return Comparison(name: "compose-1080p", metric: metric, operations: "pictures", reference: reference, atLeast: atLeast).measure(
      runs: settings.runs ?? 11, subject: { repeated(subject, $0) }, reference: { repeated(work, $0) })
  }

  private static func convert(_ frame: VideoFrame, to pixels: SurfaceBitmap, x: Int = 0, y: Int = 0) {
    let buffer = frame.buffer
    I420ToARGB(
      buffer.luma, Int32(buffer.lumaStride), buffer.chromaU, Int32(buffer.chromaStride), buffer.chromaV, Int32(buffer.chromaStride),
      pixels.pixels + y * pixels.stride + x * 4, Int32(pixels.stride), Int32(buffer.width), Int32(buffer.height))
  }

  /// A page that is transparent but for a title, a bar of buttons, and a list at the side.
  static func page() -> SurfaceBitmap {
    let bitmap = SurfaceBitmap(width: width, height: height)
    func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ value: UInt32) {
      ARGBRect(bitmap.pixels, Int32(bitmap.stride), Int32(x), Int32(y), Int32(width), Int32(height), value)
    }
    fill(0, 0, width, 72, 0x8000_0000)
    fill(40, 20, 500, 32, 0xFFFF_FFFF)
    fill(560, 960, 800, 96, 0xB010_1018)
    for button in 0..<6 { fill(590 + button * 126, 976, 110, 64, button == 5 ? 0xFFD0_3030 : 0xFF40_4050) }
    fill(1_600, 120, 280, 600, 0xE010_1018)
    for row in 0..<12 { fill(1_620, 140 + row * 48, 180, 24, 0xFFE0_E0E0) }
    return bitmap
  }
}
