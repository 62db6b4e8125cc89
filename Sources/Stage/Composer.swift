import Frames

/// All that is to be seen, from bottom to top: clients' surfaces over their videos, or the two sides of a direct call; then a panel, the
/// on-screen keyboard, what the stage itself says, the pointer. Says what changed, and paints any area of it wherever it is wanted.
final class Composer: @unchecked Sendable {
  // Unchecked: whoever made it touches it under a lock of their own.

  /// The upright picture.
  let screen: Rectangle
  /// Clients' surfaces; without any, the sides of a direct call.
  let page: PageComposition
  /// Whether a client has a surface on the screen: it is theirs then.
  private(set) var hasClients = false
  /// Where each part of the scene stands.
  private(set) var places = Places()

  private var announcementPainter = AnnouncementPainter()
  private var panelPainter: PanelPainter
  private var keyboardPainter = KeyboardPainter()
  private var pointerPainter: PointerPainter
  /// What the stage lays over all surfaces.
  private(set) var overlay = PageComposition.Overlay()

  /// Where parts of the scene stand on the screen.
  struct Places: Equatable {
    var remote: Rectangle?
    var selfView: Rectangle?
    var notice: Rectangle?
  }

  /// An empty, black screen.
  init(width: Int, height: Int) {
    screen = Rectangle(x: 0, y: 0, width: width, height: height)
    page = PageComposition(screen: screen)
    panelPainter = PanelPainter(screen: screen)
    pointerPainter = PointerPainter(screen: screen)
  }

  /// Whether anything has to be painted.
  var isDamaged: Bool { !page.damage.isEmpty }

  /// Takes what clients committed.
  func update(_ update: LayersUpdate) {
    var update = update
    if hasClients == update.layers.isEmpty {
      hasClients.toggle()
      update.isRearranged = true
    }
    if hasClients {
      page.update(update)
    } else {
      page.update(LayersUpdate(layers: [], isRearranged: true, uncovered: update.uncovered))
      call = CallLayout()
    }
    idleBitmap = nil
  }

  /// The clients' videos that can be seen. The frames of the others are let go.
  func seenVideos() -> Set<VideoIdentifier> {
    guard hasClients else { return [] }
    var seen: Set<VideoIdentifier> = []
    page.forEachVisibleVideo { video in
      seen.insert(video.identifier)
      return nil
    }
    page.releaseHiddenFrames()
    return seen
  }

  /// Changes the on-screen keyboard; nil takes it off. Panels stand in the room that it leaves.
  func setKeyboard(_ keyboard: KeyboardPicture?, theme: Notice.Theme) {
    var isNew = false
    keyboardPainter.draw(keyboard, theme: theme, screen: screen) { area in
      page.invalidate(area)
      isNew = true
    }
    if isNew { arrangeOverlay() }
  }

  /// What of the screen the keyboard leaves free.
  private var room: Rectangle {
    guard let keyboard = keyboardPainter.raster?.bounds else { return screen }
    let isAtTop = keyboard.y == 0
    return Rectangle(x: 0, y: isAtTop ? keyboard.height : 0, width: screen.width, height: screen.height - keyboard.height)
  }

  /// Changes the panel that lies over everything but notices, and the pointer over that; says where the panel's parts stand.
  func setPanel(_ panel: PanelContent?, pointer: (x: Double, y: Double)?, theme: Notice.Theme) -> PanelLayout? {
    var isNew = false
    if panel != nil || panelPainter.layout != nil, let area = panelPainter.draw(panel, theme: theme, room: room) {
      page.invalidate(area)
      isNew = true
    }
    for area in pointerPainter.move(to: pointer) {
      page.invalidate(area)
      isNew = true
    }
    if isNew { arrangeOverlay() }
    return panelPainter.layout
  }

  /// Lays what was drawn anew over the surfaces, from bottom to top.
  private func arrangeOverlay() {
    let rasters =
      [panelPainter.raster, keyboardPainter.raster].compactMap { $0 } + announcementPainter.rasters
      + [pointerPainter.raster].compactMap { $0 }
    overlay = PageComposition.Overlay(isDimmed: panelPainter.layout != nil, rasters: rasters)
  }

