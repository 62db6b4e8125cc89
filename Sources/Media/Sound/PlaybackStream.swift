import Base
import Frames
import Glibc

/// Sound to a loudspeaker, in blocks of 10 ms at 48 kHz of the machine's monotonic clock.
///
/// A block is due every 10 ms, `phase` after a multiple of 10 ms since the clock's origin, whatever the card's rate is and however its
/// clock runs. Capture streams have their blocks whole just after such a multiple, so a block that goes straight through waits for `phase`
/// at most. One thread uses a stream; another may have made it. Once made it neither allocates nor locks, and only `wait` blocks.
///
/// **Delay.** From `write` to the loudspeaker: what `LatencyTuner` keeps in the ring (10 ms to begin with, whatever the ring holds) and
/// 0.42 ms of the rate converter; the device's own delay comes on top (nothing in snd-aloop, 1 to 5 ms over USB). With a `CaptureStream`,
/// from sound to sound: 10 ms that a block lasts, up to 5.5 ms until it is read, the rest of `phase` for the processing, and the ring:
/// 10 + 8 + 10.5 = 28.5 ms on snd-aloop.
public final class PlaybackStream {
  /// Channels of the blocks: 1 or 2.
  public let channelCount: Int
  /// The device's name.
  public var label: String { pcm.label }
  /// What the device was set to.
  public var configuration: PCMConfiguration { pcm.configuration }
  /// The device's clock against the machine's.
  public private(set) var clock: ClockLock
  /// How much is kept in the ring.
  public private(set) var tuner: LatencyTuner

  private let pcm: any PCM
  private let converter: RateConverter
  private let grid: BlockGrid
  private let input: UnsafeMutableBufferPointer<Float>
  private let output: UnsafeMutableBufferPointer<Float>
  private let outputCapacity: Int
  /// Frames as the device stores them.
  private let raw: UnsafeMutableRawBufferPointer
  /// Device frames written since it was started.
  private var written = 0
  /// Samples given to the converter since it was reset, and which of them the next device frame is made of.
  private var fed = 0
  private var position = 0.0
  private var isRunning = false
  /// Whether the device ran empty in the middle of a block, the rest of which is lost.
  private var isEmptied = false
  /// Whether the clock has seen more than the moment of starting.
  private var isObserved = false
  private var blockIndex: Int64?
  /// Seconds of silence that are played first, for cards that take them out of the ring at once. What they leave is left out of the sound afterwards.
  private let startReserve: Double
  /// How long after it was due the block came.
  private var lateness = Interval.zero
  private var ownUpdate = Instant.zero
  private var lastInterrupt = Instant.zero
  private var lastProgress = Instant.zero
  private var lastConsumed = 0
  /// What the device has beside the ring, in frames.
  private var outside = 0.0
  private var counted = StreamFigures()

  /// A stream to an open device. Blocks are due `phase` after the multiples of 10 ms.
  public convenience init(_ pcm: any PCM, channelCount: Int = 1, phase: Interval = .milliseconds(8)) throws(SoundError) {
    try self.init(pcm, channelCount: channelCount, phase: phase, quality: .sinc)
  }

  init(_ pcm: any PCM, channelCount: Int, phase: Interval, quality: RateConverter.Quality) throws(SoundError) {
    precondition((1...2).contains(channelCount), "sound has one or two channels")
    precondition(pcm.direction == .playback, "a microphone plays nothing")
    let configuration = pcm.configuration
    self.pcm = pcm
    self.channelCount = channelCount
    grid = BlockGrid(phase: phase)
    converter = try RateConverter(channelCount: channelCount, quality: quality)
    clock = ClockLock(nominalRate: configuration.rate)
    let room = configuration.duration(of: configuration.bufferFrames) - BlockGrid.blockTime - BlockGrid.blockTime
    // A pointer that moves in whole transfers needs one of them more.
    let least = .milliseconds(6) + (configuration.isBatch ? configuration.duration(of: configuration.periodFrames) : .zero)
    tuner = LatencyTuner(
      base: least + .milliseconds(4), floor: min(least, room), ceiling: max(min(least, room), min(.milliseconds(80), room)))
    startReserve = configuration.isBatch ? 0.02 : 0
    outputCapacity = configuration.rate / 50 + 64
    input = .allocate(capacity: AudioBlock.sampleCount * channelCount)
    output = .allocate(capacity: outputCapacity * channelCount)
    raw = .allocate(byteCount: outputCapacity * configuration.frameSize, alignment: 16)
    unsafe input.initialize(repeating: 0)
    unsafe output.initialize(repeating: 0)
    unsafe raw.initializeMemory(as: UInt8.self, repeating: 0)
    counted.period = configuration.duration(of: configuration.periodFrames).milliseconds
    counted.buffer = configuration.duration(of: configuration.bufferFrames).milliseconds
  }

