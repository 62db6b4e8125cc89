import Base
import Codecs
import Frames
import Net
import SDP
import Synchronization

/// Encodes the newest picture, always, or passes on what a camera coded itself, all of it; bitrate and key frame requests reach it from any thread.
final class EncoderThread: Sendable {
  /// How it tells its source what it needs.
  struct Source: Sendable {
    var setNeeds: @Sendable (VideoNeeds) -> Void
    var requestKeyFrame: @Sendable () -> Void
  }

  /// What comes of a source that codes itself, in order.
  private enum Arrival {
    /// Another source, and what its units are.
    case source(AccessUnit.Format?)
    case unit(AccessUnit)
    case end
  }

  private struct Arrivals {
    var list: [Arrival] = []
    /// Counts sources: what comes late is of an old one.
    var generation = 0
    var source: Source?
  }

  let mailbox = Mailbox<VideoFrame>()
  private let wake = WakeSignal()
  private let bitrate: Atomic<Int>
  private let keyFrame = Atomic(false)
  private let limits = Guarded(EncodingLimits())
  private let arrivals = Guarded(Arrivals())
  private let thread: Guarded<WorkerThread?> = Guarded(nil)
  private let coder: Guarded<CodecImplementation>
  private let permit: CodecThreadPermit
  /// Whether access units of H.264 are sent as they are.
  let passesUnits: Bool

  /// Units that may wait: a third of a second at 30 a second.
  private static let unitLimit = 10

  /// Starts encoding. `accepted` is what the peer takes of a camera's own H.264; nil: nothing. `output` is called on the encoder's thread.
  init(
    codec: VideoCodec, settings: VideoEncoderSettings, accepted: H264Profile? = nil,
    output: @escaping @Sendable (EncodedVideoFrame, _ encodeTime: Interval) -> Void
  ) throws(CodecError) {
    permit = try CodecThreadPermit()
    passesUnits = accepted != nil
    let box = Handover(try CodecFactory.videoEncoder(codec, settings: settings))
    coder = Guarded(CodecImplementation(box.object))
    bitrate = Atomic(settings.bitrate)
    thread.with {
      $0 = WorkerThread(name: "parlor-encode") { [unowned self] thread in
        var worker = Worker(self, encoder: box.object, settings: settings, accepted: accepted, output: output)
        while !thread.isStopping {
          wake.wait()
          if !thread.isStopping { worker.step() }
        }
      }
    }
  }

  /// What the thread itself holds.
  private struct Worker {
    private unowned let owner: EncoderThread
    private let encoder: any VideoEncoder
    private let settings: VideoEncoderSettings
    private let output: @Sendable (EncodedVideoFrame, Interval) -> Void
    private var stage: LimitStage
    private var current: (bitrate: Int, rate: Double)
    private var passage: PassThrough
    private var needs: VideoNeeds?
    private var implementation: CodecImplementation
    /// Kept, so that none is allocated.
    private var taken: [Arrival] = []

    init(
      _ owner: EncoderThread, encoder: any VideoEncoder, settings: VideoEncoderSettings, accepted: H264Profile?,
      output: @escaping @Sendable (EncodedVideoFrame, Interval) -> Void
    ) {
      (self.owner, self.encoder, self.settings, self.output) = (owner, encoder, settings, output)
      stage = LimitStage(framesPerSecond: settings.framesPerSecond)
      current = (settings.bitrate, settings.framesPerSecond)
      passage = PassThrough(accepted: accepted, sourceRate: settings.framesPerSecond)
      implementation = CodecImplementation(encoder)
    }

    mutating func step() {
      let limits = owner.limits.with { $0 }
      let source = owner.arrivals.with { arrivals -> Source? in
        swap(&arrivals.list, &taken)
        return arrivals.source
      }
      for arrival in taken { take(arrival, limits, source) }
      taken.removeAll(keepingCapacity: true)
      let isPassing = passage.isPassing
      if let frame = owner.mailbox.take(), passage.takePicture() {
        if isPassing { owner.keyFrame.store(true, ordering: .relaxed) }
        encode(frame, limits)
      }
      if passage.isPassing, owner.keyFrame.exchange(false, ordering: .relaxed) { source?.requestKeyFrame() }
      tell(limits, source)
    }

