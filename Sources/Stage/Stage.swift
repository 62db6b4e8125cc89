import Base
import Frames
import Synchronization

/// The screen: takes the newest frame of each side, composes it with notices, and shows it.
///
/// One thread calls `present` (`StageThread` does); everything else may be called from any thread.
public final class Stage: Sendable {
  /// Frames of the other side go in here.
  public let remote = Mailbox<VideoFrame>()
  /// Frames of the own camera go in here.
  public let selfView = Mailbox<VideoFrame>()

  let wake = WakeSignal()
  private let shelf = VideoShelf()
  let desk: Mutex<PanelDesk>
  let typing: Mutex<KeyboardDesk>
  let announcements = Mutex(Announcements())

  /// What other threads asked for since the last `present`.
  private struct Wishes {
    var fit: VideoFit
    var corner: Scene.Corner
    var isMirrored: Bool
    var theme: Notice.Theme
    var cursor: (x: Double, y: Double)?
    var idle: Artwork?
    var removesRemote = false
    var removesSelfView = false
    var isBlanked = false
    var gamma: Double?
    var display: DisplayPreferences?
  }

  /// What is to be seen, and on a headless stage what is seen. Locked while a picture is composed.
  private struct Show {
    var composer: Composer
    /// nil when a display shows what the composer composes.
    var output: HeadlessOutput?
    var scene: Scene
  }

  /// The size of the picture, as it is now.
  private struct Geometry {
    var width: Int
    var height: Int
    var refreshRate: Double
    var rotation: VideoFrame.Rotation

    init(monitorWidth: Int, monitorHeight: Int, refreshRate: Double, rotation: VideoFrame.Rotation) {
      precondition(refreshRate > 0 && refreshRate <= 1_000, "a screen is refreshed")
      let isSideways = rotation == .quarter || rotation == .threeQuarters
      (width, height) = isSideways ? (monitorHeight, monitorWidth) : (monitorWidth, monitorHeight)
      (self.refreshRate, self.rotation) = (refreshRate, rotation)
    }
  }

  private let wishes: Mutex<Wishes>
  private let show: Mutex<Show>
  private let geometry: Mutex<Geometry>
  private let counts = Mutex(StageStatistics())
  private let latencies = Mutex((readyToFlip: LatencyWindow(), composition: LatencyWindow()))
  private let display = Mutex(DisplayStatus(outputs: ["headless"]))

  /// A stage for a monitor of `width` by `height` pixels (1 to 16,384 each), refreshed `refreshRate` times a second; headless unless a
  /// display is given to its thread.
  ///
  /// With a `rotation` of a quarter or three quarters the picture is as wide as the monitor is high. `keyboardLayout` is XKB's name of what
  /// is printed on the keys that panels are answered with.
  public init(
    width: Int, height: Int, refreshRate: Double = 60, rotation: VideoFrame.Rotation = .none, fit: VideoFit = .contain,
    corner: Scene.Corner = .bottomRight, isMirrored: Bool = true, theme: Notice.Theme = Notice.Theme(), keyboardLayout: String = "us"
  ) {
    let geometry = Geometry(monitorWidth: width, monitorHeight: height, refreshRate: refreshRate, rotation: rotation)
    self.geometry = Mutex(geometry)
    desk = Mutex(PanelDesk(keyboardLayout: keyboardLayout))
    wishes = Mutex(Wishes(fit: fit, corner: corner, isMirrored: isMirrored, theme: theme))
    let composer = Composer(width: geometry.width, height: geometry.height)
    typing = Mutex(
      KeyboardDesk(
        keyboard: OnScreenKeyboard(
          screen: composer.screen, language: KeyboardLanguage(keyboardLayout: keyboardLayout), isKeyboardAttached: true)))
    show = Mutex(
      Show(
        composer: composer, output: HeadlessOutput(composer),
        scene: Scene(fit: fit, corner: corner, isMirrored: isMirrored, theme: theme)))
  }

