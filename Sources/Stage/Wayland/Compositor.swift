import Base

extension Wayland {
  /// The state that all clients share: who is there, which windows lie where, and what the screen owes whom.
  ///
  /// Bytes and descriptors go in with `receive`, input with `send`, and come out of each client's `outgoing`; pictures are taken with
  /// `takeLayers`. Each entry is told the time.
  package final class Compositor {
    /// The screen.
    package private(set) var output: OutputMode
    private(set) var clients: [Int: Client] = [:]
    private(set) lazy var seat = Seat(self)
    /// The time of the entry that runs.
    private(set) var now = Instant.zero
    /// The number given out last, for events that requests may refer to.
    private(set) var serial: UInt32 = 0
    /// What was dropped or refused.
    var counters = Counters() { didSet { areCountersNew = true } }
    /// Whether anything was counted since this was cleared.
    var areCountersNew = false
    private var nextClient = 1
    private var nextSurface: UInt64 = 1
    private var events: [ToplevelEvent] = []

    /// Windows with a picture, the newest last.
    private(set) var toplevels: [Toplevel] = []
    /// What is on the screen, from the bottom up.
    private var arrangement: [Placed] = []
    private var isArrangementStale = false
    private(set) var isContentNew = false
    /// What was on the screen when the layers were taken last.
    private var shown: [(identifier: UInt64, target: Rectangle)] = []
    private var submittedCallbacks: [Callback] = []
    private var submittedFeedbacks: [PresentationFeedback] = []

    /// A surface's place on the screen.
    struct Placed {
      var surface: Surface
      var x: Int
      var y: Int
      /// False for cursors and what is dragged: they are seen, and nothing can be done to them.
      var takesInput = true

      var target: Rectangle { Rectangle(x: x, y: y, width: surface.width, height: surface.height) }
    }

    /// A server for a screen; nobody is connected yet. `keyboardLayout` is XKB's name of a layout, `us` for example.
    package init(output: OutputMode, keyboardLayout: String = "us") {
      self.output = output
      seat.setKeyboard(layout: keyboardLayout)
    }

    // MARK: Clients

    /// Somebody has connected.
    package func connect(_ peer: Peer) -> Client {
      let client = Client(identifier: nextClient, peer: peer, compositor: self)
      clients[nextClient] = client
      nextClient += 1
      return client
    }

    /// Takes in what a client sent.
    package func receive(_ bytes: some Sequence<UInt8>, descriptors: [Descriptor] = [], from client: Client, now: Instant) {
      self.now = now
      guard client.endReason == nil else { return }
      do {
        try client.incoming.append(bytes, descriptors: descriptors)
      } catch {
        client.fail(error)
      }
    }

    /// Handles up to `limit` messages of a client. Returns whether more may be waiting.
    package func dispatch(_ client: Client, limit: Int = 256, now: Instant) -> Bool {
      self.now = now
      let hasMore = client.dispatch(limit: limit)
      settle()
      return hasMore
    }

    /// The client is gone, or has to go.
    package func disconnect(_ client: Client, reason: String, now: Instant) {
      self.now = now
      client.end(reason)
      settle()
    }

    /// Called by the client when it ends.
    func clientEnded(_ client: Client) {
      clients[client.identifier] = nil
      seat.clientEnded(client)
    }

    /// A number that a later request may refer to an event by.
    func nextSerial() -> UInt32 {
      serial &+= 1
      return serial
    }

    /// Milliseconds of the monotonic clock, as events carry them.
    var milliseconds: UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000) }

    func newSurfaceIdentifier() -> UInt64 {
      defer { nextSurface += 1 }
      return nextSurface
    }

    /// Whether nobody is connected, and nothing is held for anybody.
    package var isIdle: Bool {
      clients.isEmpty && toplevels.isEmpty && arrangement.isEmpty && shown.isEmpty && !isRefreshWanted && seat.isIdle
    }

    // MARK: Windows

    func toplevelWasMapped(_ toplevel: Toplevel) {
      toplevels.append(toplevel)
      tell(.mapped(toplevel.information))
      arrangementChanged()
    }

    func toplevelWasUnmapped(_ toplevel: Toplevel) {
      guard toplevels.contains(where: { $0 === toplevel }) else { return }
      toplevels.removeAll { $0 === toplevel }
      for popup in toplevel.shellSurface.popups.reversed() { popup.dismiss() }
      tell(.unmapped(toplevel.information))
      arrangementChanged()
    }

    func popupWasMapped(_ popup: Popup) { arrangementChanged() }

    /// Notes an event for the server's owner.
    func tell(_ event: ToplevelEvent) { events.append(event) }

    /// What happened to windows since this was asked last.
    package func takeEvents() -> [ToplevelEvent] {
      defer { events.removeAll() }
      return events
    }

    /// Asks a client to close a window. Nothing happens when there is no such window.
    package func close(_ identifier: UInt64) {
      toplevels.first { $0.information.identifier == identifier }?.close()
    }

    private func root(of toplevel: Toplevel) -> Toplevel {
      var current = toplevel
      while let parent = current.parent, parent.isMapped { current = parent }
      return current
    }

    /// The windows that are seen: the newest one's family, the oldest first.
    private var seenToplevels: [Toplevel] {
      guard let top = toplevels.last.map(root) else { return [] }
      return [top] + toplevels.filter { $0 !== top && root(of: $0) === top }
    }

    /// Where a window's or popup's geometry begins on the screen; nil when it is not there.
    func geometryOrigin(of shell: ShellSurface) -> (x: Int, y: Int)? {
      switch shell.shellRole {
      case let toplevel as Toplevel: toplevel.origin
      case let popup as Popup:
        popup.parent.flatMap(geometryOrigin).map { ($0.x + popup.place.x, $0.y + popup.place.y) }
      default: nil
      }
    }

    // MARK: Arrangement

    /// Surfaces came, went, moved or changed size.
    func arrangementChanged() { isArrangementStale = true }

    /// A surface that may be seen has new pixels, videos or callbacks.
    func surfaceContentChanged() { isContentNew = true }

    func surfaceWasRemoved(_ surface: Surface) {
      seat.surfaceWasRemoved(surface)
      arrangementChanged()
    }

    /// Brings focus and places up to date after requests or input.
    private func settle() {
      guard isArrangementStale else { return }
      arrange()
      seat.arrangementChanged(topToplevel: seenToplevels.last)
      // What the seat did may have moved the cursor.
      if isArrangementStale { arrange() }
    }

    private func arrange() {
      isArrangementStale = false
      arrangement.removeAll(keepingCapacity: true)
      for toplevel in seenToplevels { place(toplevel.shellSurface, at: toplevel.origin) }
      for (surface, x, y) in seat.floatingSurfaces {
        let first = arrangement.count
        place(surface, x: x, y: y, depth: 0)
        for index in first..<arrangement.count { arrangement[index].takesInput = false }
      }
      isContentNew = true
    }

    private func place(_ shell: ShellSurface, at origin: (x: Int, y: Int)) {
      guard let surface = shell.surface else { return }
      let geometry = shell.geometry
      place(surface, x: origin.x - geometry.x, y: origin.y - geometry.y, depth: 0)
      for popup in shell.popups { place(popup.shellSurface, at: (origin.x + popup.place.x, origin.y + popup.place.y)) }
    }

    private func place(_ surface: Surface, x: Int, y: Int, depth: Int) {
      guard surface.bitmap != nil, depth <= Limits.nesting else { return }
      for entry in surface.stack {
        if let child = entry {
          if let inner = child.surface { place(inner, x: x + child.x, y: y + child.y, depth: depth + 1) }
        } else {
          arrangement.append(Placed(surface: surface, x: x, y: y))
        }
      }
    }

    /// The topmost surface that takes input at a point of the screen.
    func surface(atX x: Double, y: Double) -> Placed? {
      let (column, row) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
      return arrangement.last { placed in
        placed.takesInput && placed.target.contains(x: column, y: row)
          && (placed.surface.inputRegion?.contains(x: column - placed.x, y: row - placed.y) ?? true)
      }
    }

    /// Where a surface lies; nil when it is not seen.
    func place(of surface: Surface) -> Placed? { arrangement.last { $0.surface === surface } }

    // MARK: Input

    /// Passes input on to whom it concerns.
    package func send(_ input: StageInput, now: Instant) {
      self.now = now
      settle()
      seat.handle(input)
      settle()
    }

    /// Passes on what the on-screen keyboard does.
    package func perform(_ action: KeyboardAction, now: Instant) {
      self.now = now
      settle()
      seat.handle(action)
      settle()
    }

    /// The text field that is typed into; nil when there is none.
    package var focusedField: FocusedField? { seat.field }

    /// Shows or hides the cursor. The pointer stays where it is.
    package func setCursorVisible(_ isVisible: Bool) {
      seat.setCursorVisible(isVisible)
      settle()
    }

    /// Whether the client under the pointer, if any, leaves it to the stage what the cursor looks like.
    package var leavesCursorToStage: Bool { seat.leavesCursorToStage }

    // MARK: The screen

    /// The screen is another one now, or has another size: clients are told, and windows follow as their clients draw them anew.
    package func setOutput(_ mode: OutputMode, now: Instant) {
      self.now = now
      guard mode != output else { return }
      let isSizeNew = mode.bounds != output.bounds
      output = mode
      let resources = clients.keys.sorted().compactMap { clients[$0] }.flatMap { $0.resources.values.sorted { $0.id < $1.id } }
      for case let logical as LogicalOutput in resources { logical.describe(isFirst: false) }
      for case let output as Output in resources { output.describe(isFirst: false) }
      guard isSizeNew else { return settle() }
      for case let toplevel as Toplevel in resources { toplevel.configureAgain() }
      arrangementChanged()
      seat.outputChanged()
      let popups = resources.compactMap { $0 as? Popup }
      // What a popup stands next to finds its place first.
      for popup in popups.sorted(by: { $0.shellSurface.depth < $1.shellSurface.depth }) { popup.outputChanged() }
      // Whoever composes has an empty screen.
      shown.removeAll()
      settle()
    }

    /// Whether somebody waits for the next refresh.
    package var isRefreshWanted: Bool {
      isContentNew || isArrangementStale || !submittedCallbacks.isEmpty || !submittedFeedbacks.isEmpty
    }

    /// What lies on the screen now; nil when nothing changed. Whoever takes the layers calls `presented` when they are seen.
    package func takeLayers() -> LayersUpdate? {
      settle()
      guard isContentNew else { return nil }
      isContentNew = false
      let before = Dictionary(shown.map { ($0.identifier, $0.target) }, uniquingKeysWith: { first, _ in first })
      let isRearranged =
        shown.count != arrangement.count
        || !zip(shown, arrangement).allSatisfy { $0.identifier == $1.surface.identifier && $0.target == $1.target }
      var isNew = isRearranged
      var layers: [SurfaceLayer] = []
      for placed in arrangement {
        let (surface, target) = (placed.surface, placed.target)
        submittedCallbacks += surface.callbacks
        submittedFeedbacks += surface.feedbacks
        (surface.callbacks, surface.feedbacks) = ([], [])
        guard let bitmap = surface.bitmap else { continue }
        var damage: [Rectangle] = []
        if before[surface.identifier] != target {
          damage = [target]
        } else {
          damage = surface.damage.rectangles.map { Rectangle(x: $0.x + target.x, y: $0.y + target.y, width: $0.width, height: $0.height) }
        }
        surface.damage.removeAll()
        damage = damage.compactMap { Region.common($0, output.bounds) }
        isNew = isNew || !damage.isEmpty || surface.videosAreNew
        surface.videosAreNew = false
        layers.append(
          SurfaceLayer(
            identifier: surface.identifier, bitmap: bitmap, source: surface.source, target: target, damage: damage,
            videos: surface.videos.placements, canvas: surface.videos.canvas))
      }
      let after = Dictionary(arrangement.map { ($0.surface.identifier, $0.target) }, uniquingKeysWith: { first, _ in first })
      let uncovered = shown.filter { after[$0.identifier] != $0.target }.compactMap { Region.common($0.target, output.bounds) }
      shown = arrangement.map { ($0.surface.identifier, $0.target) }
      return isNew ? LayersUpdate(layers: layers, isRearranged: isRearranged, uncovered: uncovered) : nil
    }

    /// The layers taken last are on the screen since `time`; `sequence` counts refreshes of the given length.
    package func presented(at time: Instant, refresh: Interval, sequence: Int) {
      now = time
      let (callbacks, feedbacks) = (submittedCallbacks, submittedFeedbacks)
      (submittedCallbacks, submittedFeedbacks) = ([], [])
      for callback in callbacks { callback.fire(milliseconds) }
      for feedback in feedbacks { feedback.present(at: time, refresh: refresh, sequence: sequence) }
    }
  }
}
