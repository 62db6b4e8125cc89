/// What a person does in front of the screen, or remote hands in their place. Coordinates are output pixels; codes are those of Linux's
/// input event interface (`linux/input-event-codes.h`).
public enum StageInput: Sendable, Equatable {
  /// The pointer stands here now.
  case pointerMotion(x: Double, y: Double)
  /// A button of the pointer, such as `BTN_LEFT`, 0x110.
  case pointerButton(code: UInt32, isPressed: Bool)
  /// The wheel or two fingers on a pad, in pixels; downwards and to the right is positive.
  case pointerAxis(horizontal: Double, vertical: Double)
  /// A finger touches the screen. `id` names it until it is lifted.
  case touchDown(id: Int32, x: Double, y: Double)
  /// A finger moves on the screen.
  case touchMotion(id: Int32, x: Double, y: Double)
  /// A finger is lifted.
  case touchUp(id: Int32)
  /// A finger counts no more, and what it began is to be undone, as when the touch screen is unplugged under it.
  case touchCancel(id: Int32)
  /// A key of the keyboard, such as `KEY_ENTER`, 28.
  case key(code: UInt32, isPressed: Bool)
  /// Text typed from afar, whatever keys the keyboard has.
  case text(String)
}
