import Frames

/// A screen without a monitor: composes scenes in memory, where they can be looked at.
///
/// Belongs to one thread at a time.
public final class HeadlessOutput {
  /// Width of the picture in pixels.
  public let width: Int
  /// Height of the picture in pixels.
  public let height: Int
  /// How often layers were painted: what composition cost so far.
  public private(set) var paintCount = 0

  private let canvas: Canvas
  private var remotePainter = VideoPainter()
  private var selfViewPainter = VideoPainter()
  private var noticePainter = NoticePainter()
  private var panelPainter: PanelPainter
  private var pointerPainter: PointerPainter
  private var shown = Places()
  private var shownPage = false

  /// Clients' surfaces. While there are any, the screen is theirs, and the sides of a direct call are not painted.
  let page: PageComposition

  /// Where each layer stands on the screen.
  struct Places: Equatable {
    var remote: Rectangle?
    var selfView: Rectangle?
    var notice: Rectangle?
  }

  /// Where each layer of the scene composed last stands.
  var places: Places { shown }

  /// A black screen of `width` by `height` pixels, each between 1 and 16,384.
  public init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    canvas = Canvas(width: width, height: height)
    page = PageComposition(screen: canvas.bounds)
    panelPainter = PanelPainter(screen: canvas.bounds)
    pointerPainter = PointerPainter(screen: canvas.bounds)
  }

  /// Changes the panel that lies over everything but notices, and the pointer over that; says where the panel's parts stand, and whether
  /// anything changed.
  func setPanel(_ panel: PanelContent?, pointer: (x: Double, y: Double)?, theme: Notice.Theme) -> (layout: PanelLayout?, isNew: Bool) {
    if panel == nil && panelPainter.layout == nil && pointer == nil { return (nil, false) }
    let areas = [panelPainter.draw(panel, theme: theme)].compactMap { $0 } + pointerPainter.move(to: pointer)
    for area in areas { page.invalidate(area) }
    return (panelPainter.layout, !areas.isEmpty)
  }

  private var overlay: PageComposition.Overlay {
    PageComposition.Overlay(isDimmed: panelPainter.layout != nil, panel: panelPainter.raster, pointer: pointerPainter.raster)
  }

  /// Composes a whole scene, whatever was shown before.
  public func compose(_ scene: Scene) { compose(scene, damage: .all) }

  /// Composes `scene`, of which the layers not in `damage` are as they were in the call before.
  func compose(_ scene: Scene, damage: Scene.Damage) {
    let isPage = !page.isEmpty
    var damage = damage
    if isPage != shownPage {
      shownPage = isPage
      damage = .all
      page.invalidate(canvas.bounds)
    }
    if isPage {
      composePage(scene, damage: damage)
    } else {
      // Under a panel all is dimmed, and so painted afresh.
      composeCall(scene, damage: panelPainter.layout != nil && !damage.isEmpty ? .all : damage)
    }
  }

  /// Whether a page has something to paint that the screen does not show yet.
  var isPageDamaged: Bool { shownPage != !page.isEmpty || (shownPage && !page.damage.isEmpty) }

  private func composePage(_ scene: Scene, damage: Scene.Damage) {
    var places = Places()
    var overlay = overlay
    if let notice = scene.notice {
      places.notice = noticePainter.layOut(notice, secondsLeft: scene.secondsLeft, theme: scene.theme, width: width, height: height)
      overlay.notice = noticePainter.raster
    }
    if places.notice != shown.notice || damage.contains(.notice) {
      for box in [shown.notice, places.notice] { if let box { page.invalidate(box) } }
    }
    shown = places
    paintCount += page.compose(on: canvas.raster, overlay: overlay)
  }

  private func composeCall(_ scene: Scene, damage: Scene.Damage) {
    guard !damage.isEmpty else { return }
    let remote = scene.remote.map { scene.fit.placement(width: $0.uprightWidth, height: $0.uprightHeight, in: canvas.bounds) }
    let selfView = scene.selfView.map { frame in
      VideoFit.Placement(
        sourceWidth: frame.uprightWidth, sourceHeight: frame.uprightHeight,
        target: Scene.selfViewArea(width: frame.uprightWidth, height: frame.uprightHeight, corner: scene.corner, on: (width, height)))
    }
    var places = Places(remote: remote?.target, selfView: selfView?.target)
    if let notice = scene.notice {
      places.notice = noticePainter.layOut(notice, secondsLeft: scene.secondsLeft, theme: scene.theme, width: width, height: height)
    }
    let isSteady = places == shown && damage.isDisjoint(with: [.notice, .layout])
    shown = places

    // The self-view is opaque and lies over the remote side: alone it can be replaced where it stands.
    let isSelfViewAlone = isSteady && damage == .selfView && !HeadlessOutput.overlap(places.selfView, places.notice)
    if !isSelfViewAlone {
      let covers = isSteady && places.remote.map { remote in places.notice.map(remote.contains) ?? true } ?? false
      if !covers && places.remote != canvas.bounds { canvas.fill(canvas.bounds, .black) }
      if let frame = scene.remote, let remote {
        remotePainter.paint(frame, remote, isMirrored: false, on: canvas)
        paintCount += 1
      }
    }
    if let frame = scene.selfView, let selfView {
      selfViewPainter.paint(frame, selfView, isMirrored: scene.isMirrored, on: canvas)
      paintCount += 1
    }
    if panelPainter.layout != nil {
      overlay.paint(canvas.bounds, on: canvas.raster)
      paintCount += 1
    }
    if !isSelfViewAlone, let notice = scene.notice {
      _ = noticePainter.paint(notice, secondsLeft: scene.secondsLeft, theme: scene.theme, on: canvas)
      paintCount += 1
    }
  }

  private static func overlap(_ a: Rectangle?, _ b: Rectangle?) -> Bool {
    guard let a, let b else { return false }
    return a.overlaps(b)
  }

  /// A copy of what the screen shows.
  public func picture() -> Picture { canvas.picture() }
}
