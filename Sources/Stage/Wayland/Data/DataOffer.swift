extension Wayland {
  /// `wl_data_offer`: another client's data, as one client sees it.
  final class DataOffer: Resource {
    enum Request: UInt16 { case accept, receive, destroy, finish, setActions }
    enum Event: UInt16 { case offer, sourceActions, action }
    enum Failure: UInt32 { case invalidFinish, invalidActionMask, invalidAction, invalidOffer }

    override var interface: String { "wl_data_offer" }
    private weak var source: DataSource?
    /// Whether the offer belongs to a drag, and how far that is.
    enum DragState { case none, over, dropped, finished }
    var state = DragState.none
    private(set) var acceptedType: String?
    private(set) var action: DropActions = []
    private var actions: DropActions = []
    private var preferred: DropActions = []

    init(_ client: Client, id: UInt32, version: UInt32, source: DataSource) {
      self.source = source
      super.init(client, id: id, version: version)
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .accept:
        _ = try arguments.uint()
        acceptedType = try arguments.optionalString()
        if state == .over { source?.target(acceptedType) }
      case .receive:
        let (type, descriptor) = (try arguments.string(), try arguments.descriptor())
        // Without a source the descriptor is closed here, and the reader sees the end.
        if state != .finished { source?.send(type, to: descriptor) }
      case .destroy: destroy()
      case .finish:
        try require(version: 3, opcode)
        guard state == .dropped else { throw failure(Failure.invalidFinish, "nothing was dropped that could be finished") }
        state = .finished
        source?.finished()
      case .setActions:
        try require(version: 3, opcode)
        let (mask, preferred) = (DropActions(rawValue: try arguments.uint()), DropActions(rawValue: try arguments.uint()))
        guard DropActions.all.isSuperset(of: mask) else { throw failure(Failure.invalidActionMask, "actions \(mask.rawValue)") }
        guard preferred.isEmpty || (DropActions.all.contains(preferred) && preferred == preferred.first) else {
          throw failure(Failure.invalidAction, "action \(preferred.rawValue)")
        }
        guard state != .none else { throw failure(Failure.invalidOffer, "actions for what is not dragged") }
        (actions, self.preferred) = (mask, preferred)
        negotiate()
      case nil: throw unknown(opcode)
      }
    }

    /// Tells what the source can do.
    func describeDrag() {
      guard version >= 3 else { return }
      post(Event.sourceActions.rawValue, .uint((source?.actions ?? .copy).rawValue))
    }

    private func negotiate() {
      let common = (source?.actions ?? .copy).intersection(actions)
      let new = common.contains(preferred) && !preferred.isEmpty ? preferred : common.first
      guard new != action else { return }
      action = new
      post(Event.action.rawValue, .uint(new.rawValue))
      source?.choose(new)
    }

    /// Whether a drop would be taken.
    var isAccepted: Bool { acceptedType != nil && (version < 3 || !action.isEmpty) }

    override func wasRemoved() {
      guard state == .dropped else { return }
      // Who lets go without a word has either taken all it wanted (before version 3), or given up.
      if version < 3 { source?.finished() } else { source?.cancel() }
    }
  }
}
