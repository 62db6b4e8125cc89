import Base
import CLinux
import Frames
import Glibc

/// The monitors of a graphics card, driven through kernel mode setting: survives whatever is plugged, unplugged, taken away or given back, and
/// shows the stage's picture on them whenever it can.
///
/// Belongs to the stage's thread.
final class KMSDisplay {
  /// Opens graphics cards.
  typealias Opener = () throws(DRMError) -> any DRMDevice

  /// What the picture is made for; the configured mode while nothing is connected.
  struct Geometry: Equatable {
    var width: Int
    var height: Int
    var refreshRate: Double
  }

  /// Something to wait for: flips, and what happens to monitors and cards.
  let descriptor: Int32
  private(set) var status = DisplayStatus()
  private(set) var geometry: Geometry
  private(set) var preferences: DisplayPreferences
  /// Whether the monitors are to be dark.
  private(set) var isBlanked = false

  private let open: Opener
  private let uevents = UeventMonitor(subsystem: "drm")
  private var gamma = GammaTables()
  private var device: (any DRMDevice)?
  private var card: CardSnapshot?
  private var plan = OutputPlan()
  private var heads: [Head] = []
  /// Those that were on the screen before: a buffer that goes while it is shown switches its monitor off.
  private var retired: [Head] = []
  private var rejected: [UInt32: Set<Timings>] = [:]
  private var damage = CompositionDamage()
  private var clock = FrameClock(period: .seconds(1.0 / 60))
  /// When composing is to begin.
  private var scheduled: Instant?
  /// Whether another terminal is on the screen, and with it somebody else.
  private var isSuspended = false
  /// When the card is opened, asked or committed to again.
  private var retryTime: Instant?
  private var probeTime: Instant?
  /// What a commit in flight, or one still to come, is the first to show.
  private var unshown: [Stage.News] = []
  private var completed: [(news: [Stage.News], time: Instant)] = []
  /// When what is in flight was committed.
  private var commitTime = Instant.zero

  /// A flip that takes longer does not come any more.
  private static let flipDeadline = Interval.seconds(2)
  private static let retryInterval = Interval.milliseconds(500)
  /// The kernel may announce a monitor before it can be asked.
  private static let settling = Interval.milliseconds(700)
  /// How often is looked for a monitor that nobody announced.
  private static let patrol = Interval.seconds(5)

  /// A display that `open` opens the card of.
  init(preferences: DisplayPreferences, open: @escaping Opener) {
    (self.preferences, self.open) = (preferences, open)
    let mode = preferences.mode ?? RequestedMode(width: 1_920, height: 1_080)
    geometry = Geometry(width: mode.width, height: mode.height, refreshRate: mode.rate ?? 60)
    descriptor = linux_epoll_create()
    precondition(descriptor >= 0, "the machine has room for one more descriptor when the stage starts")
    if uevents.descriptor >= 0 { linux_epoll_set(descriptor, uevents.descriptor, UInt32(linux_readable), 0, true) }
    status.rotation = preferences.rotation
  }

  /// The display of this machine.
  convenience init(_ settings: DisplaySettings) {
    self.init(preferences: settings.preferences) { () throws(DRMError) -> any DRMDevice in
      try DRMCard.open(settings.card, usesAtomic: settings.usesAtomic)
    }
  }

  deinit { close(descriptor) }

  // MARK: What happens

  /// Takes in what happened, and does what is due.
  func dispatch(now: Instant) {
    if uevents.dispatch() {
      probe(now: now)
      probeTime = now + KMSDisplay.settling
    }
    if let time = probeTime, time <= now {
      probeTime = nil
      probe(now: now)
    }
    if let time = retryTime, time <= now { retryTime = nil }
    if retryTime == nil {
      if device == nil { openCard(now: now) } else if heads.isEmpty { probe(now: now) }
    }
    readFlips(now: now)
    if let head = heads.first, head.isPending, now - commitTime > KMSDisplay.flipDeadline {
      Log.error("\(head.output.name) does not flip; its mode is set again")
      clock.abandoned()
      head.invalidate()
    }
  }

  /// When `dispatch` has something to do though nothing happens; nil: not before.
  var deadline: Instant? { [retryTime, probeTime].compactMap { $0 }.min() }

  /// What has been shown since this was asked last.
  func takeCompleted() -> [(news: [Stage.News], time: Instant)] {
    defer { completed.removeAll(keepingCapacity: true) }
    return completed
  }

  /// Lets go of the card, so that somebody else can drive it.
  func suspend() {
    isSuspended = true
    release()
    device?.dropMaster()
    device = nil
    (retryTime, probeTime) = (nil, nil)
    status.forgetMonitors(because: .busy)
  }

  /// Takes the card again, with the next `dispatch`.
  func resume() { isSuspended = false }

  /// Forgets what the card was driven with.
  private func release() {
    if let device { linux_epoll_remove(descriptor, device.descriptor) }
    (heads, retired, plan, unshown, card) = ([], [], OutputPlan(), [], nil)
  }

