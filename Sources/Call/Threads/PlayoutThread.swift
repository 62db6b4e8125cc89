import Base
import Frames
import Net
import Sound
import Synchronization

/// Every 10 ms takes a block from each thing that is heard, mixes them and hands the sum to where it is played.
public final class PlayoutThread: Sendable {
  /// Gives the next 10 ms, on the playout thread.
  public typealias Inlet = @Sendable (_ now: Instant) -> AudioBlock

  private struct Source: Sendable {
    var identifier: Int
    var inlet: Inlet
  }

  private let sources = Guarded<(list: [Source], next: Int)>(([], 0))
  /// A factor's bits.
  private let gain = Atomic(Double(1).bitPattern)
  private let wake = WakeSignal()
  private let played = Atomic(0)
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// Starts playing. `output` gets each mixed block, on the thread.
  public init(channelCount: Int = 1, output: @escaping @Sendable (AudioBlock, Instant) -> Void) {
    thread.with {
      $0 = WorkerThread(name: "parlor-playout", realtimePriority: 10) { [unowned self] thread in
        let start = MonotonicClock.now()
        var index: Int64 = 0
        var before = Double(bitPattern: gain.load(ordering: .relaxed))
        while !thread.isStopping {
          let due = start + .milliseconds(10) * index
          if MonotonicClock.now() < due {
            wake.wait(until: due)
            continue
          }
          let blocks = sources.with { $0.list }.map { $0.inlet(due) }
          played.add(1, ordering: .relaxed)
          let factor = Double(bitPattern: gain.load(ordering: .relaxed))
          output(AudioBlock.mixed(blocks, channelCount: channelCount).scaled(from: before, to: factor), due)
          before = factor
          index += 1
        }
      }
    }
  }

  /// Adds something to be heard; returns what `remove` takes.
  public func add(_ inlet: @escaping Inlet) -> Int {
    sources.with { sources in
      sources.next += 1
      sources.list.append(Source(identifier: sources.next, inlet: inlet))
      return sources.next
    }
  }

  /// Ends what `add` began.
  public func remove(_ identifier: Int) { sources.with { $0.list.removeAll { $0.identifier == identifier } } }

  /// How many blocks were played so far.
  var blockCount: Int { played.load(ordering: .relaxed) }

  /// Makes everything quieter by a factor: 0 is silent, 1 as received.
  public func setGain(_ factor: Double) { gain.store(min(max(factor, 0), 1).bitPattern, ordering: .relaxed) }

  /// Ends the thread.
  public func stop() { thread.with { $0 }?.stop(waking: wake) }
}
