import Base
import Frames
import Glibc

/// Sound from a microphone as blocks of 10 ms at 48 kHz of the machine's monotonic clock.
///
/// Block `n` holds what was captured from `n` times 10 ms after the clock's origin, whatever the card's rate is and however its clock runs.
/// One thread uses a stream; another may have made it. Once made it neither allocates nor locks, and only `wait` blocks.
///
/// **Delay.** A block is there when its last sample is: the 10 ms that it lasts, 0.42 ms of the rate converter (longer below 48 kHz: 21 of
/// the card's frames), and how long the card keeps a frame before its pointer moves: microseconds (HDA), 1 ms (USB), 4 ms (snd-aloop, which
/// counts jiffies). At most 15 ms on snd-aloop. The ring's size adds nothing.
public final class CaptureStream {
  /// How many blocks of silence stand for lost sound at most.
  private static let longestSilence: Int64 = 50

  /// Channels of the blocks: 1 or 2.
  public let channelCount: Int
  /// The device's name.
  public var label: String { pcm.label }
  /// What the device was set to.
  public var configuration: PCMConfiguration { pcm.configuration }
  /// The device's clock against the machine's.
  public private(set) var clock: ClockLock

  private let pcm: any PCM
  private let converter: RateConverter
  private let grid = BlockGrid()
  /// Frames as the device stores them.
  private let raw: UnsafeMutableRawBufferPointer
  private let rawCapacity: Int
  /// Frames of the device's rate that the converter has not had yet: positions `fed` to `read`.
  private let staged: UnsafeMutableBufferPointer<Float>
  private let stagedCapacity: Int
  private let output: UnsafeMutableBufferPointer<Float>
  private var outputCount = 0
  /// Device frames since it was started: read from the device, and given to the converter.
  private var read = 0
  private var fed = 0
  /// Where the next sample of the block comes from, in device frames.
  private var position = 0.0
  private var blockPosition = 0.0
  private var ratio = 1.0
  private var isAligned = false
  private var isRunning = false
  /// Whether there was a block: what comes before the first is not missed.
  private var hasBegun = false
  private var blockIndex: Int64?
  private var ownUpdate = Instant.zero
  private var lastInterrupt = Instant.zero
  private var lastProgress: Instant?
  private var lastRead = Instant.zero
  private var counted = StreamFigures()

  /// A stream from an open device.
  public convenience init(_ pcm: any PCM, channelCount: Int = 1) throws(SoundError) {
    try self.init(pcm, channelCount: channelCount, quality: .sinc)
  }

  init(_ pcm: any PCM, channelCount: Int, quality: RateConverter.Quality) throws(SoundError) {
    precondition((1...2).contains(channelCount), "sound has one or two channels")
    precondition(pcm.direction == .capture, "a loudspeaker captures nothing")
    let configuration = pcm.configuration
    self.pcm = pcm
    self.channelCount = channelCount
    converter = try RateConverter(channelCount: channelCount, quality: quality)
    clock = ClockLock(nominalRate: configuration.rate)
    rawCapacity = max(64, configuration.rate / 100)
    raw = .allocate(byteCount: rawCapacity * configuration.frameSize, alignment: 16)
    stagedCapacity = configuration.bufferFrames + configuration.rate / 10
    staged = .allocate(capacity: stagedCapacity * channelCount)
    output = .allocate(capacity: AudioBlock.sampleCount * channelCount)
    unsafe raw.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe staged.initialize(repeating: 0)
    unsafe output.initialize(repeating: 0)
    counted.period = configuration.duration(of: configuration.periodFrames).milliseconds
    counted.buffer = configuration.duration(of: configuration.bufferFrames).milliseconds
  }

  deinit {
    unsafe raw.deallocate()
    unsafe staged.deallocate()
    unsafe output.deallocate()
  }

  /// What was counted and measured so far.
  public var figures: StreamFigures {
    var figures = counted
    figures.drift = clock.drift
    return figures
  }

  /// Sleeps until the next block should be there, the device has something to say, or `limit`.
  public func wait(until limit: Instant, now: Instant) {
    guard isRunning else { return }
    var expected = now + .milliseconds(5)
    if clock.isReady, isAligned {
      // A pointer that moves in steps is asked again every millisecond.
      expected = max(clock.time(of: needed) + .microseconds(100), now + .milliseconds(1))
    }
    pcm.wait(until: min(limit, expected))
  }

  /// Takes what the device has; starts it the first time. An xrun is made good here and counted.
  public func read(now: Instant) throws(SoundError) {
    lastRead = now
    if !isRunning { try start(after: 0, now: now) }
    let update = pcm.lastUpdate()
    if update.time != ownUpdate, update.available >= 0 {
      // The kernel's own look at the pointer, in the interrupt that moved it: better than any that is made in between.
      clock.observe(Int64(read + update.available), at: update.time)
      lastInterrupt = update.time
    }
    while true {
      let available = pcm.available()
      if available < 0 { return try recover(Int32(available), now: now) }
      let asked = pcm.lastUpdate()
      if asked.time - lastInterrupt > ClockFollowing.interruptPatience { clock.observe(Int64(read + available), at: asked.time) }
      ownUpdate = asked.time
      guard available > 0 else { break }
      let got = unsafe pcm.read(into: raw.baseAddress!, count: min(available, rawCapacity))
      if got == PCMError.wouldBlock { break }
      if got < 0 { return try recover(Int32(got), now: now) }
      ownUpdate = pcm.lastUpdate().time
      stage(got)
      lastProgress = now
      if got >= available { break }
    }
    if let lastProgress, now - lastProgress > ClockFollowing.stall {
      throw .stalled(device: label, milliseconds: Int((now - lastProgress).milliseconds))
    }
  }

