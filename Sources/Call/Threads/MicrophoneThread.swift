import Base
import Frames
import Net
import Sound
import Synchronization

/// Takes 10 ms blocks from a microphone, does to them what calls want, and hands them to all who want them.
///
/// Its thread is a real-time one, which neither allocates nor locks nor waits for anything but the next block; encoders and all others get their blocks
/// from the thread behind it. While there is no microphone they get silence, so that their clocks go on.
public final class MicrophoneThread: Sendable {
  /// What the thread measures of its sound.
  public struct Figures: Sendable, BitwiseCopyable {
    /// The device's counts; nothing while there is none.
    public var stream = StreamFigures()
    /// The loudest sample of the last block, 0 to 1, before and after processing.
    public var capturedPeak = 0.0, processedPeak = 0.0
    /// What is known of the echo, by the processing that was done last.
    public var voice = VoiceProcessor.Figures()
  }

  /// How long others have the processor after a block was handed on, before it is learnt from.
  private static let precedence = Interval.milliseconds(2)

  /// How the microphone stands.
  public let watch: DeviceWatch
  /// What is done to `sound`.
  public let processing: VoiceProcessing
  /// Whether other processing can be asked for. What is made up is never processed.
  public var offersProcessing: Bool { keeper != nil }
  /// When the first block of a source without a device begins.
  let start = MonotonicClock.now()
  private let variants: SoundVariants
  private let isMuted = Atomic(false)
  private let reference: ReferenceFeed?
  private let keeper: SoundKeeper<CaptureStream>?
  private let published = LatestValue(Figures())
  private let thread: Guarded<WorkerThread?> = Guarded(nil)

  /// Starts listening to `source`, as it is.
  public convenience init(source: any AudioSource) {
    self.init(watch: DeviceWatch(.running(name: "\(type(of: source))")), processing: .none, reference: nil, keeper: nil, source: source)
  }

  /// Starts listening to the microphone that `selection` means, whenever it is there. `reference` is what loudspeakers play meanwhile.
  public convenience init(selection: SoundSelection, processing: VoiceProcessing = VoiceProcessing(), reference: ReferenceFeed? = nil) {
    self.init(processing: processing, reference: reference) { () throws(SoundError) in
      let device = try SoundCards.open(selection, direction: .capture)
      return .init(try CaptureStream(device), label: device.label, cardNumber: device.cardNumber)
    } bestCard: {
      selection.candidates(among: SoundCards.devices(.capture)).first?.cardNumber
    }
  }

  /// Starts listening to what `open` finds.
  package convenience init(
    processing: VoiceProcessing, reference: ReferenceFeed?, open: @escaping SoundKeeper<CaptureStream>.Opener,
    bestCard: @escaping @Sendable () -> Int? = { nil }
  ) {
    let watch = DeviceWatch()
    self.init(
      watch: watch, processing: processing, reference: reference,
      keeper: SoundKeeper(.capture, watch: watch, open: open, bestCard: bestCard), source: nil)
  }

  private init(
    watch: DeviceWatch, processing: VoiceProcessing, reference: ReferenceFeed?, keeper: SoundKeeper<CaptureStream>?,
    source: (any AudioSource)?
  ) {
    (self.watch, self.processing, self.reference, self.keeper) = (watch, processing, reference, keeper)
    variants = SoundVariants()
    reference?.setWanted(true)
    let handover = Handover(source)
    thread.with {
      $0 = WorkerThread(name: "parlor-mic", realtimePriority: 10) { [unowned self] thread in
        if let source = handover.object { run(source, thread) } else { run(thread) }
      }
    }
  }

  /// Its sound, processed as was asked for when it was started.
  public var sound: AudioFanOut { sound(processing) }

  /// Its sound, processed in another way.
  public func sound(_ processing: VoiceProcessing) -> AudioFanOut { variants.sound(offersProcessing ? processing : .none) }

