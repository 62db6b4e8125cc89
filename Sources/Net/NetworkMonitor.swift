import Base
import CLinux
import Glibc

/// Tells when the addresses of the machine change: a cable pulled, a lease renewed, Wi-Fi moved. Belongs to the loop's thread.
public final class NetworkMonitor {
  /// The addresses now.
  public private(set) var addresses: [InterfaceAddress]

  private let loop: EventLoop
  private let descriptor: Int32
  private let settling: Interval
  private let changed: ([InterfaceAddress]) -> Void
  private var registration: EventLoop.Registration?
  private var timer: TimerToken?
  private var isRunning = true

  /// Calls `changed` with the new addresses, after each change that has lasted for `settling`: changes come in bursts.
  public init(loop: EventLoop, settling: Interval = .milliseconds(200), changed: @escaping ([InterfaceAddress]) -> Void) throws(SystemError)
  {
    loop.checkIsolated()
    let descriptor = linux_route_monitor()
    guard descriptor >= 0 else { throw SystemError("open a route socket") }
    self.loop = loop
    self.descriptor = descriptor
    self.settling = settling
    self.changed = changed
    addresses = NetworkInterfaces.addresses()
    timer = loop.makeTimer { [weak self] in self?.compare() }
    registration = try loop.register(descriptor, for: .readable) { [weak self] _ in self?.drain() }
  }

  deinit { if isRunning && loop.isCurrent { stop() } else if isRunning { close(descriptor) } }

  /// Ends the watch.
  public func stop() {
    guard isRunning else { return }
    isRunning = false
    if let registration { loop.unregister(registration) }
    if let timer { loop.cancel(timer) }
    close(descriptor)
  }

  private func drain() {
    // The messages only say that something changed (or, by ENOBUFS, that some were lost): the list is read anew.
    var buffer = [UInt8](repeating: 0, count: 8192)
    while recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 || errno == EINTR || errno == ENOBUFS {}
    if let timer { loop.set(timer, to: MonotonicClock.now() + settling) }
  }

  private func compare() {
    let now = NetworkInterfaces.addresses()
    guard now != addresses else { return }
    addresses = now
    changed(now)
  }
}
