/// Turns what devices report into what people mean: places into pixels of the upright picture, the first touch of a dark screen into a wish
/// for light, keys of the box into what they stand for.
///
/// Whatever goes down on a screen comes up again, also when its device is pulled out.
public struct InputTranslator: Sendable {
  /// The picture that people point at.
  public var screen: InputScreen {
    didSet {
      guard screen != oldValue else { return }
      let (across, down) = (Double(screen.width) / Double(oldValue.width), Double(screen.height) / Double(oldValue.height))
      pointer = screen.onScreen(x: pointer.x * across, y: pointer.y * down)
    }
  }
  /// Whether the screen is dark: then what people do only wakes it, the call key excepted.
  public var isBlanked = false
  /// The keys that start and end a call, by their codes in `linux/input-event-codes.h`. Nobody else gets them.
  public var callKeys: Set<UInt32>

  private var pointer: (x: Double, y: Double)
  private var devices: [Int: Device] = [:]
  private var isKeyboardAttached = false

  private static let volumeKeys: [UInt32: InputAction.VolumeStep] = [113: .mute, 114: .down, 115: .up]

  /// What is held down on a device.
  private struct Device {
    var capabilities = DeviceEvent.Capabilities()
    var keys = Held<UInt32>()
    var buttons = Held<UInt32>()
    var fingers = Held<Int32>()
  }

  /// What is down, and whether what is on the screen knows of it.
  private struct Held<Name: Hashable & Sendable>: Sendable {
    var passedOn: Set<Name> = []
    var kept: Set<Name> = []

    func contains(_ name: Name) -> Bool { passedOn.contains(name) || kept.contains(name) }
  }

  /// Nothing is attached yet. The pointer is in the middle of `screen`.
  public init(screen: InputScreen, callKeys: Set<UInt32> = []) {
    (self.screen, self.callKeys) = (screen, callKeys)
    pointer = (Double(screen.width) / 2, Double(screen.height) / 2)
  }

  /// Takes an event, and appends what comes of it.
  public mutating func take(_ event: DeviceEvent, into actions: inout [InputAction]) {
    let device = event.device
    switch event.kind {
    case .added(let capabilities):
      devices[device, default: Device()].capabilities = capabilities
      tellKeyboard(&actions)
    case .removed:
      release(device, into: &actions)
      tellKeyboard(&actions)
    case .key(let code, true): pressKey(code, on: device, into: &actions)
    case .key(let code, false):
      if up(code, on: device, \.keys) { actions.append(.input(.key(code: code, isPressed: false))) }
    case .pointerMotion(let x, let y):
      if wakes(&actions) { return }
      movePointer(to: screen.onScreen(x: pointer.x + x, y: pointer.y + y), into: &actions)
    case .pointerPlace(let x, let y):
      if wakes(&actions) { return }
      movePointer(to: screen.pixel(x: x, y: y), into: &actions)
    case .pointerButton(let code, true):
      if down(code, on: device, \.buttons, isKept: wakes(&actions)) { actions.append(.input(.pointerButton(code: code, isPressed: true))) }
    case .pointerButton(let code, false):
      if up(code, on: device, \.buttons) { actions.append(.input(.pointerButton(code: code, isPressed: false))) }
    case .scroll(let horizontal, let vertical):
      if wakes(&actions) || (horizontal == 0 && vertical == 0) { return }
      actions.append(.input(.pointerAxis(horizontal: horizontal, vertical: vertical)))
    case .touchDown(let slot, let x, let y):
      // Fingers that join one that only woke the screen are part of the same touch.
      let isKept = wakes(&actions) || devices.values.contains { !$0.fingers.kept.isEmpty }
      guard down(slot, on: device, \.fingers, isKept: isKept) else { return }
      let place = screen.pixel(x: x, y: y)
      actions.append(.input(.touchDown(id: slot, x: place.x, y: place.y)))
    case .touchMotion(let slot, let x, let y):
      guard devices[device]?.fingers.passedOn.contains(slot) == true else { return }
      let place = screen.pixel(x: x, y: y)
      actions.append(.input(.touchMotion(id: slot, x: place.x, y: place.y)))
    case .touchUp(let slot):
      if up(slot, on: device, \.fingers) { actions.append(.input(.touchUp(id: slot))) }
    case .touchCancel(let slot):
      if up(slot, on: device, \.fingers) { actions.append(.input(.touchCancel(id: slot))) }
    case .callButton(let isPressed):
      guard isPressed else { return }
      _ = wakes(&actions)
      actions.append(.callKey)
    }
  }

  // MARK: Keys and pointer

  private mutating func pressKey(_ code: UInt32, on device: Int, into actions: inout [InputAction]) {
    guard devices[device]?.keys.contains(code) != true else { return }
    let wakes = wakes(&actions)
    let isCallKey = callKeys.contains(code)
    let step = InputTranslator.volumeKeys[code]
    if down(code, on: device, \.keys, isKept: wakes || isCallKey || step != nil) {
      actions.append(.input(.key(code: code, isPressed: true)))
    } else if isCallKey {
      actions.append(.callKey)
    } else if let step, !wakes {
      actions.append(.volume(step))
    }
  }

  private mutating func movePointer(to place: (x: Double, y: Double), into actions: inout [InputAction]) {
    pointer = place
    actions.append(.input(.pointerMotion(x: place.x, y: place.y)))
  }

  private func wakes(_ actions: inout [InputAction]) -> Bool {
    if isBlanked, actions.last != .wake { actions.append(.wake) }
    return isBlanked
  }

  // MARK: What is down

  /// Notes that something goes down. Returns whether to pass that on: not what is kept, and not what is down already, on whichever device.
  private mutating func down<Name>(
    _ name: Name, on device: Int, _ held: WritableKeyPath<Device, Held<Name>>, isKept: Bool
  ) -> Bool {
    guard devices[device]?[keyPath: held].contains(name) != true else { return false }
    if isKept {
      devices[device, default: Device()][keyPath: held].kept.insert(name)
      return false
    }
    let isDown = devices.values.contains { $0[keyPath: held].passedOn.contains(name) }
    devices[device, default: Device()][keyPath: held].passedOn.insert(name)
    return !isDown
  }

  /// Notes that something comes up. Returns whether to pass that on: only when it is down nowhere else.
  private mutating func up<Name>(_ name: Name, on device: Int, _ held: WritableKeyPath<Device, Held<Name>>) -> Bool {
    guard devices[device]?[keyPath: held].kept.remove(name) == nil, devices[device]?[keyPath: held].passedOn.remove(name) != nil else {
      return false
    }
    return !devices.values.contains { $0[keyPath: held].passedOn.contains(name) }
  }

  private mutating func release(_ device: Int, into actions: inout [InputAction]) {
    guard let gone = devices.removeValue(forKey: device) else { return }
    for code in gone.keys.passedOn.sorted() where !devices.values.contains(where: { $0.keys.passedOn.contains(code) }) {
      actions.append(.input(.key(code: code, isPressed: false)))
    }
    for code in gone.buttons.passedOn.sorted() where !devices.values.contains(where: { $0.buttons.passedOn.contains(code) }) {
      actions.append(.input(.pointerButton(code: code, isPressed: false)))
    }
    for slot in gone.fingers.passedOn.sorted() { actions.append(.input(.touchCancel(id: slot))) }
  }

  private mutating func tellKeyboard(_ actions: inout [InputAction]) {
    let isAttached = devices.values.contains { $0.capabilities.isKeyboard }
    guard isAttached != isKeyboardAttached else { return }
    isKeyboardAttached = isAttached
    actions.append(.keyboardAttached(isAttached))
  }
}
