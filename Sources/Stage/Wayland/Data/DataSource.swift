extension Wayland {
  /// What a drop does with the data (`wl_data_device_manager.dnd_action`).
  struct DropActions: OptionSet {
    var rawValue: UInt32
    static let copy = DropActions(rawValue: 1)
    static let move = DropActions(rawValue: 2)
    static let ask = DropActions(rawValue: 4)
    static let all: DropActions = [.copy, .move, .ask]

    /// The plainest one of several.
    var first: DropActions {
      for action in [DropActions.copy, .move, .ask] where contains(action) { return action }
      return []
    }
  }

  /// `wl_data_device_manager`: cut, copy and paste, and dragging.
  final class DataDeviceManager: Resource {
    enum Request: UInt16 { case createSource, getDevice }

    override var interface: String { "wl_data_device_manager" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .createSource: try client.add(DataSource(client, id: try arguments.newID(), version: version))
      case .getDevice:
        let id = try arguments.newID()
        _ = try arguments.object(SeatResource.self)
        let device = try client.add(DataDevice(client, id: id, version: version))
        client.dataDevices.append(device)
        let seat = compositor.seat
        if seat.keyboardFocus?.client === client { device.offerSelection(seat.selection) }
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `wl_data_source`: data that a client offers to others.
  final class DataSource: Resource {
    enum Request: UInt16 { case offer, destroy, setActions }
    enum Event: UInt16 { case target, send, cancelled, dropPerformed, finished, action }
    enum Failure: UInt32 { case invalidActionMask, invalidSource }
    private static let typeLimit = 256

    override var interface: String { "wl_data_source" }
    private(set) var types: [String] = []
    private(set) var actions: DropActions?
    /// Whether it has been dragged or put on the clipboard.
    var isUsed = false

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .offer:
        let type = try arguments.string()
        guard types.count < DataSource.typeLimit else { throw ProtocolFailure(.noMemory, object: id, "too many types of data") }
        types.append(type)
      case .destroy: destroy()
      case .setActions:
        try require(version: 3, opcode)
        let mask = DropActions(rawValue: try arguments.uint())
        guard DropActions.all.isSuperset(of: mask) else { throw failure(Failure.invalidActionMask, "actions \(mask.rawValue)") }
        guard actions == nil, !isUsed else { throw failure(Failure.invalidSource, "actions are set once, before the source is used") }
        actions = mask
      case nil: throw unknown(opcode)
      }
    }

    /// The client at the other side takes a type, or none.
    func target(_ type: String?) { post(Event.target.rawValue, .optionalString(type)) }

    /// The client shall write the data.
    func send(_ type: String, to descriptor: Descriptor) { post(Event.send.rawValue, .string(type), .descriptor(descriptor)) }

    /// Nobody wants the data any more.
    func cancel() { post(Event.cancelled.rawValue) }

    func dropPerformed() { if version >= 3 { post(Event.dropPerformed.rawValue) } }
    func finished() { if version >= 3 { post(Event.finished.rawValue) } }
    func choose(_ action: DropActions) { if version >= 3 { post(Event.action.rawValue, .uint(action.rawValue)) } }

    override func wasRemoved() { compositor.seat.forget(self) }
  }

  /// `wl_data_device`: one client's end of the clipboard and of dragging.
  final class DataDevice: Resource {
    enum Request: UInt16 { case startDrag, setSelection, release }
    enum Event: UInt16 { case dataOffer, enter, leave, motion, drop, selection }
    enum Failure: UInt32 { case role }

    override var interface: String { "wl_data_device" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .startDrag: try startDrag(&arguments)
      case .setSelection:
        let source = try arguments.optionalObject(DataSource.self)
        _ = try arguments.uint()
        if let source {
          guard source.actions == nil, !source.isUsed else {
            throw source.failure(DataSource.Failure.invalidSource, "the source is for dragging, or was used before")
          }
        }
        // Only who has the keyboard may replace what was copied.
        guard compositor.seat.keyboardFocus?.client === client else {
          source?.cancel()
          return
        }
        source?.isUsed = true
        compositor.seat.select(source)
      case .release:
        try require(version: 2, opcode)
        destroy()
      case nil: throw unknown(opcode)
      }
    }

    private func startDrag(_ arguments: inout Arguments) throws(ProtocolFailure) {
      let (source, origin) = (try arguments.optionalObject(DataSource.self), try arguments.object(Surface.self))
      let icon = try arguments.optionalObject(Surface.self)
      _ = try arguments.uint()
      if let icon {
        guard icon.role == nil, icon.take(.dragIcon) else {
          throw failure(Failure.role, "wl_surface@\(icon.id) already serves as something else")
        }
      }
      if let source, source.isUsed { throw source.failure(DataSource.Failure.invalidSource, "the source was used before") }
      source?.isUsed = true
      let seat = compositor.seat
      let isPointing = !seat.buttons.isEmpty && seat.pointerFocus?.client === client
      let finger = isPointing ? nil : seat.finger(on: client)
      guard seat.drag == nil, !origin.isDestroyed, isPointing || finger != nil else {
        source?.cancel()
        return
      }
      Drag.start(seat, client: client, source: source, icon: icon, finger: finger)
    }

    /// Makes an object for what `source` offers.
    func makeOffer(_ source: DataSource) -> DataOffer? {
      guard let offer = client.addOwn({ DataOffer(client, id: $0, version: version, source: source) }) else { return nil }
      post(Event.dataOffer.rawValue, .newID(offer.id))
      for type in source.types { offer.post(DataOffer.Event.offer.rawValue, .string(type)) }
      return offer
    }

    /// Tells what may be pasted.
    func offerSelection(_ source: DataSource?) {
      let offer = source.flatMap(makeOffer)
      post(Event.selection.rawValue, .object(offer))
    }

    func enter(_ surface: Surface, x: Double, y: Double, offer: DataOffer?) {
      post(
        Event.enter.rawValue, .uint(compositor.nextSerial()), .object(surface), .fixed(x), .fixed(y), .object(offer))
    }

    func leave() { post(Event.leave.rawValue) }
    func motion(x: Double, y: Double) { post(Event.motion.rawValue, .uint(compositor.milliseconds), .fixed(x), .fixed(y)) }
    func drop() { post(Event.drop.rawValue) }

    override func wasRemoved() { client.dataDevices.removeAll { $0 === self } }
  }
}
