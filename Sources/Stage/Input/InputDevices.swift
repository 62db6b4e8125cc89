import Base
import CLibInput
import CLinux
import CUdev
import Glibc
import Synchronization

/// The machine's touch screens, pointers and keyboards, through libinput, and the call button, if there is one.
///
/// Devices may come and go at any time, and so may udev itself. Belongs to one thread at a time: `StageThread` takes it over when it starts.
public final class InputDevices: @unchecked Sendable {
  // Unchecked: handed over once, from who makes it to the stage's thread. What others may ask is guarded.

  /// The keys that start and end a call, by their codes in `linux/input-event-codes.h`. Nobody else gets them.
  package let callKeys: Set<UInt32>
  /// Readable when `dispatch` has work.
  package let descriptor: Int32
  private let epoll: Wayland.Descriptor
  private let button: GPIOButton?
  private let udev: OpaquePointer
  private let interface: UnsafeMutablePointer<libinput_interface>
  private var context: OpaquePointer?
  private var isSuspended = false
  /// When to look whether what failed works now.
  private var retryAt: Instant? = .zero
  /// What was told already.
  private var toldOfUdev = false
  /// Devices that this user may not open.
  private var denied: Set<String> = []
  private var nextDevice = 1
  private var devices: Set<Int> = []
  private let counts = Mutex(Counters())

  private static let retryPause = Interval.seconds(5)
  /// The call button's number; libinput's devices are counted from 1.
  private static let buttonDevice = 0

  /// Devices of seat `seat0`, and the button on `line`. Nothing is opened before the first `dispatch`.
  ///
  /// `callKeys` start and end a call, by their codes in `linux/input-event-codes.h`, as the button does; nobody else gets them.
  public init(callKeys: Set<UInt32> = [], callButton line: GPIOLine? = nil) {
    self.callKeys = callKeys
    epoll = Wayland.Descriptor(owning: linux_epoll_create())
    guard epoll.number >= 0, let udev = unsafe udev_new() else {
      preconditionFailure("the machine has room for one more descriptor when the stage starts")
    }
    unsafe self.udev = udev
    descriptor = epoll.number
    button = line.map { [epoll] in GPIOButton($0, epoll: epoll.number) }
    unsafe interface = .allocate(capacity: 1)
    unsafe interface.initialize(
      to: libinput_interface(
        open_restricted: { path, flags, devices in
          guard let path = unsafe path, let devices = unsafe devices else { return -EINVAL }
          return unsafe Unmanaged<InputDevices>.fromOpaque(devices).takeUnretainedValue().open(String(cString: path), flags)
        }, close_restricted: { number, _ in Glibc.close(number) }))
  }

  deinit {
    if let context = unsafe context { _ = unsafe libinput_unref(context) }
    _ = unsafe udev_unref(udev)
    unsafe interface.deinitialize(count: 1)
    unsafe interface.deallocate()
  }

  /// What was ignored or failed, by a stable name. From any thread.
  public var counters: Counters { counts.withLock { $0 } }

  private func count(_ name: String) { counts.withLock { $0.count(name) } }

  /// When to call `dispatch` next, even when the descriptor is not readable.
  package var deadline: Instant? {
    guard let retryAt else { return button?.deadline }
    return button?.deadline.map { min($0, retryAt) } ?? retryAt
  }

  /// Appends what devices have reported since the last call, without waiting.
  package func dispatch(now: Instant, into events: inout [DeviceEvent]) {
    if let retryAt, now >= retryAt { retry(now) }
    if let context = unsafe context {
      let status = unsafe libinput_dispatch(context)
      take(from: unsafe context, into: &events)
      if status < 0, status != -EAGAIN, status != -EINTR { end(status, now, into: &events) }
      // Devices that were refused meanwhile.
      if !denied.isEmpty, retryAt == nil { retryAt = now + InputDevices.retryPause }
    }
    button?.dispatch(now: now) { isPressed in
      events.append(DeviceEvent(device: InputDevices.buttonDevice, .callButton(isPressed: isPressed)))
    }
  }

  private func take(from context: OpaquePointer, into events: inout [DeviceEvent]) {
    while let event = unsafe libinput_get_event(context) {
      defer { unsafe libinput_event_destroy(event) }
      guard let device = unsafe libinput_event_get_device(event) else { continue }
      switch unsafe libinput_event_get_type(event) {
      case LIBINPUT_EVENT_DEVICE_ADDED: add(unsafe device, into: &events)
      case LIBINPUT_EVENT_DEVICE_REMOVED: remove(unsafe device, into: &events)
      default:
        let kind = LibinputEvent.kind(of: unsafe event)
        switch kind {
        case .known(let kind)?: events.append(DeviceEvent(device: number(of: unsafe device), kind))
        case .ignored(let name)?: count("input.ignored.\(name)")
        case nil: break
        }
      }
    }
  }

  // MARK: Devices

  private func number(of device: OpaquePointer) -> Int { unsafe Int(bitPattern: libinput_device_get_user_data(device)) }

