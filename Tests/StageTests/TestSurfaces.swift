import Base
import Frames

@testable import Stage

/// Surfaces as a client would commit them.
enum TestSurfaces {
  /// A premultiplied pixel: alpha, red, green, blue from the highest byte.
  static func pixel(_ color: Color, alpha: UInt8 = 255) -> UInt32 {
    func channel(_ value: UInt8) -> UInt32 { (UInt32(value) * UInt32(alpha) + 127) / 255 }
    return UInt32(alpha) << 24 | channel(color.red) << 16 | channel(color.green) << 8 | channel(color.blue)
  }

  /// Paints a rectangle of a bitmap, in its own coordinates.
  static func fill(_ bitmap: SurfaceBitmap?, _ area: Rectangle, _ value: UInt32) {
    guard let bitmap else { return }
    bitmap.raster(x: 0, y: 0).fill(area.intersection(Rectangle(x: 0, y: 0, width: bitmap.width, height: bitmap.height)), value)
  }

  /// A surface over all of a screen, transparent but for what `draw` paints.
  static func page(
    width: Int, height: Int, videos: [VideoPlacement] = [], canvas: Color? = nil, draw: (SurfaceBitmap) -> Void = { _ in }
  ) -> SurfaceLayer {
    let bitmap = SurfaceBitmap(width: width, height: height)
    draw(bitmap)
    let target = Rectangle(x: 0, y: 0, width: width, height: height)
    return SurfaceLayer(identifier: 1, bitmap: bitmap, target: target, damage: [target], videos: videos, canvas: canvas)
  }
}

extension Stage {
  /// The pixels after composing everything afresh: on a stage that has never shown anything else.
  static func picture(of layers: [SurfaceLayer], frames: [VideoIdentifier: VideoFrame] = [:], width: Int, height: Int) -> Picture {
    let stage = Stage(width: width, height: height)
    for (video, frame) in frames { stage.show(frame, in: video) }
    stage.update(layers: LayersUpdate(layers: layers, isRearranged: true))
    stage.present(now: Instant(nanoseconds: 0))
    return stage.picture()
  }
}
