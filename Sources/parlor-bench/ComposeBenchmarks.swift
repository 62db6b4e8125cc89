import CYUV
import Camera
import Frames
import Stage

/// Pictures put on a screen of 1920 by 1080 pixels, without a graphics processor.
enum ComposeBenchmarks {
  static func run(_ settings: Benchmark.Settings) -> [Figure] {
    let pictures = SyntheticCamera(width: 1_920, height: 1_080)
    let remote = [pictures.frame(at: 0), pictures.frame(at: 1)]
    let selfView = SyntheticCamera(width: 640, height: 360).frame(at: 0)
    let output = HeadlessOutput(width: 1_920, height: 1_080)
    let stride = 1_920 * 4
    let pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * 1_080)
    defer { pixels.deallocate() }
    func convert(_ rounds: Int) -> Int {
      for round in 0..<rounds {
        let buffer = remote[round % 2].buffer
        I420ToARGB(
          buffer.luma, Int32(buffer.lumaStride), buffer.chromaU, Int32(buffer.chromaStride), buffer.chromaV, Int32(buffer.chromaStride),
          pixels, Int32(stride), 1_920, 1_080)
      }
      return rounds
    }
    func figure(_ metric: String, atLeast: Double?, _ scene: @escaping (Int) -> Scene) -> Figure {
      Comparison(
        name: "compose-1080p", metric: metric, operations: "pictures", reference: "libyuv's conversion alone", atLeast: atLeast
      ).measure(
        runs: settings.runs ?? 11,
        subject: { rounds in
          for round in 0..<rounds { output.compose(scene(round)) }
          return rounds
        }, reference: convert)
    }
    return [
      figure("remote side", atLeast: 0.8) { Scene(remote: remote[$0 % 2]) },
      figure("remote side and self-view", atLeast: nil) { Scene(remote: remote[$0 % 2], selfView: selfView) },
    ]
  }
}
