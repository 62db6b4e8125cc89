extension Wayland {
  /// `zxdg_decoration_manager_v1`: windows have no frames here, and clients shall draw none.
  final class DecorationManager: Resource {
    enum Request: UInt16 { case destroy, getDecoration }

    override var interface: String { "zxdg_decoration_manager_v1" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .getDecoration:
        let id = try arguments.newID()
        let toplevel = try arguments.object(Toplevel.self)
        let decoration = try client.add(Decoration(client, id: id, version: version))
        decoration.toplevel = toplevel
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `zxdg_toplevel_decoration_v1`.
  final class Decoration: Resource {
    enum Request: UInt16 { case destroy, setMode, unsetMode }

    override var interface: String { "zxdg_toplevel_decoration_v1" }
    weak var toplevel: Toplevel? { didSet { answer() } }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .setMode:
        _ = try arguments.uint()
        answer()
      case .unsetMode: answer()
      case nil: throw unknown(opcode)
      }
    }

    private func answer() {
      let serverSide: Argument = .uint(2)
      post(0, serverSide)
      toplevel?.configureAgain()
    }
  }

  /// `org_kde_kwin_server_decoration_manager`: the same in the form that GTK knows.
  final class KDEDecorationManager: Resource, BoundResource {
    override var interface: String { "org_kde_kwin_server_decoration_manager" }

    /// By default the server draws frames; none here.
    func wasBound() { post(0, .uint(KDEDecoration.serverMode)) }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      guard opcode == 0 else { throw unknown(opcode) }
      let id = try arguments.newID()
      _ = try arguments.object(Surface.self)
      try client.add(KDEDecoration(client, id: id, version: version)).answer()
    }
  }

  /// `org_kde_kwin_server_decoration`.
  final class KDEDecoration: Resource {
    enum Request: UInt16 { case release, requestMode }

    static let serverMode: UInt32 = 2
    override var interface: String { "org_kde_kwin_server_decoration" }

    func answer() { post(0, .uint(KDEDecoration.serverMode)) }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .release: destroy()
      case .requestMode:
        _ = try arguments.uint()
        answer()
      case nil: throw unknown(opcode)
      }
    }
  }
}