  private func openCard(now: Instant) {
    guard !isSuspended else { return }
    let device: any DRMDevice
    do throws(DRMError) {
      device = try open()
    } catch {
      return lose(error.code == EACCES ? .denied("\(error); the groups video and render are needed") : .noCard("\(error)"), now: now)
    }
    do throws(DRMError) {
      try device.becomeMaster()
      linux_epoll_set(descriptor, device.descriptor, UInt32(linux_readable), 1, true)
      self.device = device
      probe(now: now)
    } catch {
      lose(error, now: now)
    }
  }

  /// Asks the card what is connected, and drives what is.
  private func probe(now: Instant) {
    guard let device else { return openCard(now: now) }
    do throws(DRMError) {
      let card = try device.snapshot(probes: true)
      let isReplug = self.card.map { KMSDisplay.hasNewMonitor(card, before: $0) } ?? true
      if isReplug { rejected = [:] }
      self.card = card
      apply(OutputPlan(card, preferences: preferences, rejected: rejected), isForced: isReplug, now: now)
    } catch {
      lose(error, now: now)
    }
  }

  /// Whether a monitor came, so that even the mode it had has to be set again.
  private static func hasNewMonitor(_ card: CardSnapshot, before: CardSnapshot) -> Bool {
    card.connectors.contains { connector in
      guard connector.status == .connected else { return false }
      let known = before.connectors.first { $0.id == connector.id }
      return known?.status != .connected || known?.modes != connector.modes
    }
  }

  private func apply(_ new: OutputPlan, isForced: Bool, now: Instant) {
    guard let card, let device else { return }
    if new.outputs != plan.outputs || isForced {
      switchOff(besides: new)
      let isMirrored = new.outputs.count > 1
      retired += heads
      heads = new.outputs.map {
        Head($0, card: card, rotation: preferences.rotation, isMirrored: isMirrored, device: device)
      }
      // What was on its way to monitors that are gone is not shown any more.
      unshown = []
    }
    if new.problems != plan.problems {
      for problem in new.problems { if problem.isMistake { Log.error("\(problem)") } else { Log.notice("\(problem)") } }
    }
    plan = new
    if let primary = new.primary {
      let mode = primary.mode
      let new = Geometry(width: mode.width, height: mode.height, refreshRate: mode.period.seconds > 0 ? 1 / mode.period.seconds : 60)
      if new != geometry { Log.notice("the picture is \(mode) on \(primary.name), which is \(primary.source.rawValue)") }
      geometry = new
      clock.restart(period: mode.period)
      scheduled = nil
    }
    describe()
    if heads.isEmpty { retryTime = now + KMSDisplay.patrol }
  }

  /// Monitors that are not wanted any more go dark, and give their CRTCs back.
  private func switchOff(besides new: OutputPlan) {
    let kept = Set(new.outputs.map(\.crtc.id))
    for head in heads where !kept.contains(head.output.crtc.id) {
      var commit = DisplayCommit(kind: .modeset)
      commit.heads = [DisplayCommit.Head(crtc: head.output.crtc.id)]
      commit.connectors = [.init(id: head.output.connector, crtc: 0)]
      commit.planes = head.planes.map { DisplayCommit.Plane(plane: $0, crtc: 0) }
      do throws(DRMError) { try device?.commit(commit) } catch { Log.warning("\(head.output.name) stays on: \(error)") }
    }
  }

  /// The card does not do what it should, or does it for another program.
  private func lose(_ error: DRMError, now: Instant) {
    lose([EACCES, EPERM, EBUSY].contains(error.code) ? .busy : .noCard("\(error)"), now: now)
  }

  private func lose(_ problem: DisplayStatus.Problem, now: Instant) {
    release()
    device = nil
    retryTime = now + KMSDisplay.retryInterval
    status.forgetMonitors(because: problem)
  }

  private func readFlips(now: Instant) {
    guard let device else { return }
    do throws(DRMError) {
      for event in try device.readEvents() {
        guard let index = heads.firstIndex(where: { $0.output.crtc.id == event.crtc }) ?? (event.crtc == 0 ? 0 : nil),
          heads.indices.contains(index), heads[index].isPending
        else { continue }
        heads[index].completeFlip()
        guard index == 0 else { continue }
        // Without a time stamp it was just now.
        let time = event.time > now || now - event.time > .seconds(1) ? now : event.time
        clock.flipped(at: time, sequence: event.sequence)
        complete(at: time)
      }
    } catch {
      lose(error, now: now)
    }
  }

  private func complete(at time: Instant) {
    status.flips += 1
    if let primary = heads.first { status.planeFrames += primary.takeFrames() }
    status.missedFlips = clock.missed
    completed.append((unshown, time))
    unshown = []
  }

  // MARK: Showing

  /// Whether there is a monitor that a picture could be shown on now.
  var isShowing: Bool { !heads.isEmpty && !isBlanked }

  /// Whether a picture may be committed now.
  var isReady: Bool { isShowing && !heads[0].isPending && retryTime == nil }

