extension Wayland {
  /// `xdg_popup`: a menu or the like, next to something in its parent.
  final class Popup: Resource, ShellRole {
    enum Request: UInt16 { case destroy, grab, reposition }
    enum Event: UInt16 { case configure, done, repositioned }
    enum Failure: UInt32 { case invalidGrab }

    override var interface: String { "xdg_popup" }
    let shellSurface: ShellSurface
    private(set) weak var parent: ShellSurface?
    private var placement: PopupPlacement
    /// Where the window geometry lies, in the parent's window geometry.
    private(set) var place = Rectangle(x: 0, y: 0, width: 0, height: 0)
    private var isDismissed = false

    init(_ client: Client, id: UInt32, version: UInt32, shellSurface: ShellSurface, parent: ShellSurface, placement: PopupPlacement) {
      (self.shellSurface, self.parent, self.placement) = (shellSurface, parent, placement)
      super.init(client, id: id, version: version)
    }

    var surface: Surface? { shellSurface.surface }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .grab:
        _ = (try arguments.object(SeatResource.self), try arguments.uint())
        guard !shellSurface.isMapped else { throw failure(Failure.invalidGrab, "a grab after the popup was shown") }
        compositor.seat.grab(self)
      case .reposition:
        try require(version: 3, opcode)
        let (positioner, token) = (try arguments.object(Positioner.self), try arguments.uint())
        guard positioner.placement.isComplete else {
          throw ProtocolFailure(.implementation, object: id, "a positioner without size and anchor")
        }
        placement = positioner.placement
        post(Event.repositioned.rawValue, .uint(token))
        configure()
      case nil: throw unknown(opcode)
      }
    }

    func configureFirst() throws(ProtocolFailure) {
      guard !isDismissed else { return }
      configure()
    }

    private func configure() {
      guard let parent, let origin = compositor.geometryOrigin(of: parent) else {
        // The parent is not on the screen: nothing can stand next to it.
        place = placement.place(within: compositor.output.bounds)
        return send()
      }
      var bounds = compositor.output.bounds
      (bounds.x, bounds.y) = (-origin.x, -origin.y)
      place = placement.place(within: bounds)
      send()
    }

    private func send() {
      compositor.arrangementChanged()
      post(Event.configure.rawValue, .int(place.x), .int(place.y), .int(place.width), .int(place.height))
      shellSurface.sendConfigure()
    }

    /// The screen has another size: the popup finds another place when its client allows for that, and goes otherwise.
    func outputChanged() {
      guard !isDismissed, shellSurface.isFirstConfigureSent else { return }
      if placement.isReactive { configure() } else { dismiss() }
    }

    /// Takes the popup and those that belong to it off the screen; the client shall destroy it.
    func dismiss() {
      guard !isDismissed else { return }
      for child in shellSurface.popups.reversed() { child.dismiss() }
      isDismissed = true
      compositor.seat.release(self)
      post(Event.done.rawValue)
      parent?.popups.removeAll { $0 === self }
      compositor.arrangementChanged()
    }

    func mapped() {
      guard !isDismissed else { return }
      parent?.popups.append(self)
      compositor.popupWasMapped(self)
    }

    func unmapped() {
      for child in shellSurface.popups.reversed() { child.dismiss() }
      compositor.seat.release(self)
      parent?.popups.removeAll { $0 === self }
      compositor.arrangementChanged()
    }

    override func wasRemoved() {
      unmapped()
      shellSurface.roleWasRemoved(isFinal: true)
    }
  }
}
