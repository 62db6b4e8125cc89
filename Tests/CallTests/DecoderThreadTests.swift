import Base
import Camera
import Codecs
import Frames
import Net
import Testing

@testable import Call

@Suite struct DecoderThreadTests {
  /// What the thread told, for another thread to wait for.
  private final class Told: Sendable {
    private let pictures = Guarded<[(frame: VideoFrame, due: Instant?, time: Instant)]>([])
    private let dropped = Guarded(0)
    private let wake = WakeSignal()

    func take(_ outcome: DecoderThread.Outcome) {
      switch outcome {
      case .decoded(let frame, let job, _): pictures.with { $0.append((frame, job.due, MonotonicClock.now())) }
      case .failed: Issue.record("a good frame is decoded")
      case .fellBehind(let count): dropped.with { $0 += count }
      }
      wake.signal()
    }

    /// Waits until so many frames came out, or were dropped.
    func wait(for count: Int) -> [(frame: VideoFrame, due: Instant?, time: Instant)] {
      while pictures.with({ $0.count }) + droppedCount < count { wake.wait() }
      return pictures.with { $0 }
    }

    var droppedCount: Int { dropped.with { $0 } }
  }

  private func frames(_ count: Int) throws -> [EncodedVideoFrame] {
    let camera = SyntheticCamera(width: 160, height: 120)
    let encoder = try CodecFactory.videoEncoder(.vp8, settings: VideoEncoderSettings(width: 160, height: 120, bitrate: 200_000))
    return try (0..<count).map { try #require(try encoder.encode(camera.frame(at: $0), forceKeyFrame: $0 == 0)) }
  }

  @Test func picturesAreHandedOnInOrderAndNotBeforeTheirTime() throws {
    let told = Told()
    let thread = try DecoderThread(codec: .vp8) { told.take($0) }
    defer { thread.stop() }
    let start = MonotonicClock.now()
    // More than may wait for a decoder that has fallen behind: they wait for their time, and none is lost.
    for (index, frame) in try frames(40).enumerated() {
      let due = start + .milliseconds(200 + Int64(index) * 5)
      thread.decode(DecoderThread.Job(frame: frame, firstArrival: start, due: due), now: start)
    }
    let pictures = told.wait(for: 40)
    #expect(told.droppedCount == 0)
    #expect(pictures.compactMap { TimeCode.read(from: $0.frame.buffer)?.index } == Array(0..<40))
    for picture in pictures {
      let due = try #require(picture.due)
      let (release, decode) = (try #require(picture.frame.ledger[.release]), try #require(picture.frame.ledger[.decode]))
      #expect(picture.time >= due && decode >= due && release <= decode)
    }
  }

  @Test func whatIsOverdueIsDroppedAndWhatIsHeldBackIsNot() throws {
    let told = Told()
    let thread = try DecoderThread(codec: .vp8) { told.take($0) }
    defer { thread.stop() }
    let frames = try frames(30)
    // All wait for a time long after the test, but by the clock that is told they are all due.
    let due = MonotonicClock.now() + .seconds(3_600)
    for frame in frames.prefix(10) { thread.decode(DecoderThread.Job(frame: frame, firstArrival: .zero, due: due), now: due) }
    #expect(told.droppedCount == 0)
    thread.decode(DecoderThread.Job(frame: frames[10], firstArrival: .zero, due: due), now: due)
    #expect(told.droppedCount == 11, "nothing but a key frame helps now")
    for frame in frames.suffix(19) { thread.decode(DecoderThread.Job(frame: frame, firstArrival: .zero, due: due), now: .zero) }
    #expect(told.droppedCount == 11)
  }
}
