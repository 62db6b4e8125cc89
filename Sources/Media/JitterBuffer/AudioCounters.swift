extension AudioJitterBuffer {
  /// What happened in the buffer, under the names of W3C `RTCInboundRtpStreamStats`. Samples are counted per channel, at 48 kHz.
  public struct Counters: Sendable, Equatable, BitwiseCopyable {
    /// Samples put out since playout began, invented ones included.
    public var totalSamplesReceived = 0
    /// Samples put out in place of ones that were not there.
    public var concealedSamples = 0
    /// Those of them that were silence, or comfort noise between words.
    public var silentConcealedSamples = 0
    /// How often concealment began.
    public var concealmentEvents = 0
    /// Samples added to let the buffer fill.
    public var insertedSamplesForDeceleration = 0
    /// Samples taken out to let the buffer empty.
    public var removedSamplesForAcceleration = 0
    /// Seconds that samples stood in the buffer, added up over all samples put out.
    public var jitterBufferDelay = 0.0
    /// Seconds that samples should have stood in the buffer, added up in the same way.
    public var jitterBufferTargetDelay = 0.0
    /// Seconds that samples should have stood in the buffer by the estimate of the jitter alone, added up in the same way.
    public var jitterBufferMinimumDelay = 0.0
    /// Samples over which the delays are added up.
    public var jitterBufferEmittedCount = 0
    /// Packets that came too late, twice, or could not be kept.
    public var packetsDiscarded = 0
    /// Packets that the decoder refused.
    public var packetsMalformed = 0
    /// Lost packets that were restored from the copy in the next one (Opus in-band FEC).
    public var packetsRecovered = 0
    /// Loudest sample of the last block, 0 to 1.
    public var audioLevel = 0.0
    /// Energy put out, full scale for a second being 1.
    public var totalAudioEnergy = 0.0
    /// Seconds put out.
    public var totalSamplesDuration = 0.0

    /// Nothing has happened.
    public init() {}
  }
}
