import Base

extension Wayland {
  /// Pointer, keyboard and touch screen, and which surface each belongs to at the moment.
  final class Seat {
    unowned let compositor: Compositor

    private(set) var pointerX = 0.0
    private(set) var pointerY = 0.0
    /// False until a pointer moves, and again when a finger touches the screen.
    private var isPointerShown = false
    private(set) weak var pointerFocus: Surface?
    /// Buttons down, the first of which bound the pointer to its surface.
    private(set) var buttons: [UInt32] = []
    private weak var cursor: Surface?
    /// Whether the client under the pointer has said what the cursor looks like, be it nothing at all.
    private var hasChosenCursor = false
    /// False while the cursor rests unseen, though the pointer is where it was.
    private(set) var isCursorVisible = true
    /// Where the cursor's corner lies from the pointer.
    private var cursorX = 0
    private var cursorY = 0

    private(set) weak var keyboardFocus: Surface?
    var textFocus = TextFocus()
    private var keymap: Keymap?
    private(set) var keys: [UInt32] = []

    /// A finger on the screen.
    private struct Finger {
      weak var surface: Surface?
      /// Where the surface lay when it was seen last.
      var originX: Int
      var originY: Int
    }
    private var fingers: [Int32: Finger] = [:]

    /// Popups that took all input, the newest last.
    private(set) var grabs: [Popup] = []
    /// What is being dragged.
    var drag: Drag?
    /// What was cut or copied last.
    private(set) weak var selection: DataSource?

    init(_ compositor: Compositor) { self.compositor = compositor }

    func setKeyboard(layout: String) {
      keymap = Keymap(.layout(layout)) ?? Keymap(.layout("us"))
      if keymap == nil { Log.error("the keyboard layout \(layout) cannot be loaded: there is no keyboard") }
    }

    /// Whether nothing has the focus, is grabbed, dragged or selected.
    var isIdle: Bool {
      pointerFocus == nil && keyboardFocus == nil && cursor == nil && grabs.isEmpty && drag == nil && selection == nil
        && !fingers.values.contains { $0.surface != nil }
    }

    // MARK: Input

    func handle(_ input: StageInput) {
      switch input {
      case .pointerMotion(let x, let y): movePointer(x: x, y: y)
      case .pointerButton(let code, let isPressed): pressButton(code, isPressed: isPressed)
      case .pointerAxis(let horizontal, let vertical): scroll(horizontal: horizontal, vertical: vertical)
      case .touchDown(let id, let x, let y): touchDown(id, x: x, y: y)
      case .touchMotion(let id, let x, let y): touchMotion(id, x: x, y: y)
      case .touchUp(let id): touchUp(id)
      case .touchCancel(let id): touchCancel(id)
      case .key(let code, let isPressed): pressKey(code, isPressed: isPressed)
      case .text(let text): type(text)
      }
    }

    private func onScreen(_ value: Double, _ size: Int) -> Double { value.isFinite ? max(0, min(Double(size) - 0.01, value)) : 0 }

    /// Input that nobody takes is counted.
    private func lost() { compositor.counters.count("input.unclaimed") }

    // MARK: Pointer

    private func movePointer(x: Double, y: Double) {
      (pointerX, pointerY) = (onScreen(x, compositor.output.width), onScreen(y, compositor.output.height))
      isPointerShown = true
      if cursor != nil && isCursorVisible || drag?.icon != nil { compositor.arrangementChanged() }
      if let drag, drag.finger == nil { return drag.move(x: pointerX, y: pointerY) }
      let before = pointerFocus
      if buttons.isEmpty { refocusPointer() }
      guard let surface = pointerFocus, surface === before, let placed = compositor.place(of: surface) else { return }
      for pointer in surface.client.pointers {
        pointer.motion(x: pointerX - Double(placed.x), y: pointerY - Double(placed.y), time: compositor.milliseconds)
        pointer.frame()
      }
    }

    /// Finds the surface under the pointer, and tells it and the one before.
    private func refocusPointer() {
      let placed = isPointerShown && drag == nil ? compositor.surface(atX: pointerX, y: pointerY) : nil
      guard placed?.surface !== pointerFocus else { return }
      if let old = pointerFocus {
        let serial = compositor.nextSerial()
        for pointer in old.client.pointers {
          pointer.leave(old, serial: serial)
          pointer.frame()
        }
      }
      if pointerFocus?.client !== placed?.surface.client {
        setCursor(nil)
        hasChosenCursor = false
      }
      pointerFocus = placed?.surface
      guard let placed else { return }
      let serial = compositor.nextSerial()
      for pointer in placed.surface.client.pointers {
        pointer.enter(placed.surface, x: pointerX - Double(placed.x), y: pointerY - Double(placed.y), serial: serial)
        pointer.frame()
      }
    }