  /// The next block, if all of it was captured: puts `480 * channelCount` samples into `block` and returns when the first was captured.
  /// What was lost in an xrun comes as silence, so that blocks go on as the clock does.
  public func nextBlock(into block: UnsafeMutableBufferPointer<Int16>) -> Instant? {
    precondition(block.count >= AudioBlock.sampleCount * channelCount, "a block is 10 ms")
    guard clock.isReady else { return nil }
    let start = grid.start(of: currentIndex())
    if outputCount == 0, isAligned { follow(start) }
    if !isAligned, !align(to: start) { return outputCount == AudioBlock.sampleCount ? finish(block, start) : nil }

    guard Double(read) >= needed else { return nil }
    let wanted = min(read - fed, Int(needed.rounded(.up)) - fed)
    let (used, made) = unsafe converter.process(
      staged.baseAddress!, count: max(0, wanted), into: output.baseAddress! + outputCount * channelCount,
      capacity: AudioBlock.sampleCount - outputCount, ratio: ratio)
    drop(used)
    position += Double(made) / ratio
    outputCount += made
    return outputCount == AudioBlock.sampleCount ? finish(block, clock.time(of: blockPosition)) : nil
  }

  /// Which block is next. After a gap that nobody could have heard over, blocks begin with what there is.
  private func currentIndex() -> Int64 {
    let first = grid.firstIndex(from: clock.time(of: Double(fed)))
    let index = if let blockIndex, isAligned || first - blockIndex < CaptureStream.longestSilence { blockIndex } else { first }
    blockIndex = index
    return index
  }

  /// Up to which device frame all has to be read before the block is whole.
  private var needed: Double {
    position + Double(AudioBlock.sampleCount - outputCount) / ratio + converter.lookahead(ratio: ratio)
  }

  /// Sets the ratio for a block that should begin at `start`.
  private func follow(_ start: Instant) {
    let error = (clock.position(at: start) - position) / clock.rate
    if abs(error) > ClockFollowing.jump {
      isAligned = false
      return
    }
    ratio = Double(AudioBlock.sampleRate) / (clock.rate * ClockFollowing.correction(error))
    blockPosition = position
  }

  /// Begins a block anew: leaves out what was captured before `start`, and makes silence of what has no sound. False if the block cannot go
  /// on yet, or is all silence.
  private func align(to start: Instant) -> Bool {
    converter.reset()
    let target = clock.position(at: start)
    let step = clock.rate / Double(AudioBlock.sampleRate)
    outputCount = 0
    if target >= Double(fed) {
      let excess = Int(target) - fed
      if hasBegun { counted.discardedFrames += Int(Double(min(excess, read - fed)) / step) }
      drop(min(excess, read - fed))
      guard Double(fed) + 1 > target else { return false }
    } else {
      let missing = min(AudioBlock.sampleCount, Int(((Double(fed) - target) / step).rounded()))
      unsafe output.baseAddress!.update(repeating: 0, count: missing * channelCount)
      outputCount = missing
      counted.insertedFrames += missing
      if missing == AudioBlock.sampleCount { return false }
    }
    position = Double(fed)
    blockPosition = position - Double(outputCount) * step
    ratio = 1 / step
    isAligned = true
    return true
  }

  private func finish(_ block: UnsafeMutableBufferPointer<Int16>, _ time: Instant) -> Instant {
    unsafe SampleFormat.int16.store(
      output.baseAddress!, channels: channelCount, into: UnsafeMutableRawPointer(block.baseAddress!), channels: channelCount,
      frameCount: AudioBlock.sampleCount)
    outputCount = 0
    hasBegun = true
    blockIndex! += 1
    counted.delay = (lastRead - time).milliseconds
    counted.fill = Double(read) >= position ? (Double(read) - position) / clock.rate * 1_000 : 0
    return time
  }

  private func stage(_ count: Int) {
    if read - fed + count > stagedCapacity {
      // Nobody has asked for blocks: the oldest goes.
      let excess = read - fed + count - stagedCapacity
      counted.discardedFrames += excess * AudioBlock.sampleRate / configuration.rate
      drop(excess)
      isAligned = false
    }
    let configuration = pcm.configuration
    unsafe configuration.format.load(
      raw.baseAddress!, channels: configuration.channelCount, into: staged.baseAddress! + (read - fed) * channelCount,
      channels: channelCount,
      frameCount: count)
    read += count
    counted.frames += count
  }

  /// Takes the oldest frames off the stage.
  private func drop(_ count: Int) {
    let rest = read - fed - count
    unsafe memmove(
      staged.baseAddress!, staged.baseAddress! + count * channelCount, rest * channelCount * MemoryLayout<Float>.stride)
    fed += count
  }

  private func recover(_ error: Int32, now: Instant) throws(SoundError) {
    guard PCMError.isRecoverable(error) else { throw pcm.failure(error, "capture") }
    if error == PCMError.xrun { counted.xruns += 1 }
    try start(after: error, now: now)
  }

  private func start(after error: Int32, now: Instant) throws(SoundError) {
    let ready = pcm.recover(from: error)
    guard ready >= 0 else { throw pcm.failure(ready, "prepare") }
    let started = pcm.start()
    guard started >= 0 else { throw pcm.failure(started, "start") }
    clock.relock()
    (read, fed, outputCount, isAligned, isRunning) = (0, 0, 0, false, true)
    ownUpdate = pcm.lastUpdate().time
    lastInterrupt = now
    lastProgress = now
  }
}