  deinit {
    unsafe input.deallocate()
    unsafe output.deallocate()
    unsafe raw.deallocate()
  }

  /// What was counted and measured so far.
  public var figures: StreamFigures {
    var figures = counted
    figures.drift = clock.drift
    return figures
  }

  /// When the next block is due.
  public func nextBlockTime(now: Instant) -> Instant { grid.start(of: currentIndex(now)) }

  /// Whether a block is due.
  public func needsBlock(now: Instant) -> Bool { now >= nextBlockTime(now: now) }

  /// Sleeps until the next block is due, the device has an error, or `limit`.
  public func wait(until limit: Instant, now: Instant) { pcm.wait(until: min(limit, nextBlockTime(now: now))) }

  /// Plays the block that is due: `480 * channelCount` samples. Starts the device the first time. Returns when the block's first sample
  /// will be heard. An xrun is made good here and counted.
  public func write(_ block: UnsafeBufferPointer<Int16>, now: Instant) throws(SoundError) -> Instant {
    precondition(block.count >= AudioBlock.sampleCount * channelCount, "a block is 10 ms")
    let due = grid.start(of: currentIndex(now))
    blockIndex! += 1
    isEmptied = false
    lateness = now - due
    if isRunning { try look(now) } else { try makeReady(after: 0, now: now) }

    // The device frame that this block begins with, and the one that it should begin with.
    let step = clock.rate / Double(AudioBlock.sampleRate)
    var first = Double(written) + (Double(fed) - position) * step
    let error = (clock.position(at: due) - first) / clock.rate + tuner.target.seconds
    var correction = ClockFollowing.correction(error)
    var skipped = 0
    if abs(error) > ClockFollowing.jump || !isRunning {
      correction = 1
      if error > 0 {
        let silence = Int((isRunning ? error : error + startReserve) * clock.rate)
        try putSilence(silence, now: now)
        if isRunning { counted.insertedFrames += Int(Double(silence) / step) }
        first += Double(silence)
      } else {
        skipped = min(AudioBlock.sampleCount, Int(-error * Double(AudioBlock.sampleRate)))
        counted.discardedFrames += skipped
      }
    }
    let starts = !isRunning
    try play(block, from: skipped, ratio: step * correction, now: now)
    // Of a block that came too late there may be nothing left to start with.
    if starts, !isEmptied, written > 0 {
      let started = pcm.start()
      guard started >= 0 else { throw pcm.failure(started, "start") }
      isRunning = true
    }
    let time = clock.time(of: first - Double(skipped) * step + outside)
    counted.delay = (time - now).milliseconds
    return time
  }

  private func currentIndex(_ now: Instant) -> Int64 {
    let next = grid.firstIndex(from: now)
    // Whoever slept through several blocks goes on with the newest.
    let index = if let blockIndex, next - blockIndex <= PlaybackStream.greatestLateness { blockIndex } else { next }
    blockIndex = index
    return index
  }
  private static let greatestLateness: Int64 = 10

