import Base
import CAudioProcessing
import Frames

/// Takes echo and noise out of a microphone's sound and evens its level: a filter learns the path from the loudspeaker, wherever in time that begins; another
/// one, which keeps nothing waiting, suppresses noise and what is left of the echo; webrtc-audio-processing controls the gain.
///
/// One thread calls it, in turn: `analyze` with the block that is to be played next, `process` with the one that was captured last, and `learn`, which may wait
/// until the block is on its way. None of them allocates or waits. What comes out is as late as what went in, and 1 ms later with gain control: so long are the
/// library's filters.
///
/// It is made on one thread, handed over to another before it is first used, and never used by two at a time: hence unchecked.
public final class VoiceProcessor: @unchecked Sendable {
  /// What is done.
  public let settings: VoiceProcessing
  /// Channels of the microphone, 1 or 2.
  public let channelCount: Int
  /// How loud it is and how well the echo goes away: of the first channel.
  public private(set) var figures = Figures()
  /// Whether there is something to be learnt from the block that was processed last.
  public private(set) var isLearnable = false

  /// Hops by which the filter begins before the first sound: room for what moves a little.
  private static let lead = 2
  /// Hops that may be played ahead of the microphone before some are left out; what is remembered of the reference allows for no more.
  private static let greatestSurplus = 16
  /// The most that devices may take, in hops: 320 ms.
  private static let greatestDeviceDelay = 64

  /// The library's, where gain is controlled.
  private let handle: OpaquePointer?
  private let transform = EchoTransform()
  private var reference = EchoReference()
  /// One for each channel.
  private var filters: [EchoFilter] = []
  private let suppressors: UnsafeMutableBufferPointer<VoiceSuppressor>
  private var estimator = EchoDelayEstimator()
  /// 480 samples of each channel, as they come out; and as they were captured.
  private let planes: UnsafeMutableBufferPointer<Float>
  private let captured: UnsafeMutableBufferPointer<Float>
  /// What is played next.
  private let played: UnsafeMutableBufferPointer<Float>
  private var window = [Float](repeating: 0, count: EchoHop.windowCount)
  private var heard = EchoSpectrum()
  /// The next hop of the microphone.
  private var hop = 0
  /// From reference to microphone, in hops: what the caller says, and what was found out.
  private var deviceDelay = 0
  private var pathDelay = 0

  /// A processor for a microphone with one or two channels.
  public init(_ settings: VoiceProcessing = VoiceProcessing(), channelCount: Int = 1) {
    precondition((1...2).contains(channelCount), "sound has one or two channels")
    (self.settings, self.channelCount) = (settings, channelCount)
    if settings.autoGainControl {
      let created = unsafe voice_processing_create(
        voice_processing_settings(
          channel_count: Int32(channelCount), echo_cancellation: false, noise_suppression: false, gain_control: true))
      guard let created = unsafe created else { preconditionFailure("there is no memory, or the library takes not what it always takes") }
      unsafe handle = created
    } else {
      unsafe handle = nil
    }
    unsafe planes = .allocate(capacity: channelCount * AudioBlock.sampleCount)
    unsafe captured = .allocate(capacity: channelCount * AudioBlock.sampleCount)
    unsafe played = .allocate(capacity: AudioBlock.sampleCount)
    for samples in unsafe [planes, captured, played] { unsafe samples.initialize(repeating: 0) }
    if settings.echoCancellation { filters = (0..<channelCount).map { _ in EchoFilter() } }
    let suppresses = settings.echoCancellation || settings.noiseSuppression
    unsafe suppressors = .allocate(capacity: suppresses ? channelCount : 0)
    for channel in suppressors.indices {
      unsafe (suppressors.baseAddress! + channel).initialize(to: VoiceSuppressor(suppressesNoise: settings.noiseSuppression))
    }
  }

