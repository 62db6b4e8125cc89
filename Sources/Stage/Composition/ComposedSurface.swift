import CPango

/// One surface of a client on the screen, with the videos under its pixels.
final class ComposedSurface {
  private(set) var layer: SurfaceLayer
  private(set) var videos: [PlacedVideo] = []
  /// What of the surface is on the screen.
  private(set) var visible: Rectangle

  private let screen: Rectangle
  private var opacity: OpacityMap
  /// The pixels at the size they are shown in, when that is not theirs.
  private var scaled: SurfaceBitmap?

  init(_ layer: SurfaceLayer, screen: Rectangle, damage: inout Damage) {
    (self.layer, self.screen) = (layer, screen)
    visible = layer.target.intersection(screen)
    opacity = OpacityMap(bounds: visible)
    damage.add(visible, in: screen)
    lookAtPixels(visible)
    place(layer.videos, damage: &damage)
  }

  /// Takes what the client committed, and adds what has to be painted again to `damage`.
  func update(_ new: SurfaceLayer, damage: inout Damage) {
    let old = layer
    layer = new
    let isSame =
      new.target == old.target && new.source == old.source && new.canvas == old.canvas
      && new.bitmap?.isOpaque == old.bitmap?.isOpaque && new.bitmap?.width == old.bitmap?.width && new.bitmap?.height == old.bitmap?.height
    if isSame {
      for area in new.damage {
        // Scaling mixes neighbours, so that any change may reach further than itself.
        let area = isScaled ? visible : area.intersection(visible)
        damage.add(area, in: screen)
        lookAtPixels(area)
      }
    } else {
      damage.add(visible, in: screen)
      visible = new.target.intersection(screen)
      damage.add(visible, in: screen)
      opacity = OpacityMap(bounds: visible)
      lookAtPixels(visible)
    }
    if !isSame || new.videos != old.videos { place(new.videos, damage: &damage) }
  }

  private func place(_ placements: [VideoPlacement], damage: inout Damage) {
    var placed: [PlacedVideo] = []
    placed.reserveCapacity(placements.count)
    var left = videos
    for (index, placement) in placements.enumerated() {
      let box = PlacedBox(placement, target: layer.target, screen: screen)
      guard let known = left.firstIndex(where: { $0.identifier == placement.video }) else {
        damage.add(box.visible, in: screen)
        placed.append(PlacedVideo(box, screen: screen))
        continue
      }
      let video = left.remove(at: known)
      // What stands as it stood needs no painting, unless others went above or below it.
      if video.box != box || videos.count <= index || videos[index] !== video {
        damage.add(video.box.visible, in: screen)
        damage.add(box.visible, in: screen)
        video.place(box)
      }
      placed.append(video)
    }
    for video in left { damage.add(video.box.visible, in: screen) }
    videos = placed
  }

  /// Whether nothing below the surface is seen through an area.
  func hides(_ area: Rectangle) -> Bool { visible.contains(area) && (layer.canvas != nil || isOpaque(area)) }

  /// Whether the surface's own pixels hide the videos in an area, which must be on the screen.
  func isOpaque(_ area: Rectangle) -> Bool { layer.bitmap.map { $0.isOpaque || opacity.isOpaque(area) } ?? false }

  /// Whether nothing of the surface's own pixels is seen in an area.
  func isTransparent(_ area: Rectangle) -> Bool {
    layer.bitmap.map { !$0.isOpaque && opacity.isTransparent(area.intersection(visible)) } ?? true
  }

  /// Paints what of the surface and its videos lies in `area`; `ground` lies below all of it.
  func paint(_ area: Rectangle, ground: Color?, _ content: PlaneContent, on raster: Raster) {
    let area = area.intersection(visible)
    guard !area.isEmpty else { return }
    if !isOpaque(area) { paintVideos(area, ground: layer.canvas ?? ground, content, on: raster) }
    paintPixels(area, on: raster)
  }

  /// Paints what lies below the surface's pixels: a colour, and its videos.
  func paintVideos(_ area: Rectangle, ground: Color?, _ content: PlaneContent, on raster: Raster) {
    let area = area.intersection(visible)
    guard !area.isEmpty else { return }
    if let ground, !videos.contains(where: { $0.covers(area) && content.role(of: $0.identifier) == .painted }) {
      raster.fill(area, ground.opaqueValue)
    }
    for video in videos where video.isVisible {
      switch content.role(of: video.identifier) {
      case .painted: video.paint(area, on: raster)
      case .background: video.paintBackground(area, on: raster)
      case .hole: if let hole = video.seenPicture { raster.fill(area.intersection(hole), 0) }
      case .absent: break
      }
    }
  }

  /// Paints the surface's own pixels over what is there.
  func paintPixels(_ area: Rectangle, on raster: Raster) {
    let area = area.intersection(visible)
    guard !area.isEmpty, let pixels else { return }
    if isOpaque(area) { return raster.copy(pixels, area) }
    opacity.forEachPart(of: area) { part, isOpaque in
      if isOpaque { raster.copy(pixels, part) } else { raster.blend(pixels, part) }
    }
  }

  // MARK: Pixels

  /// The part of the bitmap that is seen; nil when there is none.
  private var source: Rectangle? {
    guard let bitmap = layer.bitmap else { return nil }
    let all = Rectangle(x: 0, y: 0, width: bitmap.width, height: bitmap.height)
    let part = layer.source?.intersection(all) ?? all
    return part.isEmpty ? nil : part
  }

  private var isScaled: Bool { source.map { $0.width != layer.target.width || $0.height != layer.target.height } ?? false }

  /// The surface's pixels as they stand on the screen, at least those that are visible.
  private var pixels: Raster? {
    if let scaled { return scaled.raster(x: visible.x, y: visible.y) }
    guard let source, let bitmap = layer.bitmap else { return nil }
    return unsafe Raster(pixels: bitmap.pixels + source.y * bitmap.stride + source.x * 4, stride: bitmap.stride, bounds: layer.target)
  }

  private func lookAtPixels(_ area: Rectangle) {
    guard !area.isEmpty else { return }
    if isScaled { scale() } else { scaled = nil }
    if let pixels, layer.bitmap?.isOpaque == false { opacity.update(area, from: pixels) }
  }

  /// Draws the visible part at the size it is shown in.
  private func scale() {
    guard let source, let bitmap = layer.bitmap, !visible.isEmpty else { return }
    let output = SurfaceBitmap.reuse(scaled, width: visible.width, height: visible.height)
    scaled = output
    output.raster(x: 0, y: 0).fill(Rectangle(x: 0, y: 0, width: output.width, height: output.height), 0)
    let format = bitmap.isOpaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32
    let first = unsafe bitmap.pixels + source.y * bitmap.stride + source.x * 4
    let from = unsafe cairo_image_surface_create_for_data(first, format, Int32(source.width), Int32(source.height), Int32(bitmap.stride))
    let to = unsafe cairo_image_surface_create_for_data(
      output.pixels, format, Int32(output.width), Int32(output.height), Int32(output.stride))
    let context = unsafe cairo_create(to)
    unsafe cairo_translate(context, Double(layer.target.x - visible.x), Double(layer.target.y - visible.y))
    unsafe cairo_scale(
      context, Double(layer.target.width) / Double(source.width), Double(layer.target.height) / Double(source.height))
    unsafe cairo_set_source_surface(context, from, 0, 0)
    unsafe cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD)
    unsafe cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
    unsafe cairo_paint(context)
    unsafe cairo_destroy(context)
    for surface in [from, to] {
      unsafe cairo_surface_finish(surface)
      unsafe cairo_surface_destroy(surface)
    }
  }
}
