import Base
import CLinux
import Frames
import Glibc
import Net
import Sound
import Synchronization

/// Finds the sound device of one direction, opens it for a real-time thread, and finds it again when it was lost: on a thread of its own, since opening
/// takes its time.
///
/// A stream changes hands through one pointer. The real-time thread looks for it with each block, and gives back what it has no more use for.
package final class SoundKeeper<Stream: AnyObject>: Sendable {
  /// A device that was opened.
  package struct Found {
    package var stream: Stream
    /// What people call it.
    package var label: String
    /// Its card's number; nil for what lies behind several or none.
    package var cardNumber: Int?

    package init(_ stream: Stream, label: String, cardNumber: Int?) {
      (self.stream, self.label, self.cardNumber) = (stream, label, cardNumber)
    }
  }

  /// Opens the device that is wanted.
  package typealias Opener = @Sendable () throws(SoundError) -> Found

  /// What the real-time thread gave back, and why.
  private struct Returned: @unchecked Sendable {
    // Unchecked: the thread that gave the stream back has no hold of it.
    var streams: [(stream: Stream, error: SoundError?)] = []
  }

  private let inbox = Atomic<UInt>(0)
  private let returned = Guarded(Returned())
  private let event = EventDescriptor()
  private let watch: DeviceWatch
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// Starts looking. `watch` is told how the device stands; `bestCard` says which card `open` would take first, if it is known.
  init(
    _ direction: SoundDirection, watch: DeviceWatch, open: @escaping Opener, bestCard: @escaping @Sendable () -> Int? = { nil }
  ) {
    self.watch = watch
    thread.with {
      $0 = WorkerThread(name: direction == .capture ? "parlor-find-mic" : "parlor-find-out") { [unowned self] thread in
        keep(direction, thread, open, bestCard)
      }
    }
  }

  // MARK: On the real-time thread

  /// A stream that is to be used from now on; nil: the one that there is, or none.
  func take() -> Stream? {
    guard inbox.load(ordering: .relaxed) != 0 else { return nil }
    let bits = inbox.exchange(0, ordering: .acquiring)
    return unsafe UnsafeRawPointer(bitPattern: bits).map { unsafe Unmanaged<Stream>.fromOpaque($0).takeRetainedValue() }
  }

  /// Gives a stream back: another one has taken its place, or it failed with `error`. This takes a lock and memory, once for each device that is lost.
  func giveBack(_ stream: Stream, _ error: SoundError? = nil) {
    let handover = Handover(stream)
    returned.with { $0.streams.append((handover.object, error)) }
    event.signal()
  }

  // MARK: On its own thread

  private func keep(_ direction: SoundDirection, _ thread: WorkerThread, _ open: Opener, _ bestCard: @Sendable () -> Int?) {
    let monitor = SoundCardMonitor()
    var current: (stream: ObjectIdentifier, card: Int?)?
    var attempt = Attempt()
    // The kernel tells of a card before anybody may open it: it is looked at for a while.
    var lookingUntil = Instant.zero
    while !thread.isStopping {
      // One that another has replaced may have failed meanwhile: that is no loss any more.
      let lost = returned.with { returned -> SoundError? in
        defer { returned = Returned() }
        return returned.streams.first { ObjectIdentifier($0.stream) == current?.stream }?.error
      }
      if let lost {
        Log.warning("\(lost)")
        watch.set(lost.deviceState)
        current = nil
        attempt.failed(now: MonotonicClock.now())
      }
      // A better one than is used may have come.
      let isLooking = MonotonicClock.now() < lookingUntil
      let best = isLooking && current != nil ? bestCard() : nil
      if current == nil ? attempt.isDue(now: MonotonicClock.now()) : best != nil && best != current?.card {
        do throws(SoundError) {
          let found = try open()
          // Nobody gives up a card that works for one that is no better.
          if current == nil || found.cardNumber == best {
            current = (ObjectIdentifier(found.stream), found.cardNumber)
            attempt = Attempt()
            Log.notice("\(direction.rawValue): \(found.label)")
            hand(over: found.stream)
            watch.set(.running(name: found.label))
          }
        } catch {
          if current == nil {
            attempt.failed(now: MonotonicClock.now())
            watch.set(error.deviceState)
          } else {
            Log.info("\(error)")
          }
        }
      }
      let pause = attempt.due.map { ($0 - MonotonicClock.now()).nanoseconds / 1_000_000 + 1 } ?? (isLooking ? 250 : 60_000)
      if event.wait(milliseconds: Int32(max(0, min(60_000, pause))), or: monitor.descriptor), monitor.dispatch() {
        // What failed before may work now.
        attempt = Attempt()
        lookingUntil = MonotonicClock.now() + .seconds(4)
      }
    }
  }

  private func hand(over stream: Stream) {
    let bits = UInt(bitPattern: unsafe Unmanaged.passRetained(stream).toOpaque())
    let unused = inbox.exchange(bits, ordering: .acquiringAndReleasing)
    release(unused)
  }

  private func release(_ bits: UInt) {
    if let pointer = unsafe UnsafeRawPointer(bitPattern: bits) { unsafe Unmanaged<Stream>.fromOpaque(pointer).release() }
  }

  /// Ends the thread. The real-time thread must have ended before.
  func stop() {
    thread.with { $0 }?.askToStop()
    event.signal()
    thread.with { $0 }?.stop()
    release(inbox.exchange(0, ordering: .acquiring))
    returned.with { $0 = Returned() }
  }
}

/// When what failed is tried again: soon at first, since a card that has just come is not ready at once, then every two seconds, without end.
private struct Attempt {
  private var pause = Interval.milliseconds(125)
  private(set) var due: Instant?

  mutating func failed(now: Instant) {
    due = now + pause
    pause = min(.seconds(2), pause + pause)
  }

  func isDue(now: Instant) -> Bool { due.map { now >= $0 } ?? true }
}