    /// Takes the pointer off the screen until it moves again.
    func hidePointer() {
      guard isPointerShown, buttons.isEmpty else { return }
      isPointerShown = false
      refocusPointer()
      compositor.arrangementChanged()
    }

    /// The pointer is no surface's while it drags.
    func letGoOfPointer() { refocusPointer() }

    private func pressButton(_ code: UInt32, isPressed: Bool) {
      guard isPressed != buttons.contains(code) else { return }
      if isPressed {
        if buttons.isEmpty {
          // A press brings the pointer up, as a motion does.
          if !isPointerShown { movePointer(x: pointerX, y: pointerY) }
          if dismissPopups(unlessOn: pointerFocus) { return }
        }
        guard let surface = pointerFocus else { return lost() }
        buttons.append(code)
        notePress(on: surface, x: pointerX, y: pointerY)
      } else {
        buttons.removeAll { $0 == code }
      }
      if let drag, drag.finger == nil {
        if buttons.isEmpty { drag.drop() }
        return
      }
      if let surface = pointerFocus {
        let serial = compositor.nextSerial()
        for pointer in surface.client.pointers {
          pointer.button(code, isPressed: isPressed, serial: serial, time: compositor.milliseconds)
          pointer.frame()
        }
      }
      if buttons.isEmpty { refocusPointer() }
    }

    private func scroll(horizontal: Double, vertical: Double) {
      guard horizontal.isFinite, vertical.isFinite, drag == nil else { return lost() }
      if !isPointerShown { movePointer(x: pointerX, y: pointerY) }
      guard let surface = pointerFocus else { return lost() }
      for pointer in surface.client.pointers {
        pointer.axis(horizontal: horizontal, vertical: vertical, time: compositor.milliseconds)
        pointer.frame()
      }
    }

    /// Tells a pointer that was just made where it is.
    func welcome(_ pointer: PointerResource) {
      guard let surface = pointerFocus, surface.client === pointer.client, let placed = compositor.place(of: surface) else { return }
      pointer.enter(surface, x: pointerX - Double(placed.x), y: pointerY - Double(placed.y), serial: compositor.nextSerial())
      pointer.frame()
    }

    /// Sets the cursor's picture on behalf of the client that has the pointer; nil hides it.
    func setCursor(_ surface: Surface?, hotspotX: Int, hotspotY: Int, for client: Client) {
      guard pointerFocus?.client === client else { return }
      hasChosenCursor = true
      setCursor(surface)
      // A client moves the hotspot by moving the buffer; what it moved before does not count.
      (cursorX, cursorY) = (-hotspotX - (surface?.offsetX ?? 0), -hotspotY - (surface?.offsetY ?? 0))
    }

    /// Whether the client under the pointer leaves the cursor's look to the stage.
    var leavesCursorToStage: Bool { pointerFocus == nil || !hasChosenCursor }

    /// Shows or hides the cursor, whoever drew it.
    func setCursorVisible(_ isVisible: Bool) {
      guard isVisible != isCursorVisible else { return }
      isCursorVisible = isVisible
      if cursor != nil { compositor.arrangementChanged() }
    }

    private func setCursor(_ surface: Surface?) {
      cursor = surface
      compositor.arrangementChanged()
    }

    /// The surfaces that hang on the pointer, and where.
    var floatingSurfaces: [(surface: Surface, x: Int, y: Int)] {
      var result: [(surface: Surface, x: Int, y: Int)] = []
      if let drag, let icon = drag.icon {
        result.append((icon, Int(drag.x) + icon.offsetX, Int(drag.y) + icon.offsetY))
      }
      if isPointerShown, isCursorVisible, let cursor {
        result.append((cursor, Int(pointerX) + cursorX + cursor.offsetX, Int(pointerY) + cursorY + cursor.offsetY))
      }
      return result
    }

    // MARK: Touch

