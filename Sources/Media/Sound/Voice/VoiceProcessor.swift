import Base
import CAudioProcessing
import Frames

/// Takes echo and noise out of a microphone's sound and evens its level: a filter of our own that learns the path from the loudspeaker, wherever in time that
/// begins, and after it what webrtc-audio-processing does.
///
/// One thread calls it, in turn: `analyze` with the block that is to be played next, `process` with the one that was captured last. Neither allocates or waits.
/// What comes out is 8 ms later than what went in, and 6 ms more where noise is suppressed: so long are the library's filters.
///
/// It is made on one thread, handed over to another before it is first used, and never used by two at a time: hence unchecked.
public final class VoiceProcessor: @unchecked Sendable {
  /// What is done.
  public let settings: VoiceProcessing
  /// Channels of the microphone, 1 or 2.
  public let channelCount: Int
  /// How loud it is and how well the echo goes away: of the first channel.
  public private(set) var figures = Figures()

  /// Hops by which the filter begins before the first sound: room for what moves a little.
  private static let lead = 2
  /// Hops that may be played ahead of the microphone before some are left out; what is remembered of the reference allows for no more.
  private static let greatestSurplus = 16
  /// The most that devices may take, in hops: 320 ms.
  private static let greatestDeviceDelay = 64

  private let handle: OpaquePointer
  private let transform = EchoTransform()
  private var reference = EchoReference()
  /// One for each channel.
  private var filters: [EchoFilter] = []
  private var estimator = EchoDelayEstimator()
  /// 480 samples of each channel, then those of the reference.
  private var planes: [Float]
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
    let created = unsafe voice_processing_create(
      voice_processing_settings(
        channel_count: Int32(channelCount), echo_cancellation: settings.echoCancellation, noise_suppression: settings.noiseSuppression,
        gain_control: settings.autoGainControl))
    guard let created = unsafe created else { preconditionFailure("there is no memory, or the library takes not what it always takes") }
    unsafe handle = created
    planes = [Float](repeating: 0, count: (channelCount + 1) * AudioBlock.sampleCount)
    if settings.echoCancellation { filters = (0..<channelCount).map { _ in EchoFilter() } }
  }

  deinit { unsafe voice_processing_free(handle) }

  /// Takes the block that is played next: 480 samples of one channel, or of two, interleaved. To be called once before each `process`; a block that is
  /// missing counts as silence.
  public func analyze(played samples: Span<Int16>) {
    let isStereo = samples.count == 2 * AudioBlock.sampleCount
    precondition(isStereo || samples.count == AudioBlock.sampleCount, "a block is 10 ms")
    guard settings.echoCancellation else { return }
    let start = channelCount * AudioBlock.sampleCount
    for index in 0..<AudioBlock.sampleCount {
      let sample = isStereo ? Float(Int32(samples[2 * index]) + Int32(samples[2 * index + 1])) / 2 : Float(samples[index])
      planes[start + index] = sample / 32_768
    }
    append()
  }

  /// Nothing is played with the next block.
  public func analyzeSilence() {
    guard settings.echoCancellation else { return }
    for index in channelCount * AudioBlock.sampleCount..<planes.count { planes[index] = 0 }
    append()
  }

  /// Processes the block that was captured last, in place: 480 samples of each channel, interleaved.
  ///
  /// `delay` (0 to 320 ms) is the time that the devices are known to take: from `analyze` until a block is heard, and from a sound until its block is
  /// passed here. What the room and other boxes add, up to 590 ms, is found out.
  public func process(captured samples: inout MutableSpan<Int16>, delay: Interval = .zero) {
    precondition(samples.count == channelCount * AudioBlock.sampleCount, "a block is 10 ms for each channel")
    for channel in 0..<channelCount {
      for index in 0..<AudioBlock.sampleCount {
        planes[channel * AudioBlock.sampleCount + index] = Float(samples[index * channelCount + channel]) / 32_768
      }
    }
    let captured = energy(ofPlane: 0)
    var (played, echo): (Float, Float) = (0, 0)
    if settings.echoCancellation {
      follow(delay)
      (played, echo) = cancel()
    }
    if settings.isNeeded { finish() }
    figures.count(played: played, echo: echo, captured: captured, processed: energy(ofPlane: 0))
    for channel in 0..<channelCount {
      for index in 0..<AudioBlock.sampleCount {
        let sample = (planes[channel * AudioBlock.sampleCount + index] * 32_768).rounded()
        samples[index * channelCount + channel] = Int16(max(-32_768, min(32_767, sample)))
      }
    }
  }

  /// The same for a block by itself, which must have as many channels as the microphone.
  public func process(captured block: inout AudioBlock, delay: Interval = .zero) {
    var samples = block.samples.mutableSpan
    process(captured: &samples, delay: delay)
  }

  /// The two hops of the reference's plane have been played.
  private func append() {
    unsafe planes.withUnsafeBufferPointer { planes in
      let played = unsafe planes.baseAddress! + channelCount * AudioBlock.sampleCount
      unsafe reference.append(played, transform)
      unsafe reference.append(played + EchoHop.sampleCount, transform)
    }
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
    var result: (played: Float, echo: Float) = (0, 0)
    for half in 0..<2 {
      listen(half)
      let newest = hop - deviceDelay - pathDelay
      unsafe planes.withUnsafeMutableBufferPointer { planes in
        for channel in 0..<channelCount {
          let captured = unsafe planes.baseAddress! + channel * AudioBlock.sampleCount + half * EchoHop.sampleCount
          unsafe filters[channel].process(captured, reference, newest: newest, transform)
        }
        // The library suppresses what is still like its reference. What was played is somewhat like any voice; the echo that is known is like what is left of
        // it, and nothing at all where no echo is.
        let target = unsafe planes.baseAddress! + channelCount * AudioBlock.sampleCount + half * EchoHop.sampleCount
        if filters[0].isSettled {
          for index in 0..<EchoHop.sampleCount { unsafe target[index] = filters[0].echo[index] }
        } else {
          unsafe reference.copy(newest, to: target)
        }
      }
      result.played += reference.energy(at: newest)
      result.echo += filters[0].echoEnergy
      hop += 1
    }
    figures.pathChangeCount = filters[0].restartCount
    unsafe planes.withUnsafeBufferPointer {
      unsafe voice_processing_analyze(handle, $0.baseAddress! + channelCount * AudioBlock.sampleCount)
    }
    return result
  }

  /// Compares half a block of the first channel with what was played, and moves the filters to where the echo begins.
  private func listen(_ half: Int) {
    for index in 0..<EchoHop.sampleCount {
      window[index] = window[EchoHop.sampleCount + index]
      window[EchoHop.sampleCount + index] = planes[half * EchoHop.sampleCount + index]
    }
    unsafe window.withUnsafeBufferPointer { window in
      unsafe heard.values.withUnsafeMutableBufferPointer { unsafe transform.forward(window.baseAddress!, $0.baseAddress!) }
    }
    unsafe heard.values.withUnsafeBufferPointer { heard in
      unsafe reference.withSpectra { spectra in
        unsafe estimator.process(played: spectra + EchoReference.offset(of: hop - deviceDelay), captured: heard.baseAddress!)
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
  private func finish() {
    unsafe planes.withUnsafeMutableBufferPointer { planes in
      unsafe withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Float>?.self, capacity: 2) { channels in
        for channel in 0..<2 { unsafe channels[channel] = planes.baseAddress! + min(channel, channelCount - 1) * AudioBlock.sampleCount }
        let error = unsafe voice_processing_process(handle, channels.baseAddress!)
        assert(error == 0, "the library took the first block and does not take this one")
      }
    }
  }

  private func energy(ofPlane plane: Int) -> Float {
    var sum: Float = 0
    for index in plane * AudioBlock.sampleCount..<(plane + 1) * AudioBlock.sampleCount { sum += planes[index] * planes[index] }
    return sum
  }
}
