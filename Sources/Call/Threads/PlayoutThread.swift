import Base
import Frames
import Glibc
import Net
import Sound
import Synchronization

/// Plays what is heard: every 10 ms takes a block from each source, mixes them, and hands the sum to where it is played.
///
/// Its thread is a real-time one, which neither allocates nor locks nor waits for anything but the time of the next block. Sources reach it through
/// a ring; what others want of its sound is given to them by the thread behind it.
public final class PlayoutThread: Sendable {
  /// A source while it is played.
  private final class Entry: @unchecked Sendable {
    // Unchecked: `gain` belongs to the playout thread.
    let identifier: Int
    let source: any PlayoutSource
    let sound: PlayedSound
    var gain: Float
    init(_ identifier: Int, _ source: any PlayoutSource, _ sound: PlayedSound) {
      (self.identifier, self.source, self.sound, gain) = (identifier, source, sound, Float(sound.gainNow))
    }
  }

  private struct Command: BitwiseCopyable {
    var isAdded: Bool
    var entry: UnsafeRawPointer
  }

  private struct Known {
    var entries: [Int: Entry] = [:]
    var next = 1
    var isStopped = false
  }

  /// Sources that are heard at a time; more are not.
  private static let capacity = 256

  /// What the thread measures of its sound.
  public struct Figures: Sendable, BitwiseCopyable {
    /// The device's counts; nothing while there is none.
    public var stream = StreamFigures()
    /// The loudest sample of the last block, 0 to 1.
    public var peak = 0.0
    /// Seconds from each sample's block to when it was heard, added up over all samples (W3C `totalPlayoutDelay`).
    public var totalDelay = 0.0
  }

  /// How the loudspeaker stands.
  public let watch: DeviceWatch
  /// What is played, for the echo canceller of a microphone.
  public let reference = ReferenceFeed()
  private let known = Guarded(Known())
  private let commands: SlotRing<Command>
  /// What the thread has let go of, for others to free.
  private let retired: SlotRing<Command>
  private let gain = Atomic(Double(1).bitPattern)
  private let played = Atomic(0)
  private let published = LatestValue(Figures())
  private let delivery: BlockDelivery
  private let keeper: SoundKeeper<PlaybackStream>?
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// Starts playing without a device. `output` gets each mixed block, on the thread behind the playout thread.
  public convenience init(channelCount: Int = 1, output: (@Sendable (AudioBlock, Instant) -> Void)? = nil) {
    self.init(channelCount: channelCount, watch: DeviceWatch(.running(name: "none")), keeper: nil, output: output)
  }

  /// Starts playing on the loudspeaker that `selection` means, whenever it is there. Meanwhile nothing is heard, and all goes on.
  public convenience init(selection: SoundSelection) {
    self.init { () throws(SoundError) in
      let device = try SoundCards.open(selection, direction: .playback, channelCount: 2)
      return .init(try PlaybackStream(device, channelCount: 2), label: device.label, cardNumber: device.cardNumber)
    } bestCard: {
      selection.candidates(among: SoundCards.devices(.playback)).first?.cardNumber
    }
  }

  /// Starts playing on what `open` finds: streams of two channels.
  package convenience init(open: @escaping SoundKeeper<PlaybackStream>.Opener, bestCard: @escaping @Sendable () -> Int? = { nil }) {
    let watch = DeviceWatch()
    self.init(
      channelCount: 2, watch: watch, keeper: SoundKeeper(.playback, watch: watch, open: open, bestCard: bestCard), output: nil)
  }