    private func touchDown(_ id: Int32, x: Double, y: Double) {
      let (x, y) = (onScreen(x, compositor.output.width), onScreen(y, compositor.output.height))
      guard fingers[id] == nil else { return }
      hidePointer()
      let placed = compositor.surface(atX: x, y: y)
      if fingers.isEmpty, dismissPopups(unlessOn: placed?.surface) { return }
      guard let placed else { return lost() }
      notePress(on: placed.surface, x: x, y: y)
      fingers[id] = Finger(surface: placed.surface, originX: placed.x, originY: placed.y)
      let serial = compositor.nextSerial()
      for touch in placed.surface.client.touches {
        touch.down(
          id, on: placed.surface, x: x - Double(placed.x), y: y - Double(placed.y), serial: serial, time: compositor.milliseconds)
      }
    }

    private func touchMotion(_ id: Int32, x: Double, y: Double) {
      let (x, y) = (onScreen(x, compositor.output.width), onScreen(y, compositor.output.height))
      guard let finger = fingers[id] else { return }
      if let drag, drag.finger == id { return drag.move(x: x, y: y) }
      guard let surface = finger.surface else { return }
      let placed = compositor.place(of: surface)
      let (originX, originY) = (placed?.x ?? finger.originX, placed?.y ?? finger.originY)
      fingers[id] = Finger(surface: surface, originX: originX, originY: originY)
      for touch in surface.client.touches {
        touch.motion(id, x: x - Double(originX), y: y - Double(originY), time: compositor.milliseconds)
      }
    }

    private func touchUp(_ id: Int32) {
      guard let finger = fingers.removeValue(forKey: id) else { return }
      if let drag, drag.finger == id { return drag.drop() }
      guard let surface = finger.surface else { return }
      let serial = compositor.nextSerial()
      for touch in surface.client.touches { touch.up(id, serial: serial, time: compositor.milliseconds) }
    }

    /// The protocol takes back all of a client's fingers at once.
    private func touchCancel(_ id: Int32) {
      guard let finger = fingers.removeValue(forKey: id) else { return }
      if let drag, drag.finger == id {
        drag.source?.cancel()
        return drag.cancel()
      }
      guard let client = finger.surface?.client else { return }
      for (other, finger) in fingers where finger.surface?.client === client { fingers[other]?.surface = nil }
      for touch in client.touches { touch.cancel() }
    }

    /// The finger that a client's drag follows, when one of its surfaces is touched.
    func finger(on client: Client) -> Int32? { fingers.first { $0.value.surface?.client === client }?.key }

    /// The screen has another size: the pointer stays on it, and what fingers began counts no more.
    func outputChanged() {
      (pointerX, pointerY) = (onScreen(pointerX, compositor.output.width), onScreen(pointerY, compositor.output.height))
      if let drag, drag.finger != nil {
        drag.source?.cancel()
        drag.cancel()
      }
      var touched: [Client] = []
      for surface in fingers.values.compactMap(\.surface) where !touched.contains(where: { $0 === surface.client }) {
        touched.append(surface.client)
      }
      fingers.removeAll()
      for client in touched { for touch in client.touches { touch.cancel() } }
    }

    // MARK: Popups

    /// A popup takes the keyboard, and is dismissed when somebody presses outside of its client.
    func grab(_ popup: Popup) {
      if let other = grabs.last, other.client !== popup.client { dismissAll() }
      grabs.append(popup)
    }

    /// The popup takes part no more.
    func release(_ popup: Popup) {
      grabs.removeAll { $0 === popup }
    }

    private func dismissAll() { for popup in grabs.reversed() { popup.dismiss() } }

    /// Dismisses all popups that took input when a press lies outside of their client. Returns whether it did.
    private func dismissPopups(unlessOn surface: Surface?) -> Bool {
      guard let popup = grabs.last, surface?.client !== popup.client else { return false }
      dismissAll()
      return true
    }

    // MARK: Keyboard

    func pressKey(_ code: UInt32, isPressed: Bool) {
      // What XKB knows; above it nothing can be said about a key.
      guard code < 768, isPressed != keys.contains(code) else { return }
      if isPressed { keys.append(code) } else { keys.removeAll { $0 == code } }
      let isModified = keymap?.update(key: code, isPressed: isPressed) ?? false
      guard let surface = keyboardFocus else { return lost() }
      sendKey(code, isPressed: isPressed, to: surface.client)
      if isModified { sendModifiers(keymap?.modifiers ?? Keymap.Modifiers(), to: surface.client) }
    }

    private func sendKey(_ code: UInt32, isPressed: Bool, to client: Client) {
      let serial = compositor.nextSerial()
      for keyboard in client.keyboards { keyboard.key(code, isPressed: isPressed, serial: serial, time: compositor.milliseconds) }
    }

    private func sendModifiers(_ modifiers: Keymap.Modifiers, to client: Client) {
      let serial = compositor.nextSerial()
      for keyboard in client.keyboards { keyboard.modifiers(modifiers, serial: serial) }
    }

