import Frames

/// A screen without a monitor: composes in memory, where it can be looked at.
///
/// Belongs to one thread at a time.
public final class HeadlessOutput {
  /// Width of the picture in pixels.
  public let width: Int
  /// Height of the picture in pixels.
  public let height: Int
  /// How often areas were painted: what composition cost so far.
  public private(set) var paintCount = 0

  let composer: Composer
  private let canvas: Canvas
  /// What was painted last.
  private(set) var painted = Damage()
  private var damage = CompositionDamage()

  /// A black screen of `width` by `height` pixels, each between 1 and 16,384.
  public convenience init(width: Int, height: Int) { self.init(Composer(width: width, height: height)) }

  init(_ composer: Composer) {
    self.composer = composer
    (width, height) = (composer.screen.width, composer.screen.height)
    canvas = Canvas(width: width, height: height)
  }

  /// Composes what of `scene` is not on the screen yet.
  public func compose(_ scene: Scene) {
    composer.show(scene)
    compose()
  }

  /// Composes what changed.
  func compose() {
    composer.page.takeDamage(&damage)
    painted.clear()
    damage.add(to: &painted, of: .everything, in: composer.screen)
    let overlay = composer.overlay
    for area in painted.areas { composer.page.compose(area, on: canvas.raster, overlay: overlay) }
    paintCount += painted.areas.count
  }

  /// A copy of what the screen shows.
  public func picture() -> Picture { canvas.picture() }
}
