import Base
import Bytes
import Codecs
import Frames

/// Puts the packets of one audio stream into order, decodes them, and puts out a 10 ms block whenever it is asked, whatever the network does.
///
/// Playout runs a target delay behind the fastest packets; the target follows the jitter, and is no less than what the application asked for and
/// what lip sync needs. It is approached by taking out or doubling pitch periods, which is not heard, or in silence at once. What is missing when
/// its time comes is restored from the next packet, or invented by the decoder.
///
/// Sans-IO: packets and the time go in, blocks come out. Used by one thread. Once it is made, neither `insert` nor `nextBlock(now:into:)` allocates
/// memory or takes a lock.
public struct AudioJitterBuffer: ~Copyable {
  /// Bounds of the delay. All may be changed at any time.
  public struct Configuration: Sendable, Equatable {
    /// The least playout delay: at least one packet and one block.
    public var minimumDelay = Interval.milliseconds(20)
    /// The largest playout delay that jitter can cause.
    public var maximumDelay = Interval.milliseconds(400)
    /// The least playout delay that the application wishes (W3C `jitterBufferTarget`), 0 to 4 s.
    public var requestedDelay = Interval.zero
    /// The least playout delay that keeps the sound from running ahead of its picture, 0 to 4 s (see `LipSync`).
    public var synchronizationDelay = Interval.zero

    /// The defaults.
    public init() {}
  }

  /// What happened so far.
  public private(set) var counters = Counters()
  /// Bounds of the delay.
  public var configuration: Configuration
  /// Interleaved channels in the blocks.
  public let channelCount: Int

  private let decoder: any AudioDecoder
  private let clockRate: Int
  private var packets = AudioPackets()
  private var delay = ArrivalDelay()

  /// What was put out last, for time stretching, and behind it the decoded samples that were not yet put out.
  private var ready: [Int16] = []
  private var scratch: [Int16] = []
  /// Media time behind the last of `ready`, in samples at 48 kHz; nil before playout begins.
  private var decodedEnd: Int64?
  /// The last packet decoded or restored.
  private var lastSequence: Int64?
  /// How many samples a packet holds, by the last one.
  private var packetSampleCount = 960
  /// Samples invented while nothing at all was there: if packets turn out lost, that time has passed already.
  private var waitedCount = 0
  private var isConcealing = false
  /// Whether what was put into `ready` last is the sender's silence.
  private var isQuiet = false
  /// Blocks to play before time may be stretched again: two cuts in a row are heard.
  private var stretchPause = 0
  /// When a block was asked for last.
  private var asked: Instant?
  /// How often in a row no place was found where the sound is alike enough to stretch it.
  private var refusals = 0

  /// A buffer in front of `decoder`, for a stream whose RTP time stamps run at `clockRate` (8,000 or 48,000 Hz, or another divisor of it).
  public init(decoder: any AudioDecoder, clockRate: Int, configuration: Configuration = Configuration()) {
    precondition(clockRate > 0 && AudioBlock.sampleRate % clockRate == 0, "time stamps count in whole samples at 48 kHz")
    (self.decoder, self.clockRate, self.configuration) = (decoder, clockRate, configuration)
    channelCount = decoder.channelCount
    ready.reserveCapacity(16_384 * channelCount)
    clearReady()
    scratch.reserveCapacity(5_760 * channelCount)
  }

  /// The least delay that the network allows.
  private var networkDelay: Interval { max(configuration.minimumDelay, min(configuration.maximumDelay, delay.target)) }

  /// How late playout should run behind the fastest packets, were it not for lip sync.
  public var naturalDelay: Interval { max(networkDelay, configuration.requestedDelay) }

  /// How late playout should run behind the fastest packets.
  public var targetDelay: Interval { max(naturalDelay, configuration.synchronizationDelay) }

  /// How late the next sample will be played if it is at `now`; nil before playout begins.
  public func currentDelay(now: Instant) -> Interval? {
    guard let decodedEnd, let fastest = delay.fastest else { return nil }
    return (now - .zero) - fastest - mediaTime(decodedEnd - Int64(readyCount))
  }

