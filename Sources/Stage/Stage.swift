import Base
import Frames
import Synchronization

/// The screen: takes the newest frame of each side, composes it with notices, and shows it.
///
/// One thread calls `present` (`StageThread` does); everything else may be called from any thread.
public final class Stage: Sendable {
  /// Width of the picture in pixels, as a viewer sees it.
  public let width: Int
  /// Height of the picture in pixels, as a viewer sees it.
  public let height: Int
  /// How often a second the screen can change.
  public let refreshRate: Double
  /// Clockwise turn of the picture on the monitor.
  public let rotation: VideoFrame.Rotation

  /// Frames of the other side go in here.
  public let remote = Mailbox<VideoFrame>()
  /// Frames of the own camera go in here.
  public let selfView = Mailbox<VideoFrame>()

  let wake = WakeSignal()
  private let shelf = VideoShelf()
  let desk: Mutex<PanelDesk>

  /// What other threads asked for since the last `present`.
  private struct Wishes {
    var notice: Notice?
    var fit: VideoFit
    var corner: Scene.Corner
    var isMirrored: Bool
    var theme: Notice.Theme
    var removesRemote = false
    var removesSelfView = false
    var damage: Scene.Damage = []
  }

  /// What is on the screen. Locked while a picture is composed.
  private struct Show {
    var output: HeadlessOutput
    var scene: Scene
    var noticeStart: Instant?
  }

  private let wishes: Mutex<Wishes>
  private let show: Mutex<Show>
  private let counts = Mutex(StageStatistics())

  /// A headless stage for a monitor of `width` by `height` pixels (1 to 16,384 each), refreshed `refreshRate` times a second.
  ///
  /// With a `rotation` of a quarter or three quarters the picture is as wide as the monitor is high. `keyboardLayout` is XKB's name of what
  /// is printed on the keys that panels are answered with.
  public init(
    width: Int, height: Int, refreshRate: Double = 60, rotation: VideoFrame.Rotation = .none, fit: VideoFit = .contain,
    corner: Scene.Corner = .bottomRight, isMirrored: Bool = true, theme: Notice.Theme = Notice.Theme(), keyboardLayout: String = "us"
  ) {
    precondition(refreshRate > 0 && refreshRate <= 1_000, "a screen is refreshed")
    let isSideways = rotation == .quarter || rotation == .threeQuarters
    let (pictureWidth, pictureHeight) = isSideways ? (height, width) : (width, height)
    (self.width, self.height, self.refreshRate, self.rotation) = (pictureWidth, pictureHeight, refreshRate, rotation)
    desk = Mutex(PanelDesk(keyboardLayout: keyboardLayout))
    wishes = Mutex(Wishes(fit: fit, corner: corner, isMirrored: isMirrored, theme: theme))
    show = Mutex(
      Show(
        output: HeadlessOutput(width: pictureWidth, height: pictureHeight),
        scene: Scene(fit: fit, corner: corner, isMirrored: isMirrored, theme: theme)))
  }

  /// The time between two refreshes.
  public var refreshPeriod: Interval { .seconds(1 / refreshRate) }

  /// Shows a frame of the other side at once, without waiting for the stage's next look into the mailbox.
  public func show(remote frame: VideoFrame) {
    remote.put(frame)
    wake.signal()
  }

  /// Shows a frame of the own camera at once, without waiting for the stage's next look into the mailbox.
  public func show(selfView frame: VideoFrame) {
    selfView.put(frame)
    wake.signal()
  }

  /// Has the stage look into its mailboxes now: for those who put frames in themselves.
  public func frameArrived() { wake.signal() }

  /// Takes the other side off the screen, as when a call has ended. Frames that come later are shown again.
  public func removeRemote() {
    _ = remote.take()
    wish(.layout) { $0.removesRemote = true }
  }

  /// Takes the self-view off the screen. Frames that come later are shown again.
  public func removeSelfView() {
    _ = selfView.take()
    wish(.layout) { $0.removesSelfView = true }
  }