  deinit {
    unsafe voice_processing_free(handle)
    for samples in unsafe [planes, captured, played] { unsafe samples.deallocate() }
    unsafe suppressors.deinitialize()
    unsafe suppressors.deallocate()
  }

  /// Takes the block that is played next: 480 samples of one channel, or of two, interleaved. To be called once before each `process`; a block that is
  /// missing counts as silence.
  public func analyze(played samples: Span<Int16>) {
    let isStereo = samples.count == 2 * AudioBlock.sampleCount
    precondition(isStereo || samples.count == AudioBlock.sampleCount, "a block is 10 ms")
    guard settings.echoCancellation else { return }
    for index in 0..<AudioBlock.sampleCount {
      let sample = isStereo ? Float(Int32(samples[2 * index]) + Int32(samples[2 * index + 1])) / 2 : Float(samples[index])
      unsafe played[index] = sample / 32_768
    }
    append()
  }

  /// Nothing is played with the next block.
  public func analyzeSilence() {
    guard settings.echoCancellation else { return }
    unsafe played.update(repeating: 0)
    append()
  }

  /// Processes the block that was captured last, in place: 480 samples of each channel, interleaved.
  ///
  /// `delay` (0 to 320 ms) is the time that the devices are known to take: from `analyze` until a block is heard, and from a sound until its block is
  /// passed here. What the room and other boxes add, up to 590 ms, is found out.
  public func process(captured samples: inout MutableSpan<Int16>, delay: Interval = .zero) {
    precondition(samples.count == channelCount * AudioBlock.sampleCount, "a block is 10 ms for each channel")
    learn()
    for channel in 0..<channelCount {
      for index in 0..<AudioBlock.sampleCount {
        let sample = Float(samples[index * channelCount + channel]) / 32_768
        unsafe planes[channel * AudioBlock.sampleCount + index] = sample
        unsafe captured[channel * AudioBlock.sampleCount + index] = sample
      }
    }
    let heard = energy(ofPlane: 0)
    var (played, echo): (Float, Float) = (0, 0)
    if settings.echoCancellation {
      follow(delay)
      (played, echo) = cancel()
    }
    suppress()
    controlGain()
    figures.count(played: played, echo: echo, captured: heard, processed: energy(ofPlane: 0))
    for channel in 0..<channelCount {
      for index in 0..<AudioBlock.sampleCount {
        let sample = unsafe max(-32_768, min(32_767, planes[channel * AudioBlock.sampleCount + index] * 32_768))
        // Rounded, without the call that `rounded` takes.
        samples[index * channelCount + channel] = Int16(sample + (sample < 0 ? -0.5 : 0.5))
      }
    }
  }

  /// Learns from the block that was processed last what there is to learn of the echo's path. Takes longer than `process`, and may be called when nobody waits for
  /// the thread; else the next `process` does it first.
  public func learn() {
    guard isLearnable else { return }
    isLearnable = false
    for half in 0..<2 {
      listen(half)
      let newest = hop + half - deviceDelay - pathDelay
      for channel in 0..<channelCount {
        let samples = unsafe captured.baseAddress! + channel * AudioBlock.sampleCount + half * EchoHop.sampleCount
        unsafe filters[channel].learn(samples, reference, newest: newest, transform)
      }
    }
    hop += 2
    figures.pathChangeCount = filters[0].restartCount
    if let handle = unsafe handle {
      // Gain control leaves alone what is echo.
      unsafe filters[0].echo.withUnsafeBufferPointer { unsafe voice_processing_analyze(handle, $0.baseAddress!) }
    }
  }

  /// The same for a block by itself, which must have as many channels as the microphone.
  public func process(captured block: inout AudioBlock, delay: Interval = .zero) {
    var samples = block.samples.mutableSpan
    process(captured: &samples, delay: delay)
  }

  /// The two hops of what is played next.
  private func append() {
    unsafe reference.append(played.baseAddress!, transform)
    unsafe reference.append(played.baseAddress! + EchoHop.sampleCount, transform)
  }