  private func add(_ device: OpaquePointer, into events: inout [DeviceEvent]) {
    let number = nextDevice
    nextDevice += 1
    unsafe libinput_device_set_user_data(device, UnsafeMutableRawPointer(bitPattern: number))
    devices.insert(number)
    let capabilities = LibinputEvent.capabilities(of: unsafe device)
    // A pad is tapped as a screen is.
    if unsafe libinput_device_config_tap_get_finger_count(device) > 0 {
      _ = unsafe libinput_device_config_tap_set_enabled(device, LIBINPUT_CONFIG_TAP_ENABLED)
    }
    let parts = [
      (capabilities.isKeyboard, "keyboard"), (capabilities.isPointer, "pointer"), (capabilities.isTouchScreen, "touch screen"),
    ]
    let names = parts.filter(\.0).map(\.1)
    Log.info("input device \(name(of: unsafe device)): \(names.isEmpty ? "keys" : names.joined(separator: ", "))")
    events.append(DeviceEvent(device: number, .added(capabilities)))
  }

  private func remove(_ device: OpaquePointer, into events: inout [DeviceEvent]) {
    let number = number(of: unsafe device)
    guard devices.remove(number) != nil else { return }
    Log.info("input device \(name(of: unsafe device)) is gone")
    events.append(DeviceEvent(device: number, .removed))
  }

  private func name(of device: OpaquePointer) -> String {
    unsafe libinput_device_get_name(device).map { unsafe String(cString: $0) } ?? "without a name"
  }

  /// Opens a device for libinput. Returns a descriptor or a negated error.
  private func open(_ path: String, _ flags: Int32) -> Int32 {
    let number = Glibc.open(path, flags | O_CLOEXEC)
    guard number < 0 else {
      denied.remove(path)
      return number
    }
    let code = errno
    count("input.unopened")
    if code != EACCES && code != EPERM {
      Log.warning("\(path): \(unsafe String(cString: strerror(code)))")
    } else if denied.insert(path).inserted {
      Log.warning("\(path) may not be opened by this user: input devices belong to the group input. It is tried again")
    }
    return -code
  }

  // MARK: libinput itself

  /// Starts libinput, or has it look at its devices again.
  private func retry(_ now: Instant) {
    retryAt = nil
    if let context = unsafe context {
      let known = denied
      denied = known.filter { access($0, F_OK) == 0 }
      if denied.contains(where: { access($0, R_OK | W_OK) == 0 }), !isSuspended {
        // libinput opens a device when it sees it for the first time, and there is no other way to have it try again.
        unsafe libinput_suspend(context)
        _ = unsafe libinput_resume(context)
      }
      if !denied.isEmpty { retryAt = now + InputDevices.retryPause }
      return
    }
    // Without udev's database libinput takes no device for one.
    guard access("/run/udev/control", F_OK) == 0 else {
      if !toldOfUdev { Log.warning("udev does not run: touch screens, pointers and keyboards are not used until it does") }
      toldOfUdev = true
      retryAt = now + InputDevices.retryPause
      return
    }
    guard start() else {
      count("input.failed")
      Log.error("libinput does not start; it is tried again")
      retryAt = now + InputDevices.retryPause
      return
    }
  }

  private func start() -> Bool {
    let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
    guard let context = unsafe libinput_udev_create_context(interface, owner, udev) else { return false }
    unsafe libinput_log_set_priority(context, LIBINPUT_LOG_PRIORITY_ERROR)
    unsafe libinput_log_set_handler(context) { _, _, format, arguments in
      guard let format = unsafe format, let arguments = unsafe arguments else { return }
      let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { text in
        unsafe text.initialize(repeating: 0)
        unsafe vsnprintf(text.baseAddress!, text.count, format, arguments)
        return unsafe String(cString: text.baseAddress!)
      }
      Log.warning("libinput: " + String(text.reversed().drop { $0.isNewline }.reversed()))
    }
    let number = unsafe libinput_get_fd(context)
    guard unsafe libinput_udev_assign_seat(context, "seat0") == 0,
      linux_epoll_set(epoll.number, number, UInt32(linux_readable), UInt64(number), true) == 0
    else {
      _ = unsafe libinput_unref(context)
      return false
    }
    if isSuspended { unsafe libinput_suspend(context) }
    unsafe self.context = context
    return true
  }

  /// libinput itself has failed: all devices are gone until it runs again.
  private func end(_ status: Int32, _ now: Instant, into events: inout [DeviceEvent]) {
    count("input.failed")
    Log.error("libinput: \(unsafe String(cString: strerror(-status))); it is started again")
    if let context = unsafe context { _ = unsafe libinput_unref(context) }
    unsafe context = nil
    for device in devices.sorted() { events.append(DeviceEvent(device: device, .removed)) }
    devices.removeAll()
    retryAt = now + InputDevices.retryPause
  }

  /// Lets go of all devices, as when the screen belongs to somebody else for a while. What is down is released with the next `dispatch`.
  package func suspend() {
    guard !isSuspended else { return }
    isSuspended = true
    if let context = unsafe context { unsafe libinput_suspend(context) }
  }

  /// Takes the devices back.
  package func resume() {
    guard isSuspended else { return }
    isSuspended = false
    if let context = unsafe context, unsafe libinput_resume(context) != 0 {
      count("input.failed")
      Log.error("libinput does not resume; it is started again")
      _ = unsafe libinput_unref(context)
      (unsafe self.context, retryAt) = (nil, .zero)
    }
  }
}