  private init(
    channelCount: Int, watch: DeviceWatch, keeper: SoundKeeper<PlaybackStream>?, output: (@Sendable (AudioBlock, Instant) -> Void)?
  ) {
    (self.watch, self.keeper) = (watch, keeper)
    let nothing = Command(isAdded: false, entry: UnsafeRawPointer(bitPattern: 1)!)
    let retired = SlotRing(capacity: 2 * PlayoutThread.capacity, of: nothing)
    commands = SlotRing(capacity: PlayoutThread.capacity, of: nothing)
    self.retired = retired
    let known = self.known
    delivery = BlockDelivery(name: "parlor-sound-out") { tag, block in
      if tag == 0 {
        var played = block
        played.captureTime = nil
        output?(played, block.captureTime ?? .zero)
      } else {
        known.with { $0.entries[tag]?.sound }?.sound.put(block)
      }
    } tidy: {
      while retired.take({ unsafe Unmanaged<Entry>.fromOpaque($0.pointee.entry).release() }) {}
    }
    let isHeard = output != nil
    thread.with {
      $0 = WorkerThread(name: "parlor-playout", realtimePriority: 10) { [unowned self] thread in
        run(Play(channelCount: channelCount, isHeard: isHeard), thread)
      }
    }
  }

  // MARK: On the thread

  private func run(_ start: consuming Play, _ thread: WorkerThread) {
    var play = start
    var pace = MonotonicClock.now()
    while !thread.isStopping {
      if let next = keeper?.take() {
        if let old = play.stream.take() { keeper?.giveBack(old) }
        play.stream = next
      }
      guard let stream = play.stream else {
        // Nobody hears it, but time goes on for what is played.
        let now = MonotonicClock.now()
        pace = now - pace > .milliseconds(100) ? now : pace + .milliseconds(10)
        MonotonicClock.sleep(until: pace)
        block(&play, at: pace, delay: .zero)
        continue
      }
      let now = MonotonicClock.now()
      guard stream.needsBlock(now: now) else {
        stream.wait(until: now + .milliseconds(20), now: now)
        continue
      }
      pace = stream.nextBlockTime(now: now)
      block(&play, at: pace, delay: play.delay)
      do throws(SoundError) {
        let count = AudioBlock.sampleCount * play.mixer.channelCount
        let heard = try unsafe stream.write(UnsafeBufferPointer(start: play.samples, count: count), now: MonotonicClock.now())
        unsafe reference.put(play.samples, channelCount: play.mixer.channelCount, heardAt: heard)
        play.delay = heard - pace
        play.figures.totalDelay += play.delay.seconds * Double(AudioBlock.sampleCount)
        play.figures.stream = stream.figures
      } catch {
        play.figures.stream = StreamFigures()
        if let lost = play.stream.take() { keeper?.giveBack(lost, error) }
      }
    }
    play.releaseAll()
  }

  /// What the thread holds.
  private struct Play: ~Copyable {
    let entries = UnsafeMutablePointer<Unmanaged<Entry>>.allocate(capacity: PlayoutThread.capacity)
    var count = 0
    let samples = UnsafeMutablePointer<Int16>.allocate(capacity: 2 * AudioBlock.sampleCount)
    var mixer: BlockMixer
    var gain: Float = 1
    let isHeard: Bool
    var stream: PlaybackStream?
    /// From a block's time to when its first sample is heard, by the last one.
    var delay = Interval.zero
    var figures = Figures()

    init(channelCount: Int, isHeard: Bool) {
      mixer = BlockMixer(channelCount: channelCount)
      self.isHeard = isHeard
      unsafe samples.initialize(repeating: 0, count: 2 * AudioBlock.sampleCount)
    }

    mutating func releaseAll() {
      for index in 0..<count { unsafe entries[index].release() }
      count = 0
    }

    deinit {
      unsafe entries.deallocate()
      unsafe samples.deallocate()
    }
  }

