import Base
import BridgeMessages
import Call
import Frames
import Net

/// Makes of a source's pictures those of one track: smaller, fewer, or black. Runs on the source's thread, and only while someone wants them.
final class VideoStage: Sendable {
  private struct State {
    var isEnabled = true
    var isStopped = false
    var size: (width: Int, height: Int)?
    var framesPerSecond: Double?
    var pacing: FramePacing
    var black: VideoBuffer?
    var attachment: Int?
  }

  private let source: VideoFanOut
  private let state: Guarded<State>
  private let pool = VideoBufferPool(capacity: 4)
  /// The track's pictures.
  let output: VideoFanOut
  private let demand: Demand

  /// Tells the stage that its pictures are wanted; apart from it, for the output comes first.
  private final class Demand: Sendable {
    private let stage = Guarded<Weak<VideoStage>>(Weak(nil))
    func set(_ stage: VideoStage) { self.stage.with { $0 = Weak(stage) } }
    func tell(_ isWanted: Bool) { stage.with { $0 }.object?.follow(isWanted) }
  }

  init(_ source: VideoFanOut) {
    self.source = source
    let demand = Demand()
    self.demand = demand
    state = Guarded(State(pacing: FramePacing(sourceRate: source.format.framesPerSecond)))
    output = VideoFanOut(format: source.format, keepsNewest: false) { demand.tell($0) }
    demand.set(self)
  }

  deinit { if let attachment = state.with({ $0.attachment }) { source.remove(attachment) } }

  private func follow(_ isWanted: Bool) {
    if isWanted {
      guard state.with({ !$0.isStopped && $0.attachment == nil }) else { return }
      let attachment = source.add { [weak self] in self?.process($0) }
      state.with { $0.attachment = attachment }
    } else if let attachment = state.with({ $0.attachment.take() }) {
      source.remove(attachment)
    }
  }

  func stop() {
    state.with { $0.isStopped = true }
    follow(false)
  }

  func setEnabled(_ value: Bool) {
    let isSudden = state.with { state in
      defer { state.isEnabled = value }
      return state.isEnabled && !value && state.attachment != nil
    }
    // Who holds the last picture must not go on showing it, however slow the source is.
    if isSudden, let newest = output.newest { process(newest) }
  }

  /// Follows width, height and rate; what is not given is the source's.
  func setFormat(_ settings: TrackSettings) {
    let source = source.format
    func side(_ value: Int) -> Int { min(max(value, 16), 8_192) & ~1 }
    let (width, height) = (settings.width ?? source.width, settings.height ?? source.height)
    let isSame = (width == source.width && height == source.height) || settings.resizeMode == "none"
    let size = isSame ? nil : (width: side(width), height: side(height))
    let rate = settings.frameRate.flatMap { $0 > 0 && $0 < source.framesPerSecond ? $0 : nil }
    state.with { ($0.size, $0.framesPerSecond) = (size, rate) }
    output.format = VideoFanOut.Format(
      width: size?.width ?? source.width, height: size?.height ?? source.height, framesPerSecond: rate ?? source.framesPerSecond)
  }

  private func process(_ frame: VideoFrame) {
    let time = frame.ledger[.capture] ?? MonotonicClock.now()
    let plan = state.with { state -> (size: (width: Int, height: Int)?, isEnabled: Bool, black: VideoBuffer?)? in
      guard !state.isStopped else { return nil }
      if state.isEnabled, let rate = state.framesPerSecond, !state.pacing.accepts(time, rate: rate) { return nil }
      guard !state.isEnabled else { return (state.size, true, nil) }
      let (width, height) = (state.size?.width ?? frame.width, state.size?.height ?? frame.height)
      if state.black?.width != width || state.black?.height != height {
        let black = VideoBuffer(width: width, height: height)
        black.fill(luma: 16)
        state.black = black
      }
      return (state.size, false, state.black)
    }
    guard let plan else { return }
    var result = frame
    if let black = plan.black {
      result.buffer = black
    } else if let size = plan.size, size != (frame.width, frame.height) {
      result.buffer = frame.buffer.croppedAndScaled(width: size.width, height: size.height, from: pool)
    }
    output.put(result)
  }
}

/// A reference that keeps nothing alive.
struct Weak<Object: AnyObject & Sendable>: Sendable {
  weak let object: Object?
  init(_ object: Object?) { self.object = object }
}
