/// One surface on the screen. Layers come from bottom to top.
package struct SurfaceLayer: Sendable {
  /// Stable while the surface lives.
  package var identifier: UInt64
  /// The surface's pixels; nil when it has none and is there for its videos alone.
  package var bitmap: SurfaceBitmap?
  /// The part of the bitmap that is seen, in its pixels; nil: all of it.
  package var source: Rectangle?
  /// Where on the screen it is seen, in output pixels.
  package var target: Rectangle
  /// What changed since the layers were taken last, in output pixels.
  package var damage: [Rectangle]
  /// The videos beneath the surface's pixels, from bottom to top, in surface coordinates: output pixels from the target's upper left corner.
  package var videos: [VideoPlacement]
  /// What lies under the videos in all of the target; nil: the surfaces below.
  package var canvas: Color?

  /// A layer.
  package init(
    identifier: UInt64, bitmap: SurfaceBitmap?, source: Rectangle? = nil, target: Rectangle, damage: [Rectangle] = [],
    videos: [VideoPlacement] = [], canvas: Color? = nil
  ) {
    (self.identifier, self.bitmap, self.source, self.target) = (identifier, bitmap, source, target)
    (self.damage, self.videos, self.canvas) = (damage, videos, canvas)
  }
}

/// What became of the surfaces since they were asked for last.
package struct LayersUpdate: Sendable {
  /// All surfaces that are on the screen, from bottom to top.
  package var layers: [SurfaceLayer]
  /// Whether surfaces came, went, moved, changed their size or their order.
  package var isRearranged: Bool
  /// Areas that surfaces which moved or went away leave, in output pixels.
  package var uncovered: [Rectangle]

  /// An update.
  package init(layers: [SurfaceLayer], isRearranged: Bool = false, uncovered: [Rectangle] = []) {
    (self.layers, self.isRearranged, self.uncovered) = (layers, isRearranged, uncovered)
  }
}
