/// What an input device reports. Places are parts of the monitor as it is mounted, 0 at the left and upper edge of its glass, 1 at the others.
public struct DeviceEvent: Sendable, Equatable {
  /// What a device can do.
  public struct Capabilities: Sendable, Equatable {
    /// Whether it has letters. A power button or a remote's few keys make no keyboard.
    public var isKeyboard = false
    /// Whether it moves a pointer.
    public var isPointer = false
    /// Whether it is a touch screen.
    public var isTouchScreen = false

    /// A device that can do nothing of that.
    public init() {}
  }

  /// What happened.
  public enum Kind: Sendable, Equatable {
    /// The device was plugged in, or found at the start.
    case added(Capabilities)
    /// The device is gone, and with it whatever was pressed on it.
    case removed
    /// A key or a button of a keyboard, by its code in `linux/input-event-codes.h`.
    case key(code: UInt32, isPressed: Bool)
    /// A relative pointer was moved: pixels, already accelerated.
    case pointerMotion(x: Double, y: Double)
    /// An absolute pointer points here.
    case pointerPlace(x: Double, y: Double)
    /// A pointer's button.
    case pointerButton(code: UInt32, isPressed: Bool)
    /// Wheel or fingers on a pad, in pixels; downwards and to the right is positive.
    case scroll(horizontal: Double, vertical: Double)
    /// A finger touches the glass. `slot` names it until it is lifted, and is no other device's.
    case touchDown(slot: Int32, x: Double, y: Double)
    /// A finger moves.
    case touchMotion(slot: Int32, x: Double, y: Double)
    /// A finger is lifted.
    case touchUp(slot: Int32)
    /// A finger counts no more, as when it turned out to be a palm.
    case touchCancel(slot: Int32)
    /// The call button that is wired to the box.
    case callButton(isPressed: Bool)
  }

  /// Which device, by a number that no other one has had.
  public var device: Int
  /// What happened.
  public var kind: Kind

  /// What `device` reports.
  public init(device: Int, _ kind: Kind) { (self.device, self.kind) = (device, kind) }
}
