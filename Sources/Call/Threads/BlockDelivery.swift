import Base
import Frames
import Synchronization

/// The thread behind a real-time one: whatever takes time with sound, or may wait, is done here with what the other put into a ring. It comes after that one and
/// before all that is not sound, which would else keep sound waiting where processors are few.
final class BlockDelivery: Sendable {
  private let ring: SlotRing<AudioSlot>
  private let event = EventDescriptor()
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// A thread that gives each block to `deliver`, with the tag it was put under, and calls `tidy` whenever it woke.
  init(
    name: String, capacity: Int = 64, deliver: @escaping @Sendable (_ tag: Int, AudioBlock) -> Void,
    tidy: @escaping @Sendable () -> Void = {}
  ) {
    ring = SlotRing(capacity: capacity, of: AudioSlot())
    let (ring, event) = (self.ring, self.event)
    thread.with {
      $0 = WorkerThread(name: name, realtimePriority: 5) { thread in
        while !thread.isStopping {
          event.wait()
          var next: (tag: Int, block: AudioBlock)?
          repeat {
            next = nil
            // Out of the ring first: a slow taker must not hold the slot.
            ring.take { slot in next = unsafe (slot.pointee.tag, AudioSlot.block(in: slot)) }
            if let next { deliver(next.tag, next.block) }
          } while next != nil
          tidy()
        }
      }
    }
  }

  /// Puts a block in; `fill` writes its slot. From the real-time thread.
  func put(_ fill: (UnsafeMutablePointer<AudioSlot>) -> Void) {
    ring.put(fill)
    event.signal()
  }

  /// Has the thread look, without a block.
  func wake() { event.signal() }

  /// How many blocks found no room, because whoever takes them is too slow.
  var droppedCount: Int { ring.droppedCount }

  /// Ends the thread.
  func stop() {
    thread.with { $0 }?.askToStop()
    event.signal()
    thread.with { $0 }?.stop()
  }
}
