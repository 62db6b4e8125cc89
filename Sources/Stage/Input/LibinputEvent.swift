import CLibInput

/// Reads libinput's events.
enum LibinputEvent {
  /// What an event is to the stage.
  enum Meaning {
    case known(DeviceEvent.Kind)
    /// Of no use to a call; by its kind's name.
    case ignored(String)
  }

  /// A wheel's notch scrolls by as much as in web browsers: about three lines.
  private static let notch = 60.0
  /// `KEY_Q` to `KEY_P`, `KEY_A` to `KEY_L`, `KEY_Z` to `KEY_M`.
  private static let letters: [ClosedRange<UInt32>] = [16...25, 30...38, 44...50]

  /// What a device can do.
  static func capabilities(of device: OpaquePointer) -> DeviceEvent.Capabilities {
    var capabilities = DeviceEvent.Capabilities()
    func can(_ capability: libinput_device_capability) -> Bool { unsafe libinput_device_has_capability(device, capability) != 0 }
    capabilities.isPointer = can(LIBINPUT_DEVICE_CAP_POINTER)
    capabilities.isTouchScreen = can(LIBINPUT_DEVICE_CAP_TOUCH)
    capabilities.isKeyboard =
      can(LIBINPUT_DEVICE_CAP_KEYBOARD)
      && letters.allSatisfy { $0.allSatisfy { unsafe libinput_device_keyboard_has_key(device, $0) == 1 } }
    return capabilities
  }

  /// What an event says; nil when another event says the same.
  static func kind(of event: OpaquePointer) -> Meaning? {
    let type = unsafe libinput_event_get_type(event)
    switch type {
    case LIBINPUT_EVENT_KEYBOARD_KEY:
      let key = unsafe libinput_event_get_keyboard_event(event)
      return .known(
        .key(
          code: unsafe libinput_event_keyboard_get_key(key),
          isPressed: unsafe libinput_event_keyboard_get_key_state(key) == LIBINPUT_KEY_STATE_PRESSED))
    case LIBINPUT_EVENT_POINTER_MOTION, LIBINPUT_EVENT_POINTER_MOTION_ABSOLUTE, LIBINPUT_EVENT_POINTER_BUTTON,
      LIBINPUT_EVENT_POINTER_SCROLL_WHEEL, LIBINPUT_EVENT_POINTER_SCROLL_FINGER, LIBINPUT_EVENT_POINTER_SCROLL_CONTINUOUS:
      guard let pointer = unsafe libinput_event_get_pointer_event(event) else { return nil }
      return .known(kind(of: unsafe pointer, type))
    case LIBINPUT_EVENT_TOUCH_DOWN, LIBINPUT_EVENT_TOUCH_MOTION, LIBINPUT_EVENT_TOUCH_UP, LIBINPUT_EVENT_TOUCH_CANCEL:
      guard let touch = unsafe libinput_event_get_touch_event(event) else { return nil }
      return .known(touchKind(of: unsafe touch, type))
    // Older names of scroll events, which come beside the new ones; ends of groups, which nobody has to wait for.
    case LIBINPUT_EVENT_POINTER_AXIS, LIBINPUT_EVENT_TOUCH_FRAME: return nil
    case LIBINPUT_EVENT_SWITCH_TOGGLE: return .ignored("switch")
    default:
      switch type.rawValue {
      case 600..<700: return .ignored("pen")
      case 700..<800: return .ignored("pad")
      case 800..<900: return .ignored("gesture")
      default: return .ignored("other")
      }
    }
  }

  private static func kind(of pointer: OpaquePointer, _ type: libinput_event_type) -> DeviceEvent.Kind {
    switch type {
    case LIBINPUT_EVENT_POINTER_MOTION:
      return .pointerMotion(x: unsafe libinput_event_pointer_get_dx(pointer), y: unsafe libinput_event_pointer_get_dy(pointer))
    case LIBINPUT_EVENT_POINTER_MOTION_ABSOLUTE:
      return .pointerPlace(
        x: unsafe libinput_event_pointer_get_absolute_x_transformed(pointer, 1),
        y: unsafe libinput_event_pointer_get_absolute_y_transformed(pointer, 1))
    case LIBINPUT_EVENT_POINTER_BUTTON:
      return .pointerButton(
        code: unsafe libinput_event_pointer_get_button(pointer),
        isPressed: unsafe libinput_event_pointer_get_button_state(pointer) == LIBINPUT_BUTTON_STATE_PRESSED)
    default:
      func scroll(_ axis: libinput_pointer_axis) -> Double {
        guard unsafe libinput_event_pointer_has_axis(pointer, axis) != 0 else { return 0 }
        guard type == LIBINPUT_EVENT_POINTER_SCROLL_WHEEL else { return unsafe libinput_event_pointer_get_scroll_value(pointer, axis) }
        return unsafe libinput_event_pointer_get_scroll_value_v120(pointer, axis) / 120 * notch
      }
      return .scroll(
        horizontal: scroll(LIBINPUT_POINTER_AXIS_SCROLL_HORIZONTAL), vertical: scroll(LIBINPUT_POINTER_AXIS_SCROLL_VERTICAL))
    }
  }

  private static func touchKind(of touch: OpaquePointer, _ type: libinput_event_type) -> DeviceEvent.Kind {
    // A seat's slots are unique among all its touch screens.
    let slot = unsafe libinput_event_touch_get_seat_slot(touch)
    switch type {
    case LIBINPUT_EVENT_TOUCH_UP: return .touchUp(slot: slot)
    case LIBINPUT_EVENT_TOUCH_CANCEL: return .touchCancel(slot: slot)
    default:
      let x = unsafe libinput_event_touch_get_x_transformed(touch, 1)
      let y = unsafe libinput_event_touch_get_y_transformed(touch, 1)
      return type == LIBINPUT_EVENT_TOUCH_DOWN ? .touchDown(slot: slot, x: x, y: y) : .touchMotion(slot: slot, x: x, y: y)
    }
  }
}
