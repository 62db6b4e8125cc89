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
  }

  let screen: Rectangle
  private(set) var surfaces: [ComposedSurface] = []
  /// What has to be painted.
  private(set) var damage = CompositionDamage()

  /// How much of their light surfaces keep below a panel, of 255.
  static let dimming: UInt8 = 115
  /// So many rows are composed at a time, through all layers: they stay in the processor's cache meanwhile.
  static let stripHeight = 32

  init(screen: Rectangle) { self.screen = screen }

  /// Has an area painted again.
  func invalidate(_ area: Rectangle) { damage.layers.add(area, in: screen) }

  /// Hands over what has to be painted; from now on it counts as painted.
  func takeDamage(_ taken: inout CompositionDamage) {
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
      for (surface, layer) in zip(surfaces, layers) { surface.update(layer, damage: &damage.layers) }
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
        arranged.append(ComposedSurface(layer, screen: screen, damage: &damage.layers))
        continue
      }
      let surface = left.remove(at: index)
      // Those skipped over are now above or gone.
      if index > 0 { invalidate(surface.visible) }
      surface.update(layer, damage: &damage.layers)
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
  func forEachVisibleVideo(_ body: (PlacedVideo) -> PlacedVideo.Change?) {
    for surface in surfaces {
      for video in surface.videos where video.isVisible {
        guard let change = body(video) else { continue }
        if change.isPictureAlone { damage.add(change.area, of: video.identifier, in: screen) } else { invalidate(change.area) }
      }
    }
  }

  /// Lets the frames of videos go that cannot be seen.
  func releaseHiddenFrames() {
    for surface in surfaces {
      for video in surface.videos where !video.isVisible && video.frame != nil { _ = video.show(nil) }
    }
  }

  /// Paints an area, strip by strip.
  func compose(_ area: Rectangle, _ content: PlaneContent = .everything, on raster: Raster, overlay: Overlay) {
    PageComposition.forEachStrip(of: area) { composeStrip($0, content, on: raster, overlay: overlay) }
  }

  /// Calls `body` for the strips of an area, from top to bottom.
  static func forEachStrip(of area: Rectangle, _ body: (Rectangle) -> Void) {
    for y in stride(from: area.y, to: area.y + area.height, by: stripHeight) {
      body(Rectangle(x: area.x, y: y, width: area.width, height: min(stripHeight, area.y + area.height - y)))
    }
  }

  /// Paints what a plane shows in one strip; nothing for one that shows a video.
  func composeStrip(_ strip: Rectangle, _ content: PlaneContent, on raster: Raster, overlay: Overlay) {
    switch content {
    case .composed:
      composeAll(strip, content, on: raster)
      overlay.paint(strip, on: raster)
    case .under:
      if !surfaces.contains(where: { $0.layer.canvas != nil && $0.visible.contains(strip) }) {
        raster.fill(strip, Color.black.opaqueValue)
      }
      for surface in surfaces { surface.paintVideos(strip, ground: surface.layer.canvas, content, on: raster) }
    case .page:
      var raster = raster
      raster.isTransparent = true
      raster.fill(strip, 0)
      for surface in surfaces {
        surface.paintVideos(strip, ground: nil, content, on: raster)
        surface.paintPixels(strip, on: raster)
      }
      overlay.paint(strip, on: raster)
    case .black: raster.fill(strip, Color.black.opaqueValue)
    case .video: break
    }
  }

  private func composeAll(_ strip: Rectangle, _ content: PlaneContent, on raster: Raster) {
    let lowest = surfaces.lastIndex { $0.hides(strip) }
    let first = lowest ?? 0
    // Black lies below everything, painted only where it may be seen.
    let isGroundLeft = lowest == nil && !(surfaces.first?.visible.contains(strip) ?? false)
    if isGroundLeft { raster.fill(strip, Color.black.opaqueValue) }
    for index in first..<surfaces.count {
      let ground: Color? = index == first && lowest == nil && !isGroundLeft ? .black : nil
      surfaces[index].paint(strip, ground: ground, content, on: raster)
    }
  }
}

extension PlaneContent {
  /// All that is to be seen.
  static let everything = PlaneContent.composed(without: [])

  /// What is painted of a video in a composed layer.
  enum VideoRole {
    /// All of it.
    case painted
    /// Its box without the picture, which another plane shows.
    case background
    /// Nothing, and nothing of what lies below it: a plane further down shows it.
    case hole
    case absent
  }

  /// What is painted of a video.
  func role(of video: VideoIdentifier) -> VideoRole {
    switch self {
    case .composed(let elsewhere): elsewhere.contains(video) ? .background : .painted
    case .under(let painted, let backgrounds): painted.contains(video) ? .painted : backgrounds.contains(video) ? .background : .absent
    case .page(let painted, let holes): painted.contains(video) ? .painted : holes.contains(video) ? .hole : .absent
    case .video, .black: .absent
    }
  }
}
