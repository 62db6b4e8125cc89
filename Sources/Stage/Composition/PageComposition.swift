/// Clients' surfaces and the videos under them, composed where something changed and nowhere else.
///
/// From bottom to top: for each surface its canvas colour, its videos, its pixels; then what the stage itself lays over all.
final class PageComposition {
  /// What the stage lays over the surfaces; each is painted where it stands.
  struct Overlay {
    /// Whether the surfaces are darkened, because a panel asks for attention.
    var isDimmed = false
    var panel: Raster?
    var notice: Raster?
    /// The pointer while a panel has it.
    var pointer: Raster?

    /// Lays over an area what of all this lies in it, the notice above the panel.
    func paint(_ area: Rectangle, on raster: Raster) {
      if isDimmed { raster.shade(area, by: PageComposition.dimming) }
      if let panel { raster.blend(panel, area.intersection(panel.bounds)) }
      if let notice { raster.blend(notice, area.intersection(notice.bounds)) }
      if let pointer { raster.blend(pointer, area.intersection(pointer.bounds)) }
    }
  }

  let screen: Rectangle
  private(set) var surfaces: [ComposedSurface] = []
  /// What the next composition paints.
  private(set) var damage = Damage()
  /// What the last composition painted.
  private(set) var painted = Damage()

  /// How much of their light surfaces keep below a panel, of 255.
  static let dimming: UInt8 = 115
  /// So many rows are composed at a time, through all layers: they stay in the processor's cache meanwhile.
  private static let stripHeight = 32

  init(screen: Rectangle) { self.screen = screen }

  /// Whether no client has a surface on the screen.
  var isEmpty: Bool { surfaces.isEmpty }

  /// Has an area painted again.
  func invalidate(_ area: Rectangle) { damage.add(area, in: screen) }

  /// Takes what clients committed.
  func update(_ update: LayersUpdate) {
    let layers = update.layers
    let isSteady =
      !update.isRearranged && layers.count == surfaces.count
      && !layers.indices.contains { layers[$0].identifier != surfaces[$0].layer.identifier }
    for area in update.uncovered { invalidate(area) }
    if isSteady {
      for (surface, layer) in zip(surfaces, layers) { surface.update(layer, damage: &damage) }
    } else {
      rearrange(layers)
    }
    findHidden()
  }

  private func rearrange(_ layers: [SurfaceLayer]) {
    var left = surfaces
    var arranged: [ComposedSurface] = []
    for layer in layers {
      guard let index = left.firstIndex(where: { $0.layer.identifier == layer.identifier }) else {
        arranged.append(ComposedSurface(layer, screen: screen, damage: &damage))
        continue
      }
      let surface = left.remove(at: index)
      // Those skipped over are now above or gone.
      if index > 0 { invalidate(surface.visible) }
      surface.update(layer, damage: &damage)
      if index > 0 { invalidate(surface.visible) }
      arranged.append(surface)
    }
    for surface in left { invalidate(surface.visible) }
    surfaces = arranged
  }

  private func findHidden() {
    for (index, surface) in surfaces.enumerated() {
      for video in surface.videos where !video.box.visible.isEmpty {
        video.isHidden = surface.isOpaque(video.box.visible) || surfaces[(index + 1)...].contains { $0.hides(video.box.visible) }
      }
    }
  }

  /// Calls `body` for each video that can be seen, from bottom to top; what it returns is painted again.
  func forEachVisibleVideo(_ body: (PlacedVideo) -> Rectangle?) {
    for surface in surfaces {
      for video in surface.videos where video.isVisible {
        if let area = body(video) { invalidate(area) }
      }
    }
  }

  /// Lets the frames of videos go that cannot be seen.
  func releaseHiddenFrames() {
    for surface in surfaces {
      for video in surface.videos where !video.isVisible && video.frame != nil { _ = video.show(nil) }
    }
  }

  /// Paints all damaged areas and returns how many these were.
  func compose(on raster: Raster, overlay: Overlay) -> Int {
    for area in damage.areas {
      for y in stride(from: area.y, to: area.y + area.height, by: PageComposition.stripHeight) {
        let height = min(PageComposition.stripHeight, area.y + area.height - y)
        composeStrip(Rectangle(x: area.x, y: y, width: area.width, height: height), on: raster, overlay: overlay)
      }
    }
    swap(&damage, &painted)
    damage.clear()
    return painted.areas.count
  }

  private func composeStrip(_ strip: Rectangle, on raster: Raster, overlay: Overlay) {
    let lowest = surfaces.lastIndex { $0.hides(strip) }
    let first = lowest ?? 0
    // Black lies below everything, painted only where it may be seen.
    let isGroundLeft = lowest == nil && !(surfaces.first?.visible.contains(strip) ?? false)
    if isGroundLeft { raster.fill(strip, Color.black.opaqueValue) }
    for index in first..<surfaces.count {
      surfaces[index].paint(strip, ground: index == first && lowest == nil && !isGroundLeft ? .black : nil, on: raster)
    }
    overlay.paint(strip, on: raster)
  }
}
