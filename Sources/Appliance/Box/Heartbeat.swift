import Base
import CLinux
import Dispatch
import Synchronization

/// Tells the service manager that the box is alive, as long as everybody whom it depends on answers. When somebody hangs it falls silent, and the box is started again.
final class Heartbeat: @unchecked Sendable {
  // Unchecked: the timer is made once and cancelled once, by whoever comes last; Dispatch guards the rest.

  /// Somebody who must answer: given something to call, calls it soon.
  struct Organ: Sendable {
    /// The name, for the log.
    var name: String
    /// Asks.
    var ask: @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void
  }

  private let organs: [Organ]
  private let beat: @Sendable () -> Void
  private let answered: Mutex<Set<String>>
  private let timer: any DispatchSourceTimer

  /// Asks all `organs` four times within `patience`, and calls `beat` when all of them have answered since it asked last.
  init(patience: Interval, organs: [Organ], beat: @escaping @Sendable () -> Void) {
    (self.organs, self.beat) = (organs, beat)
    answered = Mutex(Set(organs.map(\.name)))
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "heartbeat", qos: .userInitiated))
    timer.setEventHandler { [weak self] in self?.look() }
    let pause = DispatchTimeInterval.nanoseconds(Int(patience.nanoseconds / 4))
    timer.schedule(deadline: .now(), repeating: pause)
    timer.resume()
  }

  deinit { timer.cancel() }

  private func look() {
    let missing = answered.withLock { answered in
      defer { answered = [] }
      return organs.map(\.name).filter { !answered.contains($0) }
    }
    if missing.isEmpty { beat() } else { Log.error("no answer from: " + missing.joined(separator: ", ")) }
    for organ in organs {
      organ.ask { [weak self] in self?.answered.withLock { _ = $0.insert(organ.name) } }
    }
  }
}