  /// Whether monitors lack something that the composer has handed over already.
  var isStale: Bool { isShowing && heads.contains { $0.isStale && !$0.isPending } }

  /// When composing should begin, so that what is shown is as new as can be; nil: now. When it is ready.
  func start(now: Instant) -> Instant? {
    let start = scheduled ?? clock.start(now: now)
    scheduled = start
    return start > now ? start : nil
  }

  /// Nothing was to be shown, or nobody is there to see what the composer has: the next time is another one.
  func skip(_ composer: Composer?) {
    scheduled = nil
    composer?.page.takeDamage(&damage)
  }

  /// Shows what is to be seen now. `news` is what this is the first picture to show.
  func show(_ composer: Composer, _ news: Stage.News?, now: Instant) {
    composer.page.takeDamage(&damage)
    let sketch = composer.sketch()
    if let news { unshown.append(news) }
    clock.began(at: now, scheduled: scheduled)
    scheduled = nil
    for head in heads { head.note(damage, composer: composer) }
    for (index, head) in heads.enumerated() where head.isStale && !head.isPending {
      do throws(DRMError) {
        let wasModeset = head.needsModeset
        let isPending = try head.show(composer, sketch)
        let end = StageThread.now()
        if index == 0 && isPending {
          commitTime = end
          clock.committed(at: end)
        }
        if index == 0 && !isPending {
          clock.abandoned()
          complete(at: end)
        }
        if wasModeset {
          modesetDone(head)
          if !heads.contains(where: \.needsModeset) { retired = [] }
        }
      } catch {
        failed(head, error, now: now)
        // Others may drive the monitors from now on.
        guard heads.contains(where: { $0 === head }) else { return }
      }
    }
    status.planes = heads.first?.layout?.planes.count ?? 0
  }

  private func modesetDone(_ head: Head) {
    let output = head.output
    Log.notice("\(output.name): \(output.mode), \(head.layout?.planes.count ?? 0) planes")
    if let device { gamma.load(output, on: device) }
    describe()
  }

  private func failed(_ head: Head, _ error: DRMError, now: Instant) {
    if head === heads.first { clock.abandoned() }
    switch error.code {
    case EBUSY:
      // Another commit, of the console for one, is not through yet.
      retryTime = now + .milliseconds(2)
    case EACCES, EPERM, ENODEV:
      lose(error, now: now)
    default:
      if head.needsModeset, let card {
        Log.warning("\(head.output.name) refuses \(head.output.mode): \(error)")
        rejected[head.output.connector, default: []].insert(head.output.mode.timings)
        apply(OutputPlan(card, preferences: preferences, rejected: rejected), isForced: true, now: now)
        if heads.isEmpty { retryTime = now + KMSDisplay.retryInterval }
      } else {
        Log.error("\(head.output.name): \(error)")
        head.invalidate()
        retryTime = now + KMSDisplay.retryInterval
      }
    }
  }

  // MARK: Wishes

  /// Switches the monitors off, or on again.
  func setBlanked(_ isBlanked: Bool, now: Instant) {
    guard isBlanked != self.isBlanked else { return }
    self.isBlanked = isBlanked
    status.isBlanked = isBlanked
    for head in heads {
      if isBlanked {
        do throws(DRMError) {
          try device?.commit(
            DisplayCommit(
              kind: .modeset, heads: head.heads(isActive: false), connectors: [.init(id: head.output.connector, crtc: head.output.crtc.id)])
          )
        } catch {
          Log.warning("\(head.output.name) cannot be blanked: \(error)")
        }
      }
      head.invalidate()
    }
  }

  /// Makes what lies between black and white lighter on all monitors (more than 1) or darker; nil: as the driver has it.
  func setGamma(_ gamma: Double?) {
    guard self.gamma.want(gamma), let device else { return }
    // The others get it with their mode.
    for head in heads where !head.needsModeset { self.gamma.load(head.output, on: device) }
    describe()
  }

  /// Changes what a site wants of its monitors.
  func setPreferences(_ preferences: DisplayPreferences, now: Instant) {
    guard preferences != self.preferences else { return }
    self.preferences = preferences
    status.rotation = preferences.rotation
    guard let card else { return }
    apply(OutputPlan(card, preferences: preferences, rejected: rejected), isForced: true, now: now)
  }

  private func describe() {
    status.outputs = plan.outputs.map(\.name)
    status.mode = plan.primary.map { "\($0.mode)" } ?? ""
    status.modeSource = plan.primary?.source.rawValue ?? ""
    status.planes = heads.first?.layout?.planes.count ?? 0
    status.driver = card?.driver ?? ""
    status.gamma = plan.primary.flatMap(gamma.value)
    status.problem = plan.problems.first.map { problem in
      switch problem {
      case .nothingConnected, .disconnected: .nothingConnected
      case .absent: .connectorAbsent("\(problem)")
      case .noMode, .noCRTC, .modeNotOffered: .unusable("\(problem)")
      }
    }
  }
}