    private mutating func take(_ arrival: Arrival, _ limits: EncodingLimits, _ source: Source?) {
      switch arrival {
      case .source(let format):
        leave()
        passage.begin(format, limits)
        needs = nil
        if passage.mode == .awaiting { source?.requestKeyFrame() }
      case .end:
        leave()
        passage.end()
      case .unit(let unit):
        switch passage.take(unit, limits, bitrate: owner.bitrate.load(ordering: .relaxed)) {
        case .drop: break
        case .dropAskingForKeyFrame: source?.requestKeyFrame()
        case .pass:
          note(.camera)
          if unit.frame.isKeyFrame { owner.keyFrame.store(false, ordering: .relaxed) }
          var frame = unit.frame
          frame.ledger[.encode] = MonotonicClock.now()
          output(frame, .zero)
        }
      }
    }

    /// What is coded next cannot refer to what was passed on.
    private func leave() {
      if passage.isPassing { owner.keyFrame.store(true, ordering: .relaxed) }
    }

    private mutating func tell(_ limits: EncodingLimits, _ source: Source?) {
      guard let source, owner.passesUnits else { return }
      let now = passage.needs(limits, bitrate: owner.bitrate.load(ordering: .relaxed))
      guard now != needs else { return }
      needs = now
      source.setNeeds(now)
    }

    private mutating func note(_ value: CodecImplementation) {
      guard value != implementation else { return }
      implementation = value
      owner.coder.with { $0 = value }
    }

    private mutating func encode(_ newest: VideoFrame, _ limits: EncodingLimits) {
      guard let frame = stage.apply(limits, to: newest) else { return }
      let wanted = (
        bitrate: min(owner.bitrate.load(ordering: .relaxed), limits.maximumBitrate ?? .max),
        rate: min(settings.framesPerSecond, limits.maximumFramesPerSecond ?? .infinity)
      )
      if wanted != current {
        current = wanted
        do { try encoder.setBitrate(wanted.bitrate, framesPerSecond: wanted.rate) } catch {
          Log.warning("the encoder refuses \(wanted.bitrate) bit/s at \(wanted.rate) pictures a second: \(error)")
        }
      }
      let force = owner.keyFrame.exchange(false, ordering: .relaxed)
      let start = MonotonicClock.now()
      do {
        let encoded = try encoder.encode(frame, forceKeyFrame: force)
        note(CodecImplementation(encoder))
        guard var result = encoded else {
          if force { owner.keyFrame.store(true, ordering: .relaxed) }
          return
        }
        let end = MonotonicClock.now()
        result.ledger[.encode] = end
        output(result, end - start)
      } catch {
        Log.error("a picture could not be encoded: \(error)")
      }
    }
  }

  var implementation: CodecImplementation { coder.with { $0 } }
  /// Wakes the encoder after a picture was put into the mailbox.
  func frameArrived() { wake.signal() }

  /// Prepares for another source whose units are of `format`; returns what `unitArrived` takes.
  func begin(_ format: AccessUnit.Format?) -> Int {
    arrivals.with { arrivals in
      arrivals.generation += 1
      arrivals.list.removeAll(keepingCapacity: true)
      arrivals.list.append(.source(format))
      arrivals.source = nil
      return arrivals.generation
    }
  }

  /// The source that was begun can be told what is needed of it.
  func connect(_ source: Source?) {
    arrivals.with { $0.source = source }
    wake.signal()
  }

  /// An access unit of the source of `generation` came; nil: no more come, or they are another stream. Every one counts: when too many wait, those are dropped,
  /// which the next ones show.
  func unitArrived(_ unit: AccessUnit?, generation: Int) {
    arrivals.with { arrivals in
      guard arrivals.generation == generation else { return }
      if arrivals.list.count >= EncoderThread.unitLimit { arrivals.list.removeAll { if case .unit = $0 { true } else { false } } }
      arrivals.list.append(unit.map(Arrival.unit) ?? .end)
    }
    wake.signal()
  }

  /// The next picture becomes a key frame.
  func requestKeyFrame() {
    keyFrame.store(true, ordering: .relaxed)
    // A camera that codes itself is to know at once.
    if passesUnits { wake.signal() }
  }
  /// Bits per second from the next picture on.
  func setBitrate(_ value: Int) { bitrate.store(value, ordering: .relaxed) }
  /// What may be sent, from the next picture on.
  func setLimits(_ value: EncodingLimits) { limits.with { $0 = value } }
  func stop() { thread.with { $0 }?.stop(waking: wake) }
}
