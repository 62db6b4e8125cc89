import Base
import Codecs
import Frames
import V4L2

extension CaptureSession {
  /// Hands each access unit that a camera coded since the last call to `unit`, in order: none may be left out. Damaged ones are counted, and a key
  /// frame is asked for. Returns the newest picture among them if one is wanted; without, none is decoded. `now` and `ready` are those of
  /// `takePicture`. Once it has thrown, the session is over.
  public func takeUnits(now: () -> Instant, ready: Instant? = nil, wantsPicture: Bool, unit: (AccessUnit) -> Void)
    throws(CameraFailure) -> VideoFrame?
  {
    guard let coded else { return try takePicture(now: now, ready: ready) }
    var newest: VideoFrame?
    if !wantsPicture { coded.forgetPictures() }
    while let taken = try takeUnit(coded, now, ready) {
      unit(taken)
      guard wantsPicture else { continue }
      let start = now()
      guard let picture = try coded.picture(of: taken) else { continue }
      figures.conversionTime = now() - start
      if newest != nil { figures[.superseded] += 1 }
      newest = picture
    }
    do throws(V4L2Error) {
      if coded.askForKeyFrame(now: now()) == .restart { try restart(coded) }
    } catch { throw CameraFailure(error) }
    return newest
  }

  /// The next unit that is whole; nil: there is none yet.
  private func takeUnit(_ coded: CodedStream, _ now: () -> Instant, _ ready: Instant?) throws(CameraFailure) -> AccessUnit? {
    do throws(V4L2Error) {
      while let buffer = try device.dequeue(memory: .mapped, of: type) {
        queuedCount -= 1
        let arrival = now()
        let taken = unsafe coded.unit(in: buffer, memory: memory[buffer.index][0], figures: &figures)
        try enqueue(buffer.index)
        guard var taken else { continue }
        taken.frame.ledger[.capture] = note(buffer, arrival: arrival, ready: ready)
        return taken
      }
      return nil
    } catch { throw CameraFailure(error) }
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
