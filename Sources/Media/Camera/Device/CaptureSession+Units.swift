import Base
import Codecs
import Frames
import V4L2

extension CaptureSession {
  /// Hands each access unit that a camera coded since the last call to `unit`, in order: none may be left out. Damaged ones are counted, and a key frame is asked for.
  /// Returns the newest picture among them if one is wanted; without, none is decoded. `now` is the time on `CLOCK_MONOTONIC`. Once it has thrown, the
  /// session is over.
  public func takeUnits(now: () -> Instant, wantsPicture: Bool, unit: (AccessUnit) -> Void) throws(CameraFailure) -> VideoFrame? {
    guard let coded else { return try takePicture(now: now) }
    var newest: VideoFrame?
    do throws(V4L2Error) {
      while let buffer = try device.dequeue(memory: .mapped, of: type) {
        queuedCount -= 1
        let arrival = now()
        let taken = unsafe coded.unit(in: buffer, memory: memory[buffer.index][0], figures: &figures)
        try enqueue(buffer.index)
        guard var taken else { continue }
        taken.frame.ledger[.capture] = CaptureSession.captureTime(of: buffer, arrival: arrival)
        figures.count(frameAt: arrival.nanoseconds)
        unit(taken)
        guard wantsPicture else { continue }
        let start = now()
        guard let picture = coded.picture(of: taken) else { continue }
        figures.conversionTime = now() - start
        if newest != nil { figures[.superseded] += 1 }
        newest = picture
      }
      if !wantsPicture { coded.forgetPictures() }
      if coded.askForKeyFrame(now: now()) == .restart { try restart(coded) }
    } catch {
      throw CameraFailure(error)
    }
    return newest
  }

  /// Asks a camera that codes H.264 for a key frame, with the next call of `takeUnits`.
  public func requestKeyFrame() { coded?.requestKeyFrame() }

  /// Has a camera that codes H.264 do so at about `bitrate` bits per second.
  public func setBitrate(_ bitrate: Int) { coded?.setBitrate(bitrate) }

  /// The way to a key frame where there is no control for it: a stream begins with one.
  private func restart(_ coded: CodedStream) throws(V4L2Error) {
    try device.stopStreaming(type)
    queuedCount = 0
    for index in memory.indices { try enqueue(index) }
    try device.startStreaming(type)
    coded.restarted()
  }
}