  /// The RTP time stamp of the next sample to be put out; nil before playout begins.
  public var playoutTimestamp: UInt32? {
    decodedEnd.map { UInt32(truncatingIfNeeded: ($0 - Int64(readyCount)) / Int64(AudioBlock.sampleRate / clockRate)) }
  }

  /// Where playout stands. To be called right after `nextBlock(now:)`, with the same `now`; the first sample of that block is heard `delay` later.
  /// Nil before playout begins, and while nothing is there to be played.
  public func position(now: Instant, delay: Interval) -> PlayoutPosition? {
    let end = now + .milliseconds(10)
    guard waitedCount == 0, let timestamp = playoutTimestamp, let current = currentDelay(now: end) else { return nil }
    return PlayoutPosition(timestamp: timestamp, time: end + delay, delay: current + delay, naturalDelay: naturalDelay + delay)
  }

  /// Samples per channel that were not yet put out.
  private var readyCount: Int { ready.count / channelCount - TimeStretch.historyCount }

  private mutating func clearReady() {
    ready.removeAll(keepingCapacity: true)
    for _ in 0..<TimeStretch.historyCount * channelCount { ready.append(0) }
  }

  private func mediaTime(_ samples: Int64) -> Interval { .nanoseconds(samples * 62_500 / 3) }

  // MARK: In

  /// Takes one packet's payload.
  public mutating func insert(payload: RawSpan, sequence: UInt16, timestamp: UInt32, arrival: Instant) {
    guard let sampleCount = decoder.sampleCount(of: payload) else {
      counters.packetsMalformed += 1
      return
    }
    guard payload.byteCount <= AudioPackets.byteCount else {
      counters.packetsDiscarded += 1
      return
    }
    let packet = packets.number(sequence: sequence, timestamp: timestamp, scale: Int64(AudioBlock.sampleRate / clockRate))
    let isLate = decodedEnd.map { packet.start + Int64(sampleCount) <= $0 } ?? false
    // Far away from where playout is or will begin, or newest by its number and yet too late: the sender began anew, with other time stamps.
    let isFar = (decodedEnd ?? packets.first?.start).map { abs(packet.start - $0) > 10 * Int64(AudioBlock.sampleRate) } ?? false
    if isFar || (isLate && packet.isNewest) {
      reset()
      insert(payload: payload, sequence: sequence, timestamp: timestamp, arrival: arrival)
      return
    }
    delay.add(mediaTime: mediaTime(packet.start), arrival: arrival)
    if isLate {
      counters.packetsDiscarded += 1
      return
    }
    if !packets.insert(packet, payload: payload, sampleCount: sampleCount, arrival: arrival) { counters.packetsDiscarded += 1 }
  }

  /// Forgets everything that waits, and begins playout anew with the next packet. The counters go on.
  public mutating func reset() {
    packets.removeAll()
    delay.removeAll()
    stop()
  }

  /// Lets playout begin anew, with the packets that are there.
  private mutating func stop() {
    clearReady()
    (decodedEnd, lastSequence, waitedCount, isConcealing, isQuiet, refusals) = (nil, nil, 0, false, false, 0)
  }

  // MARK: Out

  /// The next 10 ms. To be called every 10 ms.
  public mutating func nextBlock(now: Instant) -> AudioBlock {
    var block = AudioBlock.silence(channelCount: channelCount)
    nextBlock(now: now, into: &block)
    return block
  }

  /// Puts the next 10 ms into `block`, whose memory is used again.
  public mutating func nextBlock(now: Instant, into block: inout AudioBlock) {
    let count = AudioBlock.sampleCount * channelCount
    if block.channelCount != channelCount { block = .silence(channelCount: channelCount) }
    block.captureTime = nil
    // Nobody listened meanwhile (a loudspeaker hung, or changed): what has waited for it is not worth being played late.
    if let asked, now - asked > .milliseconds(500) { stop() }
    asked = now
    // After two seconds without any packet the stream has paused; what comes then is a new beginning.
    if waitedCount > 2 * AudioBlock.sampleRate && packets.first == nil { reset() }
    guard begin(now: now) else {
      for index in 0..<count { block.samples[index] = 0 }
      counters.audioLevel = 0
      return
    }
    while readyCount < AudioBlock.sampleCount { decodeNext(now: now) }
    stretch(now: now)
    let start = TimeStretch.historyCount * channelCount
    for index in 0..<count { block.samples[index] = ready[start + index] }
    ready.removeFirst(count)
    account(for: block)
  }