  /// Shows a frame of a page's video where, and as long as, a page has a place for it. From any thread; the newest frame wins.
  ///
  /// A video that no page shows costs nothing, and holds its newest frame.
  public func show(_ frame: VideoFrame, in video: VideoIdentifier) {
    if shelf.put(frame, of: video) { wake.signal() }
  }

  /// Forgets a page's video and its frame; where it stood, its background is left.
  public func remove(_ video: VideoIdentifier) {
    shelf.remove(video)
    wake.signal()
  }

  /// Takes what clients of the Wayland server committed; the next `present` shows it. On the thread that calls `present`.
  package func update(layers: LayersUpdate) {
    let seen = show.withLock { show in
      let page = show.output.page
      page.update(layers)
      var seen: Set<VideoIdentifier> = []
      page.forEachVisibleVideo { video in
        seen.insert(video.identifier)
        return nil
      }
      page.releaseHiddenFrames()
      return seen
    }
    shelf.setSeen(seen)
  }

  /// Shows a notice in place of the one before; nil takes it off. The same notice again changes nothing, a running countdown included.
  public func setNotice(_ notice: Notice?) {
    guard wishes.withLock({ $0.notice != notice }) else { return }
    wish(.notice) { $0.notice = notice }
  }

  /// Changes how the remote side fills the screen.
  public func setFit(_ fit: VideoFit) { wish(.layout) { $0.fit = fit } }

  /// Changes where the self-view stands, and whether it is mirrored.
  public func setSelfView(corner: Scene.Corner, isMirrored: Bool) {
    wish(.layout) { ($0.corner, $0.isMirrored) = (corner, isMirrored) }
  }

  /// Changes the colours of notices.
  public func setTheme(_ theme: Notice.Theme) { wish(.notice) { $0.theme = theme } }

  private func wish(_ damage: Scene.Damage, _ change: (inout Wishes) -> Void) {
    wishes.withLock { wishes in
      change(&wishes)
      wishes.damage.formUnion(damage)
    }
    wake.signal()
  }

  /// Composes and shows what changed; nil when nothing did, and then nothing is composed.
  ///
  /// `now` drives countdowns. `flipTime` is asked when the picture stands, and becomes the frames' `present` time.
  @discardableResult
  public func present(now: Instant, flipTime: () -> Instant) -> Flip? {
    let wanted = wishes.withLock { wishes in
      defer { (wishes.damage, wishes.removesRemote, wishes.removesSelfView) = ([], false, false) }
      return wishes
    }
    let (newRemote, newSelfView) = (remote.take(), selfView.take())
    // Those that follow may be over just as well.
    while let reply = desk.withLock({ $0.advance(to: now) }) { reply.deliver() }
    let flip = show.withLock { show -> Flip? in
      var damage = wanted.damage
      if wanted.removesRemote { show.scene.remote = nil }
      if wanted.removesSelfView { show.scene.selfView = nil }
      // Under a page, the sides of a direct call are kept and not seen.
      let isPage = !show.output.page.isEmpty
      if let newRemote {
        show.scene.remote = newRemote
        if !isPage { damage.insert(.remote) }
      }
      if let newSelfView {
        show.scene.selfView = newSelfView
        if !isPage { damage.insert(.selfView) }
      }
      var videos = takeVideos(for: show.output.page)
      (show.scene.fit, show.scene.corner, show.scene.isMirrored) = (wanted.fit, wanted.corner, wanted.isMirrored)
      show.scene.theme = wanted.theme
      if show.scene.notice != wanted.notice {
        show.scene.notice = wanted.notice
        show.noticeStart = wanted.notice.map { _ in now }
      }
      let secondsLeft = Stage.secondsLeft(of: show.scene.notice?.countdown, since: show.noticeStart, now: now)
      if show.scene.secondsLeft != secondsLeft {
        show.scene.secondsLeft = secondsLeft
        damage.insert(.notice)
      }
      if updatePanel(of: show.output, now: now, theme: wanted.theme) { damage = .all }
      guard !damage.isEmpty || show.output.isPageDamaged else { return nil }
      show.output.compose(show.scene, damage: damage)

      let time = flipTime()
      for index in videos.indices { videos[index].frame.ledger[.present] = time }
      if newRemote != nil { show.scene.remote?.ledger[.present] = time }
      if newSelfView != nil { show.scene.selfView?.ledger[.present] = time }
      func presented(_ frame: VideoFrame?, _ place: Rectangle?) -> PresentedFrame? {
        guard let frame, let place else { return nil }
        return PresentedFrame(frame: frame, rectangle: place)
      }
      let places = show.output.places
      return Flip(
        time: time, number: 0, remote: newRemote == nil ? nil : presented(show.scene.remote, places.remote),
        selfView: newSelfView == nil ? nil : presented(show.scene.selfView, places.selfView), videos: videos)
    }
    return counts.withLock { counts in
      if newRemote != nil && flip?.remote == nil { counts.unseen += 1 }
      if newSelfView != nil && flip?.selfView == nil { counts.unseen += 1 }
      guard var flip else {
        counts.repeated += 1
        return nil
      }
      counts.flips += 1
      if flip.remote != nil { counts.remoteFramesPresented += 1 }
      if flip.selfView != nil { counts.selfViewFramesPresented += 1 }
      counts.videoFramesPresented += flip.videos.count
      flip.number = counts.flips
      return flip
    }
  }