  /// Makes and hands on the block of `now`, on the playout thread.
  private func block(_ play: inout Play, at now: Instant, delay: Interval) {
    while commands.take({ unsafe follow($0.pointee, &play) }) {}
    play.mixer.clear()
    for index in 0..<play.count {
      unsafe play.entries[index]._withUnsafeGuaranteedRef { entry in
        let wanted = Float(entry.sound.gainNow)
        defer { entry.gain = wanted }
        guard unsafe entry.source.fill(play.samples, now: now, delay: delay) else { return }
        let channelCount = entry.source.channelCount
        if entry.sound.isTapped { deliver(play.samples, channelCount, at: now, under: entry.identifier) }
        if wanted != 0 || entry.gain != 0 { unsafe play.mixer.add(play.samples, channelCount: channelCount, from: entry.gain, to: wanted) }
      }
    }
    let wanted = Float(Double(bitPattern: gain.load(ordering: .relaxed)))
    unsafe play.mixer.write(to: play.samples, from: play.gain, to: wanted)
    play.gain = wanted
    played.add(1, ordering: .relaxed)
    play.figures.peak = unsafe SoundVariants.peak(play.samples, AudioBlock.sampleCount * play.mixer.channelCount)
    published.set(play.figures)
    if play.isHeard { unsafe deliver(play.samples, play.mixer.channelCount, at: now, under: 0) }
  }

  private func follow(_ command: Command, _ play: inout Play) {
    if command.isAdded {
      guard play.count < PlayoutThread.capacity else { return retire(command) }
      unsafe (play.entries + play.count).initialize(to: Unmanaged<Entry>.fromOpaque(command.entry))
      play.count += 1
    } else {
      for index in 0..<play.count where unsafe play.entries[index].toOpaque() == command.entry {
        // Its place is taken by the last one.
        play.count -= 1
        unsafe play.entries[index] = play.entries[play.count]
        return retire(command)
      }
    }
  }

  private func retire(_ command: Command) {
    retired.put { unsafe $0.pointee = command }
    delivery.wake()
  }

  private func deliver(_ samples: UnsafePointer<Int16>, _ channelCount: Int, at now: Instant, under tag: Int) {
    delivery.put { slot in
      unsafe (slot.pointee.time, slot.pointee.channelCount, slot.pointee.tag) = (now.nanoseconds, channelCount, tag)
      unsafe AudioSlot.samples(of: slot).update(from: samples, count: AudioBlock.sampleCount * channelCount)
    }
  }

  // MARK: From any thread

  /// Plays `source` as `sound` says; returns what `remove` takes.
  public func add(_ source: any PlayoutSource, as sound: PlayedSound) -> Int {
    known.with { known in
      let entry = Entry(known.next, source, sound)
      known.next += 1
      guard !known.isStopped else { return entry.identifier }
      known.entries[entry.identifier] = entry
      send(Command(isAdded: true, entry: unsafe UnsafeRawPointer(Unmanaged.passRetained(entry).toOpaque())))
      return entry.identifier
    }
  }

  /// Ends what `add` began. The source is asked for one more block at most.
  public func remove(_ identifier: Int) {
    known.with { known in
      guard let entry = known.entries.removeValue(forKey: identifier), !known.isStopped else { return }
      send(Command(isAdded: false, entry: unsafe UnsafeRawPointer(Unmanaged.passUnretained(entry).toOpaque())))
    }
  }

  /// One at a time. The thread makes room every 10 ms.
  private func send(_ command: Command) {
    while !commands.put({ unsafe $0.pointee = command }) { usleep(2_000) }
  }

  /// What the thread measures of its sound.
  public var figures: Figures { published.value }

  /// How many blocks were played so far.
  var blockCount: Int { played.load(ordering: .relaxed) }

  /// Makes everything quieter by a factor: 0 is silent, 1 as received.
  public func setGain(_ factor: Double) { gain.store(min(max(factor, 0), 1).bitPattern, ordering: .relaxed) }

  /// Ends the threads.
  public func stop() {
    let isFirst = known.with { known in
      defer { known.isStopped = true }
      return !known.isStopped
    }
    guard isFirst else { return }
    thread.with { $0 }?.stop()
    keeper?.stop()
    delivery.stop()
    while commands.take({ command in
      if unsafe command.pointee.isAdded { unsafe Unmanaged<Entry>.fromOpaque(command.pointee.entry).release() }
    }) {}
    while retired.take({ unsafe Unmanaged<Entry>.fromOpaque($0.pointee.entry).release() }) {}
  }
}