  /// Whether playout has begun, or begins now: when the first packet has waited for as long as others may be late.
  private mutating func begin(now: Instant) -> Bool {
    if decodedEnd != nil { return true }
    guard let fastest = delay.fastest else { return false }
    func isDue(_ packet: AudioPackets.Packet) -> Bool { (now - .zero) - fastest - mediaTime(packet.start) >= targetDelay }
    guard let oldest = packets.first, isDue(oldest) else { return false }
    // After an outage everything comes at once. What is older than it need be is not played: nobody waits for it any more.
    while let next = packets.second, isDue(next) {
      packets.removeFirst()
      counters.packetsDiscarded += 1
    }
    guard let first = packets.first else { preconditionFailure("only packets with one behind them were dropped") }
    decodedEnd = first.start
    lastSequence = first.sequence - 1
    return true
  }

  /// Makes `ready` longer: by a packet, by its copy in the next one, or by 10 ms of invention.
  private mutating func decodeNext(now: Instant) {
    guard let end = decodedEnd, let lastSequence else { preconditionFailure("playout has begun") }
    guard let next = packets.first else {
      // Nothing there. It may be late, so media time stands still; the delay grows meanwhile.
      conceal(AudioBlock.sampleCount)
      waitedCount += AudioBlock.sampleCount
      return
    }
    var gap = next.start - end
    if gap > 0 && waitedCount > 0 {
      let passed = min(gap, Int64(waitedCount))
      decodedEnd = end + passed
      gap -= passed
      waitedCount = 0
    }
    let isSilence = next.sequence == lastSequence + 1  // nothing was lost: the sender kept silent
    if gap > 0, let current = currentDelay(now: now) {
      let excess = current - targetDelay
      if excess > (isSilence && isQuiet ? .zero : .milliseconds(100)) {
        // The gap is the place to catch up. (Also where a sender's time stamps jump ahead.)
        let skipped = min(gap, excess.nanoseconds * 48 / 1_000_000)
        decodedEnd = next.start - gap + skipped
        gap -= skipped
      } else if isSilence && isQuiet && excess < .milliseconds(-5) {
        conceal(AudioBlock.sampleCount)  // a longer pause is not noticed, and what comes then has its delay
        return
      }
    }
    if gap > 0 {
      if !isSilence, gap <= Int64(packetSampleCount), restore(from: next, missing: Int(gap)) { return }
      conceal(Int(min(gap, Int64(AudioBlock.sampleCount))))
      decodedEnd = next.start - gap + min(gap, Int64(AudioBlock.sampleCount))
      return
    }
    waitedCount = 0
    packets.removeFirst()
    // The payload is read in place, inside of `packets`: meanwhile no other property may be lent out for writing.
    var samples: [Int16] = []
    swap(&samples, &scratch)
    defer { swap(&samples, &scratch) }
    do throws(CodecError) {
      try decoder.decode(packets.payload(of: next), into: &samples)
    } catch {
      counters.packetsMalformed += 1
      return
    }
    (isConcealing, isQuiet) = (false, false)
    let sampleCount = samples.count / channelCount
    // Its start may be late by some blocks that were invented meanwhile.
    let passed = Int(min(-gap, Int64(sampleCount)))
    let emitted = Double(sampleCount - passed)
    counters.jitterBufferDelay += ((now - next.arrival) + mediaTime(Int64(readyCount))).seconds * emitted
    counters.jitterBufferTargetDelay += targetDelay.seconds * emitted
    counters.jitterBufferMinimumDelay += networkDelay.seconds * emitted
    ready.append(contentsOf: samples[(passed * channelCount)...])
    decodedEnd = max(end, next.start + Int64(sampleCount))
    self.lastSequence = next.sequence
    packetSampleCount = sampleCount
    counters.jitterBufferEmittedCount += sampleCount - passed
  }