  // MARK: The scene

  /// Has a scene shown; what is as it was costs nothing.
  func show(_ scene: Scene) {
    showCall(scene)
    var isNew = false
    announcementPainter.show(scene.announcements, isOverPicture: scene.idle != nil, style: style(scene)) { area in
      page.invalidate(area)
      isNew = true
    }
    guard isNew else { return }
    places.notice = announcementPainter.noticeBox
    arrangeOverlay()
  }

  private func style(_ scene: Scene) -> SheetStyle { SheetStyle(width: screen.width, height: screen.height, theme: scene.theme) }

  /// How the sides of a direct call stand.
  private struct CallLayout: Equatable {
    var remote: Rectangle?
    var fit = VideoPlacement.Fit.fill
    var selfView: Rectangle?
    var isMirrored = false
    /// What is behind the self-view while there is no other side.
    var idle: IdlePicture.Content?
  }

  private var call = CallLayout()
  private var idleBitmap: SurfaceBitmap?
  private static let remote = VideoIdentifier(rawValue: 0)
  private static let selfView = VideoIdentifier(rawValue: 1)

  /// The sides of a direct call are videos of a surface without pixels.
  private func showCall(_ scene: Scene) {
    let layout = hasClients ? CallLayout() : self.layout(of: scene)
    (places.remote, places.selfView) = (layout.remote, layout.selfView)
    guard !hasClients else { return }
    if layout != call {
      let isIdleNew = layout.idle != call.idle
      call = layout
      if isIdleNew { idleBitmap = layout.idle.map { IdlePicture.draw($0) } }
      var videos: [VideoPlacement] = []
      if let area = layout.remote { videos.append(Composer.placement(Composer.remote, area, layout.fit, isMirrored: false)) }
      if let area = layout.selfView { videos.append(Composer.placement(Composer.selfView, area, .fill, isMirrored: layout.isMirrored)) }
      var layers: [SurfaceLayer] = []
      if let idleBitmap {
        layers.append(SurfaceLayer(identifier: 1, bitmap: idleBitmap, target: screen, damage: isIdleNew ? [screen] : []))
      }
      if !videos.isEmpty {
        layers.append(SurfaceLayer(identifier: 0, bitmap: nil, target: screen, videos: videos, canvas: layers.isEmpty ? .black : nil))
      }
      page.update(LayersUpdate(layers: layers))
    }
    page.forEachVisibleVideo { video in
      let frame = video.identifier == Composer.remote ? scene.remote : scene.selfView
      return video.frame?.buffer === frame?.buffer ? nil : video.show(frame)
    }
  }

  private func layout(of scene: Scene) -> CallLayout {
    var layout = CallLayout(isMirrored: scene.isMirrored)
    if let frame = scene.remote {
      layout.remote = scene.fit.placement(width: frame.uprightWidth, height: frame.uprightHeight, in: screen).target
      layout.fit = scene.fit == .cover ? .cover : .fill
    } else {
      layout.idle = scene.idle.map { IdlePicture.Content(picture: $0, style: style(scene)) }
    }
    if let frame = scene.selfView {
      layout.selfView = Scene.selfViewArea(
        width: frame.uprightWidth, height: frame.uprightHeight, corner: scene.corner, on: (screen.width, screen.height))
    }
    return layout
  }

  private static func placement(_ video: VideoIdentifier, _ area: Rectangle, _ fit: VideoPlacement.Fit, isMirrored: Bool) -> VideoPlacement
  {
    let (left, right) = (Double(area.x), Double(area.x + area.width))
    return VideoPlacement(
      video: video, width: Double(area.width), height: Double(area.height),
      map: AffineMap(a: isMirrored ? -1 : 1, b: 0, c: 0, d: 1, e: isMirrored ? right : left, f: Double(area.y)), fit: fit)
  }

  // MARK: Pictures

  /// A copy of all that is to be seen now, painted for it.
  func picture() -> Picture {
    let canvas = Canvas(width: screen.width, height: screen.height)
    page.compose(screen, on: canvas.raster, overlay: overlay)
    return canvas.picture()
  }
}