    /// Types text with keys: those of the keyboard where it has them, and else of a keymap made for the purpose.
    func type(_ text: String) {
      guard let client = keyboardFocus?.client, let keymap else { return lost() }
      for run in Typing.runs(of: text, on: keymap) {
        switch run {
        case .keys(let strokes):
          for stroke in strokes { press(stroke, on: keymap, for: client) }
        case .characters(let characters):
          guard let special = Keymap.typing(characters) else {
            lost()
            continue
          }
          for keyboard in client.keyboards { keyboard.use(special) }
          for index in characters.indices {
            for isPressed in [true, false] { sendKey(UInt32(index) + 1, isPressed: isPressed, to: client) }
          }
          for keyboard in client.keyboards { keyboard.use(keymap) }
          sendModifiers(keymap.modifiers, to: client)
        }
      }
    }

    private func press(_ stroke: Typing.Stroke, on keymap: Keymap, for client: Client) {
      let needsShift = stroke.isShifted && !keys.contains(Typing.shift)
      if needsShift { pressKey(Typing.shift, isPressed: true) }
      if !keys.contains(stroke.key) { for isPressed in [true, false] { pressKey(stroke.key, isPressed: isPressed) } }
      if needsShift { pressKey(Typing.shift, isPressed: false) }
    }

    /// Tells a keyboard that was just made what its keys mean, and whether it has the focus.
    func welcome(_ keyboard: KeyboardResource) {
      guard let keymap else { return }
      keyboard.use(keymap)
      keyboard.tellRepeat()
      guard let surface = keyboardFocus, surface.client === keyboard.client else { return }
      keyboard.enter(surface, keys: keys, modifiers: keymap.modifiers, serial: compositor.nextSerial())
    }

    private func focusKeyboard(_ surface: Surface?) {
      guard surface !== keyboardFocus else { return }
      let oldClient = keyboardFocus?.client
      if let old = keyboardFocus {
        let serial = compositor.nextSerial()
        for keyboard in old.client.keyboards { keyboard.leave(old, serial: serial) }
        for input in old.client.textInputs { input.leave() }
      }
      textFocus.input = nil
      keyboardFocus = surface
      guard let surface else { return }
      if oldClient !== surface.client { offerSelection(to: surface.client) }
      let (serial, modifiers) = (compositor.nextSerial(), keymap?.modifiers ?? Keymap.Modifiers())
      for keyboard in surface.client.keyboards { keyboard.enter(surface, keys: keys, modifiers: modifiers, serial: serial) }
      for input in surface.client.textInputs { input.enter(surface) }
    }

    // MARK: Selection

    /// Something was cut or copied; nil: nothing is on offer any more.
    func select(_ source: DataSource?) {
      guard source !== selection else { return }
      selection?.cancel()
      selection = source
      if let client = keyboardFocus?.client { offerSelection(to: client) }
    }

    /// Tells a client what it may paste.
    func offerSelection(to client: Client) {
      for device in client.dataDevices { device.offerSelection(selection) }
    }

    /// The source is gone.
    func forget(_ source: DataSource) {
      if selection === source {
        selection = nil
        if let client = keyboardFocus?.client { offerSelection(to: client) }
      }
      if drag?.source === source { drag?.cancel() }
    }

    // MARK: Surfaces that change

    /// Brings everybody's focus up to date; the keyboard belongs to the newest grab, else to `topToplevel`.
    func arrangementChanged(topToplevel: Toplevel?) {
      let grabbing = grabs.last { $0.shellSurface.isMapped }
      focusKeyboard(grabbing?.surface ?? topToplevel?.surface)
      for toplevel in compositor.toplevels { toplevel.setActivated(toplevel === topToplevel) }
      if buttons.isEmpty { refocusPointer() }
      drag?.arrangementChanged()
    }

    func surfaceWasRemoved(_ surface: Surface) {
      if pointerFocus === surface { pointerFocus = nil }
      if keyboardFocus === surface {
        for input in surface.client.textInputs { input.leave() }
        (keyboardFocus, textFocus.input) = (nil, nil)
      }
      if cursor === surface { setCursor(nil) }
      for (id, finger) in fingers where finger.surface === surface { fingers[id]?.surface = nil }
      drag?.surfaceWasRemoved(surface)
    }

    func clientEnded(_ client: Client) {
      grabs.removeAll { $0.client === client }
      if drag?.client === client { drag?.cancel() }
    }
  }
}
