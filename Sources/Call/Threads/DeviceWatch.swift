import Base
import Frames

/// Tells how a device stands, and all who want to know when that changes. Usable from any thread.
public final class DeviceWatch: Sendable {
  /// Takes the new state, on the device's thread. Brief.
  public typealias Observer = @Sendable (DeviceState) -> Void

  private struct Watched {
    var state: DeviceState
    var observers: [(identifier: Int, observer: Observer)] = []
    var next = 1
  }

  private let watched: Guarded<Watched>

  /// A watch over a device in `state`.
  public init(_ state: DeviceState = .starting) { watched = Guarded(Watched(state: state)) }

  /// How the device stands now.
  public var state: DeviceState { watched.with { $0.state } }

  /// Has `observer` called with the state as it is, and whenever it changes; returns what `remove` takes.
  public func add(_ observer: @escaping Observer) -> Int {
    let (identifier, state) = watched.with { watched in
      defer { watched.next += 1 }
      watched.observers.append((watched.next, observer))
      return (watched.next, watched.state)
    }
    observer(state)
    return identifier
  }

  /// Ends what `add` began. News on their way may still arrive.
  public func remove(_ identifier: Int) { watched.with { $0.observers.removeAll { $0.identifier == identifier } } }

  /// Takes note of the state, from the thread that drives the device.
  public func set(_ state: DeviceState) {
    let observers = watched.with { watched -> [(identifier: Int, observer: Observer)] in
      guard watched.state != state else { return [] }
      watched.state = state
      return watched.observers
    }
    for entry in observers { entry.observer(state) }
  }
}