  /// Takes the echo out of all channels, as far as the path is known. Returns the energies of what was played and of the echo of it.
  private func cancel() -> (played: Float, echo: Float) {
    if reference.count < hop + 2 {
      analyzeSilence()
      figures.missingCount += 1
    } else if reference.count > hop + 2 + VoiceProcessor.greatestSurplus {
      figures.surplusCount += (reference.count - hop - 2) / 2
      hop = reference.count - 2
    }
    isLearnable = true
    let newest = hop - deviceDelay - pathDelay
    for channel in 0..<channelCount {
      filters[channel].predict(reference, newest: newest, transform)
      let echo = filters[channel].echo
      for index in 0..<AudioBlock.sampleCount { unsafe planes[channel * AudioBlock.sampleCount + index] -= echo[index] }
    }
    return (reference.energy(at: newest) + reference.energy(at: newest + 1), filters[0].echoEnergy)
  }

  /// Suppresses what is left of the echo, and noise.
  private func suppress() {
    for channel in unsafe suppressors.indices {
      let samples = unsafe planes.baseAddress! + channel * AudioBlock.sampleCount
      if settings.echoCancellation {
        unsafe suppressors[channel].process(samples, known: filters[channel].echo, uncertainty: filters[channel].uncertainty, transform)
      } else {
        unsafe suppressors[channel].process(samples, known: nil, uncertainty: [], transform)
      }
    }
  }

  /// Compares half a block of the first channel with what was played, and moves the filters to where the echo begins.
  private func listen(_ half: Int) {
    for index in 0..<EchoHop.sampleCount {
      window[index] = window[EchoHop.sampleCount + index]
      window[EchoHop.sampleCount + index] = unsafe captured[half * EchoHop.sampleCount + index]
    }
    unsafe window.withUnsafeBufferPointer { window in
      unsafe heard.values.withUnsafeMutableBufferPointer { unsafe transform.forward(window.baseAddress!, $0.baseAddress!) }
    }
    unsafe heard.values.withUnsafeBufferPointer { heard in
      unsafe reference.withSpectra { spectra in
        unsafe estimator.process(played: spectra + EchoReference.offset(of: hop + half - deviceDelay), captured: heard.baseAddress!)
      }
    }
    guard let delay = estimator.delay else { return }
    figures.delay = .milliseconds(Int64((deviceDelay + delay) * 1_000 / EchoHop.rate))
    let start = max(0, delay - VoiceProcessor.lead)
    // As long as the first sound lies well within the filter, nothing is moved.
    guard start < pathDelay && delay <= pathDelay || start > pathDelay + 8 else { return }
    for channel in filters.indices { filters[channel].move(by: start - pathDelay) }
    pathDelay = start
  }

  /// Follows what is known of the devices, if it changed by more than it may be inexact.
  private func follow(_ delay: Interval) {
    let known = delay.seconds * Double(EchoHop.rate)
    guard abs(known - Double(deviceDelay)) > 0.75 else { return }
    deviceDelay = max(0, min(Int(known.rounded()), VoiceProcessor.greatestDeviceDelay))
  }

  /// What the library does, to all channels.
  private func controlGain() {
    guard let handle = unsafe handle else { return }
    unsafe withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Float>?.self, capacity: 2) { channels in
      for channel in 0..<2 { unsafe channels[channel] = planes.baseAddress! + min(channel, channelCount - 1) * AudioBlock.sampleCount }
      let error = unsafe voice_processing_process(handle, channels.baseAddress!)
      assert(error == 0, "the library took the first block and does not take this one")
    }
  }

  private func energy(ofPlane plane: Int) -> Float {
    var sum: Float = 0
    for index in plane * AudioBlock.sampleCount..<(plane + 1) * AudioBlock.sampleCount { unsafe sum += planes[index] * planes[index] }
    return sum
  }
}
