extension Wayland {
  /// `xdg_toplevel`: a window. One that belongs to no other fills the screen.
  final class Toplevel: Resource, ShellRole {
    enum Request: UInt16 {
      case destroy, setParent, setTitle, setApplication, showMenu, move, resize, setMaximumSize, setMinimumSize, setMaximized
      case unsetMaximized, setFullscreen, unsetFullscreen, setMinimized
    }
    enum Event: UInt16 { case configure, close, bounds, capabilities }
    enum Failure: UInt32 { case invalidResizeEdge, invalidParent, invalidSize }
    private enum State: UInt32 {
      case fullscreen = 2
      case activated = 4
    }

    override var interface: String { "xdg_toplevel" }
    /// Kept alive here: it is not destroyed before the window, unless the client goes.
    let shellSurface: ShellSurface
    private let surfaceIdentifier: UInt64
    private(set) weak var parent: Toplevel?
    private var title = ""
    private var application = ""
    private var wantsFullscreen = false
    /// Whether it is the window that the keyboard belongs to, as the client was told last.
    private var isActivated = true

    init(_ client: Client, id: UInt32, version: UInt32, shellSurface: ShellSurface) {
      self.shellSurface = shellSurface
      surfaceIdentifier = shellSurface.surface?.identifier ?? 0
      super.init(client, id: id, version: version)
    }

    var surface: Surface? { shellSurface.surface }
    var isMapped: Bool { shellSurface.isMapped }

    /// What the owner of the server is told.
    var information: ToplevelInformation {
      ToplevelInformation(
        identifier: surfaceIdentifier, process: client.peer.process, title: title, applicationIdentifier: application)
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .setParent: try setParent(try arguments.optionalObject(Toplevel.self))
      case .setTitle:
        title = try arguments.string()
        if isMapped { compositor.tell(.changed(information)) }
      case .setApplication:
        application = try arguments.string()
        if isMapped { compositor.tell(.changed(information)) }
      case .showMenu:
        _ = (try arguments.object(SeatResource.self), try arguments.uint(), try arguments.int(), try arguments.int())
      case .move: _ = (try arguments.object(SeatResource.self), try arguments.uint())
      case .resize:
        _ = (try arguments.object(SeatResource.self), try arguments.uint())
        let edge = try arguments.uint()
        guard edge <= 10, edge & 3 != 3 else { throw failure(Failure.invalidResizeEdge, "edge \(edge)") }
      case .setMaximumSize, .setMinimumSize:
        let (width, height) = (try arguments.int(), try arguments.int())
        guard width >= 0, height >= 0 else { throw failure(Failure.invalidSize, "a limit of \(width)x\(height) pixels") }
      case .setMaximized, .unsetMaximized: configureAgain()
      case .setFullscreen:
        _ = try arguments.optionalObject(Output.self)
        wantsFullscreen = true
        configureAgain()
      case .unsetFullscreen:
        wantsFullscreen = false
        configureAgain()
      case .setMinimized: break
      case nil: throw unknown(opcode)
      }
    }

    private func setParent(_ new: Toplevel?) throws(ProtocolFailure) {
      var (ancestor, depth) = (new, 0)
      while let current = ancestor {
        guard current !== self, depth < Limits.nesting else {
          throw failure(Failure.invalidParent, "a window cannot belong to itself, nor too deep")
        }
        (ancestor, depth) = (current.parent, depth + 1)
      }
      guard new !== parent else { return }
      parent = new
      configureAgain()
      compositor.arrangementChanged()
    }

    // MARK: Size and state

    func configureFirst() throws(ProtocolFailure) {
      if version >= 5 {
        let fullscreen: UInt32 = 3
        post(Event.capabilities.rawValue, .array(Wayland.array([fullscreen])))
      }
      configure()
    }

    /// Tells the client its size and state again, once it knows them.
    func configureAgain() { if shellSurface.isFirstConfigureSent { configure() } }

    private func configure() {
      let output = compositor.output
      var states: [State] = isActivated ? [.activated] : []
      let isFullscreen = parent == nil || wantsFullscreen
      if isFullscreen { states.append(.fullscreen) }
      if version >= 4 { post(Event.bounds.rawValue, .int(output.width), .int(output.height)) }
      post(
        Event.configure.rawValue, .int(isFullscreen ? output.width : 0), .int(isFullscreen ? output.height : 0),
        .array(Wayland.array(states.map(\.rawValue))))
      shellSurface.sendConfigure()
    }

    /// Tells the client whether the keyboard belongs to the window.
    func setActivated(_ value: Bool) {
      guard value != isActivated else { return }
      isActivated = value
      configureAgain()
    }

    /// Asks the client to close the window.
    func close() { post(Event.close.rawValue) }

    /// Where the corner of the window geometry lies on the screen: in the middle what is smaller than the screen.
    var origin: (x: Int, y: Int) {
      let (geometry, output) = (shellSurface.geometry, compositor.output)
      return (max(0, (output.width - geometry.width) / 2), max(0, (output.height - geometry.height) / 2))
    }

    func mapped() { compositor.toplevelWasMapped(self) }
    func unmapped() { compositor.toplevelWasUnmapped(self) }

    override func wasRemoved() {
      compositor.toplevelWasUnmapped(self)
      shellSurface.roleWasRemoved(isFinal: true)
    }
  }
}
