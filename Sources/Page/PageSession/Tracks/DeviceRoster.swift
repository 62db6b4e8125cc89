import Base
import Call
import Frames
import Net

/// How the box's devices stand, for pages: which are there, what they are called, whether their tracks are muted. On the network thread alone.
///
/// A device that is lost and looked for again is as it was until that comes to something, so that pages are not told of each attempt.
final class DeviceRoster {
  /// One of the box's devices.
  enum Device: Hashable, Sendable {
    case camera(Int)
    case microphone
    case speaker
  }

  /// What pages are told of a device.
  struct Entry: Equatable {
    /// The last state that was more than an attempt.
    var state = DeviceState.starting
    /// What the device called itself last.
    var name: String?
    /// Whether it may be opened while it is away: it was here, or its owner said that it would be.
    var isExpected: Bool

    /// Whether it is there, or may well be.
    var isPresent: Bool { if case .absent = state { false } else { true } }
    var isMuted: Bool { !state.isRunning }
    /// Whether it is known what became of the first attempt.
    var isSettled: Bool { state != .starting }
  }

  /// How long pages that ask for devices wait for their first attempt at most.
  static let patience = Interval.seconds(5)

  private(set) var entries: [Device: Entry] = [:]
  private var watches: [(watch: DeviceWatch, identifier: Int)] = []
  private var waiting: [() -> Void] = []
  private var isPatient = true
  /// Told of each device whose entry changed, with what it was before.
  var onChange: (Device, Entry) -> Void = { _, _ in }

  /// Follows `media` from now on. `loop` is the one that this is made on.
  init(_ media: PageService.Media, loop: EventLoop) {
    for (index, camera) in media.cameras.enumerated() { follow(camera.watch, as: .camera(index), camera.isExpected, loop) }
    if let microphone = media.microphone { follow(microphone.watch, as: .microphone, microphone.isExpected, loop) }
    if let speaker = media.speaker { follow(speaker.watch, as: .speaker, false, loop) }
    guard !isSettled else { return }
    let weak = Reference(self)
    _ = loop.schedule(at: MonotonicClock.now() + DeviceRoster.patience) { weak.object?.goOn(isPatient: false) }
  }

  private func follow(_ watch: DeviceWatch, as device: Device, _ isExpected: Bool, _ loop: EventLoop) {
    entries[device] = Entry(isExpected: isExpected)
    take(watch.state, of: device)
    let weak = Reference(self)
    let identifier = watch.add { state in loop.run { weak.object?.take(state, of: device) } }
    watches.append((watch, identifier))
  }

  /// Ends following.
  func stop() {
    for (watch, identifier) in watches { watch.remove(identifier) }
    watches = []
  }

  private func take(_ state: DeviceState, of device: Device) {
    guard let before = entries[device], state != .starting else { return }
    var entry = before
    entry.state = state
    if case .running(let name) = state { (entry.name, entry.isExpected) = (name, true) }
    guard entry != before else { return }
    entries[device] = entry
    onChange(device, before)
    if isSettled { goOn(isPatient: false) }
  }

  private var isSettled: Bool { entries.values.allSatisfy(\.isSettled) }

  private func goOn(isPatient: Bool) {
    self.isPatient = isPatient
    let bodies = waiting
    waiting = []
    for body in bodies { body() }
  }

  /// Calls `body` once it is known which devices there are: at once, or within moments of the box's start.
  func whenSettled(_ body: @escaping () -> Void) {
    if !isPatient || isSettled { body() } else { waiting.append(body) }
  }

  subscript(_ device: Device) -> Entry { entries[device] ?? Entry(isExpected: false) }
}

/// The roster's own reference that keeps nothing alive; used on one thread.
private struct Reference: @unchecked Sendable {
  // Unchecked: carried through closures that run on the network thread, as all of the roster.
  weak var object: DeviceRoster?
  init(_ object: DeviceRoster) { self.object = object }
}
