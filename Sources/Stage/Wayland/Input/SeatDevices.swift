extension Wayland {
  /// `wl_seat`: the one group of pointer, keyboard and touch screen.
  final class SeatResource: Resource, BoundResource {
    enum Request: UInt16 { case getPointer, getKeyboard, getTouch, release }
    private static let capabilities: UInt32 = 1 | 2 | 4

    override var interface: String { "wl_seat" }

    func wasBound() {
      post(0, .uint(SeatResource.capabilities))
      if version >= 2 { post(1, .string("seat0")) }
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .getPointer:
        let pointer = try client.add(PointerResource(client, id: try arguments.newID(), version: version))
        client.pointers.append(pointer)
        compositor.seat.welcome(pointer)
      case .getKeyboard:
        let keyboard = try client.add(KeyboardResource(client, id: try arguments.newID(), version: version))
        client.keyboards.append(keyboard)
        compositor.seat.welcome(keyboard)
      case .getTouch: client.touches.append(try client.add(TouchResource(client, id: try arguments.newID(), version: version)))
      case .release:
        try require(version: 5, opcode)
        destroy()
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `wl_pointer`.
  final class PointerResource: Resource {
    enum Request: UInt16 { case setCursor, release }
    enum Event: UInt16 { case enter, leave, motion, button, axis, frame, axisSource, axisStop, axisDiscrete, axisValue120 }
    enum Failure: UInt32 { case role }

    override var interface: String { "wl_pointer" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .setCursor:
        _ = try arguments.uint()
        let surface = try arguments.optionalObject(Surface.self)
        let (x, y) = (try arguments.int().clamped, try arguments.int().clamped)
        if let surface {
          guard surface.role == nil, surface.take(.cursor) else {
            throw failure(Failure.role, "wl_surface@\(surface.id) already serves as something else")
          }
        }
        compositor.seat.setCursor(surface, hotspotX: x, hotspotY: y, for: client)
      case .release:
        try require(version: 3, opcode)
        destroy()
      case nil: throw unknown(opcode)
      }
    }

    func enter(_ surface: Surface, x: Double, y: Double, serial: UInt32) {
      post(Event.enter.rawValue, .uint(serial), .object(surface), .fixed(x), .fixed(y))
    }

    func leave(_ surface: Surface, serial: UInt32) { post(Event.leave.rawValue, .uint(serial), .object(surface)) }

    func motion(x: Double, y: Double, time: UInt32) { post(Event.motion.rawValue, .uint(time), .fixed(x), .fixed(y)) }

    func button(_ code: UInt32, isPressed: Bool, serial: UInt32, time: UInt32) {
      post(Event.button.rawValue, .uint(serial), .uint(time), .uint(code), .uint(isPressed ? 1 : 0))
    }

    func axis(horizontal: Double, vertical: Double, time: UInt32) {
      let continuous: Argument = .uint(2)
      if version >= 5 { post(Event.axisSource.rawValue, continuous) }
      if vertical != 0 { post(Event.axis.rawValue, .uint(time), .uint(0), .fixed(vertical)) }
      if horizontal != 0 { post(Event.axis.rawValue, .uint(time), .uint(1), .fixed(horizontal)) }
    }

    /// The events since the last one belong together.
    func frame() { if version >= 5 { post(Event.frame.rawValue) } }

    override func wasRemoved() { client.pointers.removeAll { $0 === self } }
  }

  /// `wl_keyboard`.
  final class KeyboardResource: Resource {
    enum Event: UInt16 { case keymap, enter, leave, key, modifiers, repeatInformation }

    override var interface: String { "wl_keyboard" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      guard opcode == 0 else { throw unknown(opcode) }
      try require(version: 3, opcode)
      destroy()
    }

    func use(_ keymap: Keymap) {
      let textFormat: Argument = .uint(1)
      post(Event.keymap.rawValue, textFormat, .descriptor(keymap.memory), .uint(UInt32(keymap.size)))
    }

    /// 25 repeats a second, after 600 ms.
    func tellRepeat() { if version >= 4 { post(Event.repeatInformation.rawValue, .int(25), .int(600)) } }

    func enter(_ surface: Surface, keys: [UInt32], modifiers: Keymap.Modifiers, serial: UInt32) {
      post(Event.enter.rawValue, .uint(serial), .object(surface), .array(Wayland.array(keys)))
      self.modifiers(modifiers, serial: serial)
    }

    func leave(_ surface: Surface, serial: UInt32) { post(Event.leave.rawValue, .uint(serial), .object(surface)) }

    func key(_ code: UInt32, isPressed: Bool, serial: UInt32, time: UInt32) {
      post(Event.key.rawValue, .uint(serial), .uint(time), .uint(code), .uint(isPressed ? 1 : 0))
    }

    func modifiers(_ value: Keymap.Modifiers, serial: UInt32) {
      post(
        Event.modifiers.rawValue, .uint(serial), .uint(value.depressed), .uint(value.latched), .uint(value.locked), .uint(value.group))
    }

    override func wasRemoved() { client.keyboards.removeAll { $0 === self } }
  }

  /// `wl_touch`.
  final class TouchResource: Resource {
    enum Event: UInt16 { case down, up, motion, frame, cancel }

    override var interface: String { "wl_touch" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      guard opcode == 0 else { throw unknown(opcode) }
      try require(version: 3, opcode)
      destroy()
    }

    func down(_ id: Int32, on surface: Surface, x: Double, y: Double, serial: UInt32, time: UInt32) {
      post(Event.down.rawValue, .uint(serial), .uint(time), .object(surface), .int(Int(id)), .fixed(x), .fixed(y))
      post(Event.frame.rawValue)
    }

    func up(_ id: Int32, serial: UInt32, time: UInt32) {
      post(Event.up.rawValue, .uint(serial), .uint(time), .int(Int(id)))
      post(Event.frame.rawValue)
    }

    func motion(_ id: Int32, x: Double, y: Double, time: UInt32) {
      post(Event.motion.rawValue, .uint(time), .int(Int(id)), .fixed(x), .fixed(y))
      post(Event.frame.rawValue)
    }

    /// All fingers on the client's surfaces count no more.
    func cancel() { post(Event.cancel.rawValue) }

    override func wasRemoved() { client.touches.removeAll { $0 === self } }
  }
}
