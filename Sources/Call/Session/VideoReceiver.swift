import Base
import Codecs
import Frames
import JitterBuffer
import Net
import RTP
import Synchronization

/// What becomes of one transceiver's arriving video: jitter buffer, decoder, and the place where pictures go. Each picture goes there as soon as it can,
/// or when its sound is heard.
final class VideoReceiver {
  let codec: VideoCodec
  private(set) var buffer: VideoJitterBuffer
  /// Where the last frame given to the decoder began: nothing before it is waited for.
  private(set) var firstNeeded: UInt16?
  /// Where playout stands with the last frame given to the decoder.
  private(set) var position: PlayoutPosition?
  private var isPositionNew = false
  /// Keeps the picture together with its sound.
  var lipSync = LipSync()
  /// When each frame is shown.
  var schedule = VideoSchedule()
  private let decoder: DecoderThread
  private let figures: Figures

  /// Counts that the decoder's thread writes and statistics read, with their W3C names.
  final class Figures: Sendable {
    struct Values: Sendable {
      var framesDecoded = 0
      var keyFramesDecoded = 0
      var framesDropped = 0
      var totalDecodeTime = Interval.zero
      var frameWidth = 0
      var frameHeight = 0
      var decodeErrors = 0
      var jitterBufferDelay = Interval.zero
      var jitterBufferEmittedCount = 0
      var firstFrameTime: Instant?
      var freezes = FreezeCounter()
      var rate = FrameRate()
    }

    private let values = Guarded(Values())
    func update(_ body: (inout Values) -> Void) { values.with { body(&$0) } }
    var current: Values { values.with { $0 } }
  }

  /// A receiver of `codec`. `show` gets each picture on the decoder's thread; `needsKeyFrame` is called there too.
  init(
    codec: VideoCodec, format: PayloadFormat, latency: LatencyRecorder, show: @escaping @Sendable (VideoFrame) -> Void,
    needsKeyFrame: @escaping @Sendable () -> Void
  ) throws(CodecError) {
    self.codec = codec
    buffer = VideoJitterBuffer(format: format)
    let figures = Figures()
    self.figures = figures
    decoder = try DecoderThread(codec: codec) { outcome in
      switch outcome {
      case .decoded(let picture, let job, let decodeTime):
        figures.update {
          $0.framesDecoded += 1
          if job.frame.isKeyFrame { $0.keyFramesDecoded += 1 }
          $0.totalDecodeTime += decodeTime
          if let start = picture.ledger[.release] { $0.jitterBufferDelay += start - job.firstArrival }
          $0.jitterBufferEmittedCount += 1
          ($0.frameWidth, $0.frameHeight) = (picture.width, picture.height)
          if let time = picture.ledger[.decode] {
            $0.freezes.show(at: time)
            $0.rate.note(time)
          }
          if $0.firstFrameTime == nil { $0.firstFrameTime = picture.ledger[.decode] }
        }
        latency.record(picture.ledger, steps: [.assemble, .hold, .decode], now: MonotonicClock.now())
        show(picture)
      case .failed(let error):
        Log.info("a frame could not be decoded: \(error)")
        figures.update { $0.decodeErrors += 1 }
        needsKeyFrame()
      case .fellBehind(let dropped):
        Log.info("the decoder fell \(dropped) frames behind")
        figures.update { $0.framesDropped += dropped }
        needsKeyFrame()
      }
    }
  }

  var implementation: CodecImplementation { decoder.implementation }
  var values: Figures.Values { figures.current }

  /// Takes a packet; returns whether a key frame has to be asked for.
  func receive(_ packet: RawSpan, header: RTP.Header, rotation: VideoFrame.Rotation?, roundTripTime: Interval?, now: Instant) -> Bool {
    if let roundTripTime { buffer.follow(roundTripTime: roundTripTime) }
    buffer.insert(packet, header: header, arrival: now, rotation: rotation)
    return advance(now: now)
  }

  /// Hands complete frames to the decoder; returns whether a key frame has to be asked for.
  func advance(now: Instant) -> Bool {
    while let frame = buffer.poll(now: now) {
      firstNeeded = frame.firstSequenceNumber
      let placement = schedule.place(timestamp: frame.timestamp, ready: now + decoder.decodeTime)
      (position, isPositionNew) = (placement.position, true)
      targetDelay += schedule.targetDelay
      decoder.decode(DecoderThread.Job(frame: frame.encoded, firstArrival: frame.firstArrival, due: placement.due), now: now)
    }
    return buffer.pollKeyFrameRequest(now: now)
  }

  /// Where playout stands, once for each call of `advance` that gave frames to the decoder.
  func takePosition() -> PlayoutPosition? {
    defer { isPositionNew = false }
    return isPositionNew ? position : nil
  }

  /// How late frames should have been shown at least, added up over all of them.
  private(set) var targetDelay = Interval.zero

  var deadline: Instant? { buffer.deadline }

  /// The decoder lost its thread of pictures: nothing but a key frame helps.
  func requireKeyFrame(now: Instant) -> Bool {
    buffer.requireKeyFrame(now: now)
    return buffer.pollKeyFrameRequest(now: now)
  }

  func stop() { decoder.stop() }
}
