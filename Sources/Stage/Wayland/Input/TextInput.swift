extension Wayland {
  /// `zwp_text_input_manager_v3` (text-input-unstable-v3 of wayland-protocols).
  final class TextInputManager: Resource {
    enum Request: UInt16 { case destroy, getTextInput }

    override var interface: String { "zwp_text_input_manager_v3" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .getTextInput:
        let id = try arguments.newID()
        _ = try arguments.object(SeatResource.self)
        let input = try client.add(TextInput(client, id: id, version: version))
        client.textInputs.append(input)
        compositor.seat.welcome(input)
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `zwp_text_input_v3`: a client's text fields, of which at most one is typed into.
  final class TextInput: Resource {
    enum Request: UInt16 {
      case destroy, enable, disable, setSurroundingText, setChangeCause, setContentType, setCursorRectangle, commit
    }
    enum Event: UInt16 { case enter, leave, preedit, commit, deleteSurrounding, done }

    /// What the client says of the field.
    private struct Content {
      var surrounding: (text: String, caret: Int)?
      var type: (hints: FocusedField.Hints, purpose: FocusedField.Purpose)?
      var caret: Rectangle?
    }

    override var interface: String { "zwp_text_input_v3" }
    /// The surface that has the keyboard, as the client was told.
    private weak var focus: Surface?
    private var pendingEnabling: Bool?
    private var pending = Content()
    private var content = Content()
    /// Commits that came: what the client knows the state by.
    private var commitCount: UInt32 = 0

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .enable: begin(isEnabled: true)
      case .disable: begin(isEnabled: false)
      case .setSurroundingText:
        let (text, caret) = (try arguments.string(), try arguments.int())
        _ = try arguments.int()
        // A caret that stands outside of the text says nothing about it.
        if caret >= 0, caret <= text.utf8.count { pending.surrounding = (text, caret) }
      case .setChangeCause: _ = try arguments.uint()
      case .setContentType:
        let (hints, purpose) = (try arguments.uint(), try arguments.uint())
        pending.type = (FocusedField.Hints(rawValue: hints), FocusedField.Purpose(rawValue: purpose) ?? .normal)
      case .setCursorRectangle:
        pending.caret = Rectangle(
          x: try arguments.int().clamped, y: try arguments.int().clamped, width: max(0, try arguments.int().clamped),
          height: max(0, try arguments.int().clamped))
      case .commit: commit()
      case nil: throw unknown(opcode)
      }
    }

    private func begin(isEnabled: Bool) { (pendingEnabling, pending) = (isEnabled, Content()) }

    private func commit() {
      commitCount &+= 1
      defer { (pendingEnabling, pending) = (nil, Content()) }
      // What was sent before the client heard that it has lost the focus is void.
      guard focus != nil else { return }
      let seat = compositor.seat
      switch pendingEnabling {
      case true?:
        guard seat.enable(self) else { return }
        content = Content()
      case false?: seat.disable(self)
      case nil: break
      }
      guard seat.textFocus.input === self else { return }
      if let surrounding = pending.surrounding { content.surrounding = surrounding }
      if let type = pending.type { content.type = type }
      if let caret = pending.caret { content.caret = caret }
    }

    /// The field as it is known; nil when nothing is typed into.
    func field(activation: UInt64) -> FocusedField? {
      guard let focus else { return nil }
      // Who does not know the place of the caret says that there is nothing of it.
      var caret = content.caret.flatMap { $0.width == 0 && $0.height == 0 ? nil : $0 }
      if let place = compositor.place(of: focus) {
        caret?.x += place.x
        caret?.y += place.y
      } else {
        caret = nil
      }
      return FocusedField(
        activation: activation, purpose: content.type?.purpose ?? .normal, hints: content.type?.hints ?? [], caret: caret,
        press: client.lastPress, pressCount: client.pressCount,
        isAtSentenceStart: content.surrounding.map(TextInput.isAtSentenceStart) ?? false)
    }

    private static func isAtSentenceStart(_ surrounding: (text: String, caret: Int)) -> Bool {
      let before = surrounding.text.utf8.prefix(surrounding.caret)
      guard let last = before.last(where: { $0 != UInt8(ascii: " ") }) else { return true }
      let ends = [UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?")]
      return last == UInt8(ascii: "\n") || (before.last == UInt8(ascii: " ") && ends.contains(last))
    }

    // MARK: What the client is told

    func enter(_ surface: Surface) {
      focus = surface
      post(Event.enter.rawValue, .object(surface))
    }

    func leave() {
      guard let surface = focus else { return }
      focus = nil
      (pendingEnabling, pending, content) = (nil, Content(), Content())
      // A surface that is gone cannot be named.
      if !surface.isDestroyed { post(Event.leave.rawValue, .object(surface)) }
    }

    /// Inserts text at the caret.
    func insert(_ text: String) {
      post(Event.commit.rawValue, .string(text))
      post(Event.done.rawValue, .uint(commitCount))
    }

    override func wasRemoved() {
      client.textInputs.removeAll { $0 === self }
      compositor.seat.disable(self)
    }
  }
}