  /// Looks at the device's pointer, before a block.
  private func look(_ now: Instant) throws(SoundError) {
    let buffer = pcm.configuration.bufferFrames
    let update = pcm.lastUpdate()
    if update.time != ownUpdate, update.available <= buffer {
      // The kernel's own look at the pointer, in the interrupt that moved it: better than any that is made in between.
      observe(written - buffer + update.available, update.time)
      lastInterrupt = update.time
    }
    let available = pcm.available()
    guard available >= 0 else { return try recover(Int32(available), now: now) }
    let asked = pcm.lastUpdate()
    let fill = buffer - available
    if asked.time - lastInterrupt > ClockFollowing.interruptPatience { observe(written - fill, asked.time) }
    ownUpdate = asked.time
    if written - fill != lastConsumed { (lastConsumed, lastProgress) = (written - fill, now) }
    if now - lastProgress > ClockFollowing.stall {
      throw .stalled(device: label, milliseconds: Int((now - lastProgress).milliseconds))
    }
    let time = pcm.configuration.duration(of: fill)
    counted.fill = time.milliseconds
    tuner.observe(fill: time, at: now)
    let delay = pcm.delay()
    if delay >= fill { outside += (Double(delay - fill) - outside) / 16 }
  }

  private func observe(_ consumed: Int, _ time: Instant) {
    if !isObserved { clock.relock() }
    isObserved = true
    clock.observe(Int64(consumed), at: time)
  }

  /// Plays the block's samples from number `start` on.
  private func play(_ block: UnsafeBufferPointer<Int16>, from start: Int, ratio: Double, now: Instant) throws(SoundError) {
    unsafe SampleFormat.int16.load(
      UnsafeRawPointer(block.baseAddress!), channels: channelCount, into: input.baseAddress!, channels: channelCount,
      frameCount: AudioBlock.sampleCount)
    var used = start
    while used < AudioBlock.sampleCount {
      let (taken, made) = unsafe converter.process(
        input.baseAddress! + used * channelCount, count: AudioBlock.sampleCount - used, into: output.baseAddress!, capacity: outputCapacity,
        ratio: ratio)
      used += taken
      fed += taken
      position += Double(made) / ratio
      let configuration = pcm.configuration
      unsafe configuration.format.store(
        output.baseAddress!, channels: channelCount, into: raw.baseAddress!, channels: configuration.channelCount, frameCount: made)
      try put(made, now: now)
    }
  }

  private func putSilence(_ count: Int, now: Instant) throws(SoundError) {
    var rest = count
    unsafe memset(raw.baseAddress!, 0, raw.count)
    while rest > 0 {
      try put(min(rest, outputCapacity), now: now)
      rest -= outputCapacity
    }
  }

  /// Writes the first `count` raw frames.
  private func put(_ count: Int, now: Instant) throws(SoundError) {
    guard count > 0, !isEmptied else { return }
    let taken = unsafe pcm.write(raw.baseAddress!, count: count)
    if taken == PCMError.wouldBlock {
      counted.discardedFrames += count * AudioBlock.sampleRate / configuration.rate
    } else if taken < 0 {
      // It ran empty since it was looked at: the next block starts it anew.
      try recover(Int32(taken), now: now)
      isEmptied = true
    } else {
      written += taken
      counted.frames += taken
      counted.discardedFrames += (count - taken) * AudioBlock.sampleRate / configuration.rate
      ownUpdate = pcm.lastUpdate().time
    }
  }

  private func recover(_ error: Int32, now: Instant) throws(SoundError) {
    guard PCMError.isRecoverable(error) else { throw pcm.failure(error, "play") }
    if error == PCMError.xrun {
      counted.xruns += 1
      tuner.xrun(at: now, lateness: lateness)
    }
    try makeReady(after: error, now: now)
  }

  /// Leaves the device ready to be filled and started.
  private func makeReady(after error: Int32, now: Instant) throws(SoundError) {
    let ready = pcm.recover(from: error)
    guard ready >= 0 else { throw pcm.failure(ready, "prepare") }
    clock.relock()
    // Until the device tells more: it plays from now on.
    clock.observe(0, at: now)
    (written, lastConsumed, isRunning, isObserved) = (0, 0, false, false)
    ownUpdate = pcm.lastUpdate().time
    (lastInterrupt, lastProgress) = (now, now)
  }
}