  /// What the thread measures of its sound.
  public var figures: Figures { published.value }

  /// Sends silence in place of what the source gives.
  public func setMuted(_ value: Bool) { isMuted.store(value, ordering: .relaxed) }

  /// Ends the threads.
  public func stop() {
    thread.with { $0 }?.stop()
    reference?.setWanted(false)
    keeper?.stop()
    variants.stop()
  }

  // MARK: On the thread

  /// What the thread works on.
  private struct Work: ~Copyable {
    let samples = UnsafeMutablePointer<Int16>.allocate(capacity: 2 * AudioBlock.sampleCount)
    let played = UnsafeMutablePointer<Int16>.allocate(capacity: AudioBlock.sampleCount)
    var timeline = EchoTimeline()
    var stream: CaptureStream?
    var figures = Figures()

    init() {
      unsafe samples.initialize(repeating: 0, count: 2 * AudioBlock.sampleCount)
      unsafe played.initialize(repeating: 0, count: AudioBlock.sampleCount)
    }

    deinit {
      unsafe samples.deallocate()
      unsafe played.deallocate()
    }
  }

  private func run(_ source: any AudioSource, _ thread: WorkerThread) {
    var work = Work()
    var index = 0
    while !thread.isStopping {
      let captured = start + .milliseconds(10) * Int64(index)
      MonotonicClock.sleep(until: captured + .milliseconds(10))
      let block = source.block(at: index, captureTime: captured)
      for index in block.samples.indices { unsafe work.samples[index] = block.samples[index] }
      hand(on: &work, channelCount: block.channelCount, capturedAt: captured)
      index += 1
    }
  }

  private func run(_ thread: WorkerThread) {
    guard let keeper else { preconditionFailure("without a source there is a device") }
    var work = Work()
    var pace = MonotonicClock.now()
    while !thread.isStopping {
      if let next = keeper.take() {
        if let old = work.stream.take() { keeper.giveBack(old) }
        work.stream = next
      }
      guard let stream = work.stream else {
        // Silence, at the pace that a microphone would have.
        let now = MonotonicClock.now()
        pace = now - pace > .milliseconds(100) ? now : pace + .milliseconds(10)
        MonotonicClock.sleep(until: pace)
        unsafe work.samples.update(repeating: 0, count: AudioBlock.sampleCount)
        hand(on: &work, channelCount: 1, capturedAt: pace - .milliseconds(10))
        continue
      }
      do throws(SoundError) {
        let now = MonotonicClock.now()
        try stream.read(now: now)
        while let captured = unsafe stream.nextBlock(
          into: UnsafeMutableBufferPointer(start: work.samples, count: AudioBlock.sampleCount))
        {
          work.figures.stream = stream.figures
          hand(on: &work, channelCount: 1, capturedAt: captured)
          pace = captured + .milliseconds(10)
        }
        if variants.isLearnable {
          // Whoever waits for the block gets it first, also where there is one processor for all.
          MonotonicClock.sleep(until: MonotonicClock.now() + MicrophoneThread.precedence)
          variants.learn()
        }
        let then = MonotonicClock.now()
        stream.wait(until: then + .milliseconds(20), now: then)
      } catch {
        work.figures.stream = StreamFigures()
        if let lost = work.stream.take() { keeper.giveBack(lost, error) }
      }
    }
    work.stream = nil
  }

  /// Gives a block to those who want it, each processed as he wants it.
  private func hand(on work: inout Work, channelCount: Int, capturedAt captured: Instant) {
    if isMuted.load(ordering: .relaxed) { unsafe work.samples.update(repeating: 0, count: AudioBlock.sampleCount * channelCount) }
    reference?.move(to: &work.timeline)
    unsafe work.timeline.read(into: work.played, at: captured)
    unsafe variants.put(
      work.samples, channelCount: channelCount, played: work.played, capturedAt: captured, figures: &work.figures)
    published.set(work.figures)
  }
}
