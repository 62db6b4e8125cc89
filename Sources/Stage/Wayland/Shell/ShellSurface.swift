extension Wayland {
  /// `xdg_wm_base`.
  final class ShellBase: Resource {
    enum Request: UInt16 { case destroy, createPositioner, getShellSurface, pong }
    enum Failure: UInt32 {
      case role, defunctSurfaces, notTheTopmostPopup, invalidPopupParent, invalidSurfaceState, invalidPositioner
    }

    override var interface: String { "xdg_wm_base" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .createPositioner: try client.add(Positioner(client, id: try arguments.newID(), version: version))
      case .getShellSurface:
        let (id, surface) = (try arguments.newID(), try arguments.object(Surface.self))
        guard surface.role == nil, surface.roleKind == nil || surface.roleKind == .toplevel || surface.roleKind == .popup else {
          throw failure(Failure.role, "wl_surface@\(surface.id) already serves as something else")
        }
        var isBufferComing = false
        if case .buffer = surface.pending.attachment { isBufferComing = true }
        guard surface.bitmap == nil, !isBufferComing else {
          throw failure(Failure.invalidSurfaceState, "wl_surface@\(surface.id) has a buffer before it has a place")
        }
        surface.role = try client.add(ShellSurface(client, id: id, version: version, surface: surface, base: self))
      case .pong: _ = try arguments.uint()
      case nil: throw unknown(opcode)
      }
    }
  }

  /// What a shell surface serves as: a window or a popup.
  protocol ShellRole: Resource {
    /// The client has committed for the first time and waits to be told its size.
    func configureFirst() throws(ProtocolFailure)
    /// The first picture is there.
    func mapped()
    /// The picture has been taken away.
    func unmapped()
  }

  /// `xdg_surface`: what windows and popups have in common.
  final class ShellSurface: Resource, SurfaceRole {
    enum Request: UInt16 { case destroy, getToplevel, getPopup, setWindowGeometry, acknowledge }
    enum Failure: UInt32 {
      case notConstructed = 1
      case alreadyConstructed, unconfiguredBuffer, invalidSerial, invalidSize, defunctRole
    }

    override var interface: String { "xdg_surface" }
    private(set) weak var surface: Surface?
    private weak var base: ShellBase?
    private(set) weak var shellRole: (any ShellRole)?
    /// Popups that belong to this surface, in the order that they appeared.
    var popups: [Popup] = []

    private var unacknowledged: [UInt32] = []
    private(set) var isFirstConfigureSent = false
    private var isConfigured = false
    private(set) var isMapped = false
    private var pendingGeometry: Rectangle?
    private var explicitGeometry: Rectangle?

    init(_ client: Client, id: UInt32, version: UInt32, surface: Surface, base: ShellBase) {
      (self.surface, self.base) = (surface, base)
      super.init(client, id: id, version: version)
    }

    /// The part of the surface that is the window, without shadows; in surface pixels.
    var geometry: Rectangle {
      guard let surface else { return Rectangle(x: 0, y: 0, width: 0, height: 0) }
      guard let explicitGeometry else { return surface.bounds }
      return Region.common(explicitGeometry, surface.bounds) ?? surface.bounds
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy:
        guard shellRole?.isDestroyed ?? true else { throw failure(Failure.defunctRole, "an xdg_surface goes before what it serves as") }
        destroy()
      case .getToplevel:
        let id = try arguments.newID()
        try takeRole(.toplevel)
        shellRole = try client.add(Toplevel(client, id: id, version: version, shellSurface: self))
      case .getPopup:
        let id = try arguments.newID()
        let (parent, positioner) = (try arguments.optionalObject(ShellSurface.self), try arguments.object(Positioner.self))
        guard let parent, parent !== self, parent.shellRole != nil else {
          throw failed(.invalidPopupParent, "a popup without a window or popup that it belongs to")
        }
        guard parent.depth < Limits.nesting else { throw failed(.invalidPopupParent, "popups nested too deep") }
        guard positioner.placement.isComplete else { throw failed(.invalidPositioner, "a positioner without size and anchor") }
        try takeRole(.popup)
        shellRole = try client.add(
          Popup(client, id: id, version: version, shellSurface: self, parent: parent, placement: positioner.placement))
      case .setWindowGeometry:
        guard shellRole != nil else { throw failure(Failure.notConstructed, "window geometry before there is a window") }
        let area = Rectangle(
          x: try arguments.int().clamped, y: try arguments.int().clamped, width: try arguments.int().clamped,
          height: try arguments.int().clamped)
        guard area.width > 0, area.height > 0 else { throw failure(Failure.invalidSize, "a window of \(area.width)x\(area.height) pixels") }
        pendingGeometry = area
      case .acknowledge:
        let serial = try arguments.uint()
        guard shellRole != nil else { throw failure(Failure.notConstructed, "an acknowledgement before there is a window") }
        guard let index = unacknowledged.firstIndex(of: serial) else {
          throw failure(Failure.invalidSerial, "acknowledges \(serial), which was not sent or is acknowledged already")
        }
        unacknowledged.removeFirst(index + 1)
        isConfigured = true
      case nil: throw unknown(opcode)
      }
    }

    private func failed(_ code: ShellBase.Failure, _ reason: String) -> ProtocolFailure {
      base?.failure(code, reason) ?? ProtocolFailure(.implementation, object: id, reason)
    }

    private func takeRole(_ kind: SurfaceRoleKind) throws(ProtocolFailure) {
      guard shellRole?.isDestroyed ?? true else { throw failure(Failure.alreadyConstructed, "the surface serves as something already") }
      guard let surface, surface.take(kind) else { throw failed(.role, "the surface served as something else before") }
    }

    /// How many popups it stands on.
    var depth: Int {
      var (current, depth): (ShellSurface?, Int) = (self, 0)
      while let popup = current?.shellRole as? Popup, depth <= Limits.nesting { (current, depth) = (popup.parent, depth + 1) }
      return depth
    }

    /// Ends a sequence of configuration events.
    func sendConfigure() {
      let serial = compositor.nextSerial()
      isFirstConfigureSent = true
      unacknowledged.append(serial)
      // A client that acknowledges nothing may not make the list grow for ever.
      if unacknowledged.count > 1_000 { unacknowledged.removeFirst() }
      post(0, .uint(serial))
    }

    // MARK: Following the surface

    func check(_ state: SurfaceState) throws(ProtocolFailure) {
      guard case .buffer = state.attachment else { return }
      guard shellRole != nil else { throw failure(Failure.notConstructed, "a buffer before there is a window") }
      guard isConfigured else { throw failure(Failure.unconfiguredBuffer, "a buffer before the first configure was acknowledged") }
    }

    func surfaceWasApplied() throws(ProtocolFailure) {
      guard let surface, let shellRole else { return }
      if let geometry = pendingGeometry {
        pendingGeometry = nil
        if geometry != explicitGeometry {
          explicitGeometry = geometry
          compositor.arrangementChanged()
        }
      }
      if surface.bitmap != nil {
        guard !isMapped else { return }
        isMapped = true
        compositor.arrangementChanged()
        shellRole.mapped()
      } else if isMapped {
        roleWasRemoved(isFinal: false)
        shellRole.unmapped()
      } else if !isFirstConfigureSent {
        try shellRole.configureFirst()
      }
    }

    func surfaceWasRemoved() {
      let role = isMapped ? shellRole : nil
      isMapped = false
      role?.unmapped()
      surface = nil
    }

    /// The window or popup is gone (`isFinal`), or shows nothing: all starts anew.
    func roleWasRemoved(isFinal: Bool) {
      isMapped = false
      (isConfigured, isFirstConfigureSent, unacknowledged) = (false, false, [])
      (explicitGeometry, pendingGeometry) = (nil, nil)
      if isFinal { surface?.unmap() }
      compositor.arrangementChanged()
    }

    override func wasRemoved() {
      surface?.unmap()
      surface?.role = nil
      isMapped = false
      compositor.arrangementChanged()
    }
  }
}
