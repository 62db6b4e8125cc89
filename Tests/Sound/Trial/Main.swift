import Base
import CAllocations
import Call
import Frames
import Glibc
import Net
import Sound
import Synchronization

/// Runs the audio threads and counts what they allocate, free and lock, from their second second on. Ends with 1 if it is anything.
///
///     sound-trial [SECONDS]
@main struct Main {
  static func main() {
    let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 4
    let playout = ThreadCount()
    let received = HeardTone(counts: playout)
    let thread = PlayoutThread(channelCount: 2) { _, _ in }
    // Sources come and go while it is counted.
    let sounds = (0..<3).map { _ in PlayedSound() }
    var identifiers = sounds.map { thread.add(HeardTone(counts: nil), as: $0) }
    _ = thread.add(received, as: PlayedSound())
    let tap = sounds[0].sound.add { _ in }
    let end = MonotonicClock.now() + .seconds(seconds)
    while MonotonicClock.now() < end {
      usleep(100_000)
      thread.remove(identifiers[1])
      identifiers[1] = thread.add(HeardTone(counts: nil), as: sounds[1])
      sounds[2].setGain(0.5)
    }
    sounds[0].sound.remove(tap)
    thread.stop()
    exit(playout.report("playout") ? 0 : 1)
  }
}

/// What one thread allocated, freed and locked since it had settled.
final class ThreadCount: @unchecked Sendable {
  // Unchecked: written by one thread, read when that has ended.
  private struct Counts {
    var (allocations, frees, locks, waits) = (0, 0, 0, 0)

    static var now: Counts {
      Counts(
        allocations: Int(allocations_of_thread()), frees: Int(frees_of_thread()), locks: Int(locks_of_thread()),
        waits: Int(waits_of_thread()))
    }

    init(allocations: Int = 0, frees: Int = 0, locks: Int = 0, waits: Int = 0) {
      (self.allocations, self.frees, self.locks, self.waits) = (allocations, frees, locks, waits)
    }
  }

  private var blocks = 0
  private var first = Counts()
  private var last = Counts()

  /// To be called with each block, on the thread.
  func count() {
    blocks += 1
    if blocks == 100 { first = .now }
    if blocks >= 100 { last = .now }
  }

  /// Says what was counted; false if the thread did what it must not do.
  func report(_ name: String) -> Bool {
    let counted = blocks - 100
    let (allocations, frees, locks) = (last.allocations - first.allocations, last.frees - first.frees, last.locks - first.locks)
    print("\(name): \(counted) blocks, \(allocations) allocations, \(frees) frees, \(locks) locks, \(last.waits - first.waits) waits")
    // A thread that is woken early by its timer sleeps again.
    return counted > 100 && allocations == 0 && frees == 0 && locks == 0 && last.waits - first.waits <= counted * 11 / 10
  }
}

/// A tone.
final class HeardTone: PlayoutSource {
  let channelCount = 1
  private let counts: ThreadCount?

  init(counts: ThreadCount?) { self.counts = counts }

  func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
    counts?.count()
    for index in 0..<AudioBlock.sampleCount { unsafe samples[index] = Int16(index % 48 * 100) }
    return true
  }
}
