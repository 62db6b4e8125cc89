import Base
import CLinux
import Glibc

/// Listens to a button on a GPIO line. A chip that is not there, or goes, is looked for again and again.
final class GPIOButton {
  private let line: GPIOLine
  /// Where the line's descriptor is waited for.
  private let epoll: Int32
  private var request: Wayland.Descriptor?
  private var filter = ContactFilter(isClosed: false, patience: .zero)
  private var retryAt: Instant? = .zero
  /// The trouble that was told last: each is told once.
  private var trouble: String?

  /// How long a contact may bounce.
  private static let bounce = Interval.milliseconds(30)
  private static let retryPause = Interval.seconds(5)

  init(_ line: GPIOLine, epoll: Int32) { (self.line, self.epoll) = (line, epoll) }

  /// When to call `dispatch` next, even when nothing is readable.
  var deadline: Instant? { retryAt ?? filter.deadline }

  /// Tells `changed` of each press (true) and release since the last call.
  func dispatch(now: Instant, changed: (Bool) -> Void) {
    if let retryAt, now >= retryAt { open(now) }
    guard let request else { return }
    var edge = linux_gpio_edge()
    while true {
      let count = unsafe linux_gpio_read(request.number, &edge)
      if count < 0 { return close("the line is lost: \(GPIOButton.reason(errno))", now) }
      if count == 0 { break }
      let time = Instant(nanoseconds: edge.nanoseconds)
      // Edges that are read late lie further apart than a bounce.
      if let isPressed = filter.advance(to: time) { changed(isPressed) }
      filter.edge(isClosed: edge.is_active, at: time)
    }
    if let isPressed = filter.advance(to: now) { changed(isPressed) }
  }

  private func open(_ now: Instant) {
    retryAt = now + GPIOButton.retryPause
    let chip = Wayland.Descriptor(owning: Glibc.open(line.chip, O_RDWR | O_CLOEXEC))
    guard chip.number >= 0 else { return tell(GPIOButton.reason(errno)) }
    let bias =
      switch line.bias {
      case .asIs: linux_gpio_bias_as_is
      case .pullUp: linux_gpio_bias_pull_up
      case .pullDown: linux_gpio_bias_pull_down
      case .off: linux_gpio_bias_off
      }
    func ask(_ debounce: Interval) -> Int32 {
      unsafe linux_gpio_request(
        chip.number, line.line, line.isActiveLow, bias, UInt32(debounce.nanoseconds / 1_000), "parlor call button")
    }
    // A kernel that keeps bounces away does it best; one that cannot says so.
    var (number, patience) = (ask(GPIOButton.bounce), Interval.zero)
    if number < 0, errno != EBUSY { (number, patience) = (ask(.zero), GPIOButton.bounce) }
    guard number >= 0 else { return tell(GPIOButton.reason(errno)) }
    let request = Wayland.Descriptor(owning: number)
    guard linux_epoll_set(epoll, number, UInt32(linux_readable), UInt64(number), true) == 0 else {
      return tell(GPIOButton.reason(errno))
    }
    filter = ContactFilter(isClosed: linux_gpio_value(number) == 1, patience: patience)
    (self.request, retryAt, trouble) = (request, nil, nil)
    Log.notice("the call button is line \(line.line) of \(line.chip)")
  }

  private func close(_ reason: String, _ now: Instant) {
    // Its descriptor leaves the wait with its end.
    request = nil
    filter = ContactFilter(isClosed: false, patience: .zero)
    retryAt = now + GPIOButton.retryPause
    tell(reason)
  }

  private func tell(_ reason: String) {
    guard reason != trouble else { return }
    trouble = reason
    Log.warning("the call button, line \(line.line) of \(line.chip): \(reason); it is tried again")
  }

  private static func reason(_ code: Int32) -> String {
    switch code {
    case EACCES, EPERM: "no permission; the chip's device has to belong to a group of this user"
    case EBUSY: "another program or driver has the line"
    case EINVAL: "the chip has no such line, or not with this bias"
    case ENOENT: "there is no such chip"
    case ENOTTY, ENODEV, ENXIO: "this is no GPIO chip"
    default: unsafe String(cString: strerror(code))
    }
  }
}
