/// Surfaces and the videos under them, composed where something changed and nowhere else.
///
/// From bottom to top: for each surface its canvas colour, its videos, its pixels; then what the stage itself lays over all.
final class PageComposition {
  /// What the stage lays over the surfaces; each is painted where it stands.
  struct Overlay {
    /// Whether the surfaces are darkened, because a panel asks for attention.
    var isDimmed = false
    /// What is laid over them, from bottom to top.
    var rasters: [Raster] = []

    /// Lays over an area what of all this lies in it.
    func paint(_ area: Rectangle, on raster: Raster) {
      if isDimmed { raster.shade(area, by: PageComposition.dimming) }
      for overlay in rasters { raster.blend(overlay, area.intersection(overlay.bounds)) }
    }

    /// The same over an area that may be transparent.
    func lay(_ area: Rectangle, on raster: Raster) {
      for overlay in rasters { raster.lay(overlay, area.intersection(overlay.bounds)) }
    }
  }

  /// Which of all layers are painted; a display with several planes shows them apart.
  enum Part: Equatable {
    /// All, but for some videos that the display itself shows in their places.
    case all(without: Set<VideoIdentifier>)
    /// What lies below the pixels of the topmost surface with videos, those videos included.
    case below(without: Set<VideoIdentifier>)
    /// The rest, on transparent ground.
    case above

    /// All layers.
    static let everything = Part.all(without: [])
  }

  let screen: Rectangle
  private(set) var surfaces: [ComposedSurface] = []
  /// What has to be painted.
  private(set) var damage = Damage()

  /// How much of their light surfaces keep below a panel, of 255.
  static let dimming: UInt8 = 115
  /// So many rows are composed at a time, through all layers: they stay in the processor's cache meanwhile.
  static let stripHeight = 32

  init(screen: Rectangle) { self.screen = screen }

  /// Has an area painted again.
  func invalidate(_ area: Rectangle) { damage.add(area, in: screen) }

  /// Hands over what has to be painted; from now on it counts as painted.
  func takeDamage(_ taken: inout Damage) {
    swap(&damage, &taken)
    damage.clear()
  }

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

  /// The topmost surface with videos that can be seen.
  var topVideoSurface: Int? { surfaces.lastIndex { $0.videos.contains(where: \.isVisible) } }

  /// Paints a part of the layers in an area, strip by strip: `body` is handed each and returns pixels to paint it on, and `finish` gets
  /// them back.
  func compose(_ area: Rectangle, _ part: Part = .everything, on raster: Raster, overlay: Overlay) {
    PageComposition.forEachStrip(of: area) { strip in composeStrip(strip, part, on: raster, overlay: overlay) }
  }

  /// Calls `body` for the strips of an area, from top to bottom.
  static func forEachStrip(of area: Rectangle, _ body: (Rectangle) -> Void) {
    for y in stride(from: area.y, to: area.y + area.height, by: stripHeight) {
      body(Rectangle(x: area.x, y: y, width: area.width, height: min(stripHeight, area.y + area.height - y)))
    }
  }

  /// Paints a part of the layers in one strip.
  func composeStrip(_ strip: Rectangle, _ part: Part, on raster: Raster, overlay: Overlay) {
    switch part {
    case .all(let elsewhere):
      composeLower(strip, surfaces.count, without: elsewhere, on: raster)
      overlay.paint(strip, on: raster)
    case .below(let elsewhere):
      let top = topVideoSurface ?? 0
      let isGroundPainted = composeLower(strip, top, without: elsewhere, on: raster)
      if top < surfaces.count {
        surfaces[top].paintVideos(strip, ground: isGroundPainted ? nil : .black, without: elsewhere, on: raster)
      }
    case .above:
      raster.fill(strip, 0)
      for surface in surfaces[(topVideoSurface ?? 0)...] { surface.layPixels(strip, on: raster) }
      overlay.lay(strip, on: raster)
    }
  }

  /// Paints the lowest `count` surfaces, and says whether all of the strip is painted.
  @discardableResult
  private func composeLower(_ strip: Rectangle, _ count: Int, without elsewhere: Set<VideoIdentifier>, on raster: Raster) -> Bool {
    let lowest = surfaces[..<count].lastIndex { $0.hides(strip) }
    let first = lowest ?? 0
    // Black lies below everything, painted only where it may be seen.
    let isGroundLeft = lowest == nil && !(count > 0 && surfaces[0].visible.contains(strip))
    if isGroundLeft { raster.fill(strip, Color.black.opaqueValue) }
    for index in first..<count {
      surfaces[index].paint(
        strip, ground: index == first && lowest == nil && !isGroundLeft ? .black : nil, without: elsewhere, on: raster)
    }
    return isGroundLeft || count > 0
  }
}