  /// Width of the picture in pixels, as a viewer sees it. It changes when another monitor is connected.
  public var width: Int { geometry.withLock { $0.width } }
  /// Height of the picture in pixels, as a viewer sees it. It changes when another monitor is connected.
  public var height: Int { geometry.withLock { $0.height } }
  /// How often a second the screen can change.
  public var refreshRate: Double { geometry.withLock { $0.refreshRate } }
  /// Clockwise turn of the picture on the monitor.
  public var rotation: VideoFrame.Rotation { geometry.withLock { $0.rotation } }
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
    wish { $0.removesRemote = true }
  }

  /// Takes the self-view off the screen. Frames that come later are shown again.
  public func removeSelfView() {
    _ = selfView.take()
    wish { $0.removesSelfView = true }
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
      show.composer.update(layers)
      return show.composer.seenVideos()
    }
    shelf.setSeen(seen)
  }

  /// Changes how the remote side fills the screen.
  public func setFit(_ fit: VideoFit) { wish { $0.fit = fit } }

  /// Changes where the self-view stands, and whether it is mirrored.
  public func setSelfView(corner: Scene.Corner, isMirrored: Bool) {
    wish { ($0.corner, $0.isMirrored) = (corner, isMirrored) }
  }

  /// Changes the colours of notices, and the logo.
  public func setTheme(_ theme: Notice.Theme) { wish { $0.theme = theme } }

  /// Switches the monitors off, or on again; without a display nothing comes of it. From any thread.
  public func setBlanked(_ isBlanked: Bool) { wish { $0.isBlanked = isBlanked } }

  /// Whether the monitors are to be off.
  public var isBlanked: Bool { wishes.withLock { $0.isBlanked } }

  /// Raises brightness to 1 / `gamma`, 0.5 to 2 (what is beyond becomes the nearer end): more than 1 makes what lies between black and white
  /// lighter. nil, and without a call: as the driver has it. From any thread; without a display nothing comes of it.
  public func setGamma(_ gamma: Double?) { wish { $0.gamma = gamma.map { min(max($0, 0.5), 2) } } }

  /// Changes which monitors show the picture, and how; without a display nothing comes of it. From any thread.
  public func setDisplay(_ preferences: DisplayPreferences) { wish { $0.display = preferences } }

  /// What becomes of the picture: which monitors show it, and how.
  public var displayStatus: DisplayStatus { display.withLock { $0 } }

  /// Draws a cursor of the stage's own at a point of the picture, or none.
  func setCursor(_ point: (x: Double, y: Double)?) {
    wishes.withLock { $0.cursor = point }
  }

  /// Changes what is shown while nothing else is; nil: black.
  public func setIdlePicture(_ picture: Artwork?) { wish { $0.idle = picture } }

  private func wish(_ change: (inout Wishes) -> Void) {
    wishes.withLock { change(&$0) }
    wake.signal()
  }

  // MARK: One picture

  /// What the next picture is the first to show.
  struct News {
    var remote: PresentedFrame?
    var selfView: PresentedFrame?
    var videos: [PresentedVideo]
    /// Since when the newest of what is new has been there; nil: nobody waited for it.
    private(set) var readyTime: Instant?

    /// Something is new since then.
    mutating func note(_ time: Instant?) {
      if let time { readyTime = readyTime.map { max($0, time) } ?? time }
    }

    mutating func note(_ ledger: Ledger?) { note(ledger.flatMap { $0[.decode] ?? $0[.capture] }) }
  }

  /// Composes and shows what changed; nil when nothing did, and then nothing is composed. On a headless stage.
  ///
  /// `now` drives countdowns; since `contentTime` clients have had new pixels. `flipTime` is asked when the picture stands, and becomes the
  /// frames' `present` time.
  @discardableResult
  public func present(now: Instant, contentTime: Instant? = nil, flipTime: () -> Instant) -> Flip? {
    guard let news = prepare(now: now, contentTime: contentTime) else { return nil }
    show.withLock { $0.output?.compose() }
    let time = flipTime()
    composed(in: time - now, at: time)
    return complete(news, at: time)
  }

  /// Composes and shows what changed; nil when nothing did, and then nothing is composed. The frames' `present` time is `now`.
  @discardableResult
  public func present(now: Instant) -> Flip? { present(now: now, flipTime: { now }) }

  /// Brings what is to be seen up to date; nil when there is nothing to paint. `now` drives countdowns; since `contentTime` clients have had
  /// new pixels.
  func prepare(now: Instant, contentTime: Instant? = nil) -> News? {
    let wanted = wishes.withLock { wishes in
      defer { (wishes.removesRemote, wishes.removesSelfView) = (false, false) }
      return wishes
    }
    let (newRemote, newSelfView) = (remote.take(), selfView.take())
    // Those that follow may be over just as well.
    while let reply = desk.withLock({ $0.advance(to: now) }) { reply.deliver() }
    updateKeyboard(now: now)
    let news = show.withLock { show -> News? in
      if wanted.removesRemote { show.scene.remote = nil }
      if wanted.removesSelfView { show.scene.selfView = nil }
      if let newRemote { show.scene.remote = newRemote }
      if let newSelfView { show.scene.selfView = newSelfView }
      (show.scene.fit, show.scene.corner, show.scene.isMirrored) = (wanted.fit, wanted.corner, wanted.isMirrored)
      (show.scene.theme, show.scene.idle) = (wanted.theme, wanted.idle)
      show.scene.announcements = announcements.withLock { $0.content(at: now) }
      let composer = show.composer
      let videos = composer.hasClients ? takeVideos(for: composer.page) : []
      composer.show(show.scene)
      composer.setKeyboard(typing.withLock { $0.keyboard.picture }, theme: wanted.theme)
      desk.withLock { desk in
        desk.drawn(
          composer.setPanel(desk.content(at: now), pointer: desk.pointer ?? wanted.cursor, theme: wanted.theme))
      }
      guard composer.isDamaged else { return nil }
      // Under a page, the sides of a direct call are kept and not seen.
      func presented(_ frame: VideoFrame?, _ place: Rectangle?) -> PresentedFrame? {
        guard let frame, let place else { return nil }
        return PresentedFrame(frame: frame, rectangle: place)
      }
      let places = composer.places
      var news = News(
        remote: presented(newRemote, places.remote), selfView: presented(newSelfView, places.selfView), videos: videos)
      news.note(contentTime)
      news.note(news.remote?.frame.ledger)
      news.note(news.selfView?.frame.ledger)
      for video in videos { news.note(video.frame.ledger) }
      return news
    }
    counts.withLock { counts in
      if newRemote != nil && news?.remote == nil { counts.unseen += 1 }
      if newSelfView != nil && news?.selfView == nil { counts.unseen += 1 }
      if news == nil { counts.repeated += 1 }
    }
    return news
  }

  /// A picture was composed, which took `length`.
  func composed(in length: Interval, at time: Instant) { latencies.withLock { $0.composition.add(length, at: time) } }

  /// What was prepared is on the screen since `time`.
  func complete(_ news: consuming News, at time: Instant) -> Flip {
    var flip = Flip(time: time, number: 0, remote: news.remote, selfView: news.selfView)
    // Handed over, so that stamping the frames copies no list.
    swap(&flip.videos, &news.videos)
    flip.remote?.frame.ledger[.present] = time
    flip.selfView?.frame.ledger[.present] = time
    for index in flip.videos.indices { flip.videos[index].frame.ledger[.present] = time }
    if let ready = news.readyTime { latencies.withLock { $0.readyToFlip.add(max(.zero, time - ready), at: time) } }
    flip.number = counts.withLock { counts in
      counts.flips += 1
      if flip.remote != nil { counts.remoteFramesPresented += 1 }
      if flip.selfView != nil { counts.selfViewFramesPresented += 1 }
      counts.videoFramesPresented += flip.videos.count
      return counts.flips
    }
    return flip
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

  // MARK: Displays

  /// What was asked for since this was asked last.
  func takeDisplayWishes() -> (isBlanked: Bool, gamma: Double?, preferences: DisplayPreferences?) {
    wishes.withLock { wishes in
      defer { wishes.display = nil }
      return (wishes.isBlanked, wishes.gamma, wishes.display)
    }
  }

  /// Says what becomes of the picture; returns whether that is news.
  func setDisplayStatus(_ status: DisplayStatus) -> Bool {
    display.withLock { known in
      defer { known = status }
      return known.isOther(than: status)
    }
  }

  /// Hands what is to be seen to a display, which paints it. On the thread that calls `prepare`.
  func withComposer<Result>(_ body: (Composer) -> Result) -> Result { show.withLock { body($0.composer) } }

  /// The picture has another size from now on; all of it has to be painted. A display shows it, or nobody. On the thread that calls `prepare`.
  func resize(monitorWidth: Int, monitorHeight: Int, refreshRate: Double, rotation: VideoFrame.Rotation) {
    let new = Geometry(monitorWidth: monitorWidth, monitorHeight: monitorHeight, refreshRate: refreshRate, rotation: rotation)
    geometry.withLock { $0 = new }
    typing.withLock { if !$0.isAttachmentKnown { $0.keyboard.setKeyboardAttached(false) } }
    show.withLock { show in
      show.output = nil
      guard show.composer.screen.width != new.width || show.composer.screen.height != new.height else { return }
      let composer = Composer(width: new.width, height: new.height)
      if show.composer.hasClients {
        composer.update(LayersUpdate(layers: show.composer.page.surfaces.map(\.layer), isRearranged: true))
      }
      show.composer = composer
    }
  }

  /// What a countdown of so many seconds shows.
  static func secondsLeft(of countdown: Int?, since start: Instant?, now: Instant) -> Int? {
    guard let countdown, let start else { return nil }
    let passed = (now - start).nanoseconds / 1_000_000_000
    return max(0, countdown - Int(max(0, passed)))
  }

  /// A copy of what the screen shows, all of it from one flip.
  public func picture() -> Picture { show.withLock { $0.output?.picture() ?? $0.composer.picture() } }

  /// What the screen shows, as a PNG file's bytes.
  public func screenshot() throws(Picture.Failure) -> [UInt8] { try picture().png() }

  /// The counts so far.
  public var statistics: StageStatistics {
    var result = counts.withLock { $0 }
    let lost = shelf.lost
    result.skipped = remote.replacedCount + selfView.replacedCount + lost.skipped
    result.unseen += lost.unseen
    let now = StageThread.now()
    (result.readyToFlip, result.composition) = latencies.withLock { ($0.readyToFlip.figures(now: now), $0.composition.figures(now: now)) }
    return result
  }

  /// How many areas were painted so far.
  var paintCount: Int { show.withLock { $0.output?.paintCount ?? 0 } }

  /// Which areas were painted last.
  var paintedAreas: [Rectangle] { show.withLock { $0.output?.painted.areas ?? [] } }

  /// Where the parts of the panel stand that is shown.
  var panelLayout: PanelLayout? { desk.withLock { $0.layout } }

  /// Where the layers stand on the screen.
  var places: Composer.Places { show.withLock { $0.composer.places } }
}