  /// Draws the panel that is to be seen, tells where its parts stand, and returns whether a direct call's picture has to be painted again.
  private func updatePanel(of output: HeadlessOutput, now: Instant, theme: Notice.Theme) -> Bool {
    desk.withLock { desk in
      let (layout, isNew) = output.setPanel(desk.content(at: now), pointer: desk.pointer, theme: theme)
      desk.drawn(layout)
      return isNew && output.page.isEmpty
    }
  }

  /// Gives each video that can be seen its newest frame, and returns those that no flip has shown yet.
  private func takeVideos(for page: PageComposition) -> [PresentedVideo] {
    var new: [PresentedVideo] = []
    page.forEachVisibleVideo { placed in
      guard let newest = shelf.newest(of: placed.identifier) else { return placed.frame == nil ? nil : placed.show(nil) }
      if newest.isNew {
        if new.isEmpty { new.reserveCapacity(4) }
        new.append(PresentedVideo(video: placed.identifier, frame: newest.frame, rectangle: placed.box.visible))
        shelf.markShown(newest.frame, of: placed.identifier)
      }
      return newest.isNew || placed.frame?.buffer !== newest.frame.buffer ? placed.show(newest.frame) : nil
    }
    return new
  }

  /// Composes and shows what changed; nil when nothing did, and then nothing is composed. The frames' `present` time is `now`.
  @discardableResult
  public func present(now: Instant) -> Flip? { present(now: now, flipTime: { now }) }

  /// What a countdown of so many seconds shows.
  static func secondsLeft(of countdown: Int?, since start: Instant?, now: Instant) -> Int? {
    guard let countdown, let start else { return nil }
    let passed = (now - start).nanoseconds / 1_000_000_000
    return max(0, countdown - Int(max(0, passed)))
  }

  /// A copy of what the screen shows, all of it from one flip.
  public func picture() -> Picture { show.withLock { $0.output.picture() } }

  /// What the screen shows, as a PNG file's bytes.
  public func screenshot() throws(Picture.Failure) -> [UInt8] { try picture().png() }

  /// The counts so far.
  public var statistics: StageStatistics {
    var result = counts.withLock { $0 }
    let lost = shelf.lost
    result.skipped = remote.replacedCount + selfView.replacedCount + lost.skipped
    result.unseen += lost.unseen
    return result
  }

  /// How many layers were painted so far.
  var paintCount: Int { show.withLock { $0.output.paintCount } }

  /// Which areas of a page were painted last.
  var paintedAreas: [Rectangle] { show.withLock { $0.output.page.painted.areas } }

  /// Where the parts of the panel stand that is shown.
  var panelLayout: PanelLayout? { desk.withLock { $0.layout } }

  /// Where the layers stand on the screen.
  var places: HeadlessOutput.Places { show.withLock { $0.output.places } }
}
