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
    let output = HeadlessOutput(width: width, height: height)
    // What the reference works on, and a page that shows controls over the video.
    let pixels = SurfaceBitmap(width: width, height: height)
    let controls = page()
    func convert(_ rounds: Int) -> Int {
      for round in 0..<rounds {
        let buffer = remote[round % 2].buffer
        I420ToARGB(
          buffer.luma, Int32(buffer.lumaStride), buffer.chromaU, Int32(buffer.chromaStride), buffer.chromaV, Int32(buffer.chromaStride),
          pixels.pixels, Int32(pixels.stride), Int32(width), Int32(height))
      }
      return rounds
    }
    func convertAndBlend(_ rounds: Int) -> Int {
      for round in 0..<rounds {
        _ = convert(1 + round % 2)
        ARGBBlend(
          controls.pixels, Int32(controls.stride), pixels.pixels, Int32(pixels.stride), pixels.pixels, Int32(pixels.stride), Int32(width),
          Int32(height))
      }
      return rounds
    }
    func figure(
      _ metric: String, atLeast: Double?, reference: String = "libyuv's conversion alone", by work: (Int) -> Int,
      _ subject: (Int) -> Void
    ) -> Figure {
      Comparison(name: "compose-1080p", metric: metric, operations: "pictures", reference: reference, atLeast: atLeast).measure(
        runs: settings.runs ?? 11,
        subject: { rounds in
          for round in 0..<rounds { subject(round) }
          return rounds
        }, reference: work)
    }
    let (stage, remoteVideo, ownVideo) = (Stage(width: width, height: height), VideoIdentifier(rawValue: 1), VideoIdentifier(rawValue: 2))
    let layer = SurfaceLayer(
      identifier: 1, bitmap: controls, target: Rectangle(x: 0, y: 0, width: width, height: height),
      videos: [
        VideoPlacement(video: remoteVideo, width: Double(width), height: Double(height), fit: .cover),
        // Mirrored, in the lower right corner.
        VideoPlacement(
          video: ownVideo, width: 384, height: 216, map: AffineMap(a: -1, b: 0, c: 0, d: 1, e: 1_880, f: 824), fit: .cover,
          cornerRadii: .init(24)),
      ], canvas: .black)
    stage.update(layers: LayersUpdate(layers: [layer], isRearranged: true))
    let reference = "libyuv's conversion and blending of the whole screen"
    return [
      figure("remote side", atLeast: 0.8, by: convert) { output.compose(Scene(remote: remote[$0 % 2])) },
      figure("remote side and self-view", atLeast: nil, by: convert) {
        output.compose(Scene(remote: remote[$0 % 2], selfView: selfView))
      },
      figure("page over remote side and self-view", atLeast: 1 / 1.5, reference: reference, by: convertAndBlend) { round in
        stage.show(remote[round % 2], in: remoteVideo)
        stage.show(selfView, in: ownVideo)
        stage.present(now: Instant(nanoseconds: Int64(round)))
      },
      figure("page over a new self-view alone", atLeast: nil, reference: reference, by: convertAndBlend) { round in
        stage.show(selfView, in: ownVideo)
        stage.present(now: Instant(nanoseconds: Int64(round)))
      },
      idle(stage),
      allocations(stage) { round in
        stage.show(remote[round % 2], in: remoteVideo)
        stage.show(selfView, in: ownVideo)
        stage.present(now: Instant(nanoseconds: Int64(round)))
      },
    ]
  }

  /// How many heap allocations a picture takes when all memory has been had before: the list of frames that a flip hands on, and libyuv's
  /// own for scaling a plane, of which a picture has three.
  private static func allocations(_ stage: Stage, _ show: (Int) -> Void) -> Figure {
    let (rounds, before) = (200, allocations_of_thread())
    for round in 0..<rounds { show(round) }
    return Figure(
      name: "compose-1080p", metric: "allocations for a page's picture", value: Double(allocations_of_thread() - before) / Double(rounds),
      unit: "per picture", runs: 1, spread: 0, bound: .atMost(4), needsReference: false)
  }

  /// How often a page that stands still, without a new frame, is painted.
  private static func idle(_ stage: Stage) -> Figure {
    let (rounds, before) = (1_000, stage.statistics.flips)
    for round in 0..<rounds { stage.present(now: Instant(nanoseconds: Int64(round))) }
    return Figure(
      name: "compose-1080p", metric: "page without a new frame", value: Double(stage.statistics.flips - before),
      unit: "pictures in \(rounds) refreshes", runs: 1, spread: 0, bound: .atMost(0), needsReference: false)
  }

  /// A page that is transparent but for a title, a bar of buttons, and a list at the side.
  private static func page() -> SurfaceBitmap {
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