  private mutating func restore(from next: AudioPackets.Packet, missing: Int) -> Bool {
    var samples: [Int16] = []
    swap(&samples, &scratch)
    defer { swap(&samples, &scratch) }
    let isRestored = try? decoder.recover(from: packets.payload(of: next), sampleCount: packetSampleCount, into: &samples)
    let sampleCount = samples.count / channelCount
    guard isRestored == true, sampleCount >= missing else { return false }
    ready.append(contentsOf: samples[((sampleCount - missing) * channelCount)...])
    decodedEnd = next.start
    lastSequence = next.sequence - 1
    (isConcealing, isQuiet) = (false, false)
    counters.packetsRecovered += 1
    return true
  }

  private mutating func conceal(_ sampleCount: Int) {
    // Decoders conceal in steps of 2.5 ms; a gap of another length occurs only with a sender that skips time stamps.
    let wanted = max(120, sampleCount / 120 * 120)
    decoder.conceal(sampleCount: wanted, into: &scratch)
    ready.append(contentsOf: scratch)
    // Below about -50 dBov: the pause between words goes on, or an invention has faded.
    let energy = scratch.reduce(Int64(0)) { $0 + Int64($1) * Int64($1) }
    let isSilent = energy < Int64(scratch.count) * 100 * 100
    counters.concealedSamples += wanted
    if isSilent { counters.silentConcealedSamples += wanted }
    if !isConcealing && !isSilent { counters.concealmentEvents += 1 }
    (isConcealing, isQuiet) = (!isSilent, isSilent)
  }

  /// Moves the delay towards its target by one pitch period.
  private mutating func stretch(now: Instant) {
    if stretchPause > 0 {
      stretchPause -= 1
      return
    }
    guard !isConcealing, let current = currentDelay(now: now) else { return }
    let excess = current - targetDelay
    guard excess > .milliseconds(15) || excess < .milliseconds(-5) else {
      refusals = 0
      return
    }
    // The further away, the sooner. Sound that is nowhere alike, as noise is, is cut all the same when there was no better place for a while.
    let (pause, likeness): (Int, Float) =
      excess > .milliseconds(300) ? (0, 0.4) : excess > .milliseconds(100) ? (1, 0.4) : (3, 0.8)
    let resemblance = likeness - 0.02 * Float(refusals)
    let needed = excess > .zero ? TimeStretch.shorteningCount + AudioBlock.sampleCount : TimeStretch.lengtheningCount
    while readyCount < needed, let next = packets.first, next.start <= decodedEnd ?? .min { decodeNext(now: now) }
    guard readyCount >= needed else { return }
    let moved: Int
    if excess > .zero {
      moved = TimeStretch.shorten(&ready, channelCount: channelCount, resemblance: resemblance)
      counters.removedSamplesForAcceleration += moved
    } else {
      moved = TimeStretch.lengthen(&ready, channelCount: channelCount, resemblance: resemblance)
      counters.insertedSamplesForDeceleration += moved
    }
    if moved > 0 { (stretchPause, refusals) = (pause, max(0, refusals - 2)) } else { refusals += 1 }
  }

  private mutating func account(for block: borrowing AudioBlock) {
    var (loudest, energy): (Int32, Int64) = (0, 0)
    for index in block.samples.indices {
      let sample = Int32(block.samples[index])
      loudest = max(loudest, abs(sample))
      energy += Int64(sample) * Int64(sample)
    }
    counters.totalSamplesReceived += AudioBlock.sampleCount
    counters.audioLevel = min(1, Double(loudest) / 32_767)
    counters.totalAudioEnergy += Double(energy) / Double(block.samples.count) / (32_767 * 32_767) * 0.01
    counters.totalSamplesDuration += 0.01
  }
}
