import Base
import BridgeMessages
import Call
import Codecs
import Frames
import Net

/// Makes of a source's pictures those of one track: smaller, fewer, or black. Runs on the source's thread, and only while someone wants them.
///
/// What a source codes itself goes on as it is, as long as nothing is to be made of it.
final class VideoStage: Sendable {
  private struct State {
    var isEnabled = true
    var isStopped = false
    var size: (width: Int, height: Int)?
    var framesPerSecond: Double?
    var pacing: FramePacing
    var black: VideoBuffer?
    var attachment: Int?
    /// Whether the source gives access units.
    var isCoded = false
    /// Whether pictures go on as they come.
    var isUnchanged: Bool { size == nil && framesPerSecond == nil }

    /// A black picture for one of this size.
    mutating func blackPicture(_ width: Int, _ height: Int) -> VideoBuffer {
      let (width, height) = (size?.width ?? width, size?.height ?? height)
      if let black, (black.width, black.height) == (width, height) { return black }
      let new = VideoBuffer(width: width, height: height)
      new.fill(luma: 16)
      black = new
      return new
    }
  }

  private let source: VideoFanOut
  private let state: Guarded<State>
  private let pool = VideoBufferPool(capacity: 4)
  /// The track's pictures.
  let output: VideoFanOut
  private let demand: Demand
  /// Held while the source is told what is needed, so that what is told last is what holds.
  private let telling = Guarded(())

  /// Tells the stage that its pictures are wanted, and how; apart from it, for the output comes first.
  private final class Demand: Sendable {
    private let stage = Guarded<Weak<VideoStage>>(Weak(nil))
    func set(_ stage: VideoStage) { self.stage.with { $0 = Weak(stage) } }
    func tell(_ isWanted: Bool) { stage.with { $0 }.object?.follow(isWanted) }
    func tellNeeds() { stage.with { $0 }.object?.followNeeds() }
  }

  init(_ source: VideoFanOut) {
    self.source = source
    let demand = Demand()
    self.demand = demand
    state = Guarded(State(pacing: FramePacing(sourceRate: source.format.framesPerSecond)))
    output = VideoFanOut(
      format: source.format, keepsNewest: false, onDemand: { demand.tell($0) }, onNeeds: { demand.tellNeeds() })
    demand.set(self)
  }

  deinit { if let attachment = state.with({ $0.attachment }) { source.remove(attachment) } }

  private func follow(_ isWanted: Bool) {
    if isWanted {
      guard state.with({ !$0.isStopped && $0.attachment == nil }) else { return }
      let attachment = source.add(
        needs: needs, units: { [weak self] in self?.process($0) }, pictures: { [weak self] in self?.process($0) })
      state.with { $0.attachment = attachment }
      tellNeeds()
    } else if let attachment = state.with({ $0.attachment.take() }) {
      source.remove(attachment)
    }
  }

  /// What is needed of the source. Black pictures are made at the pace of its units, if it gives any.
  private var needs: VideoNeeds {
    let wanted = output.needs
    return state.with { state in
      guard state.isUnchanged else { return VideoNeeds() }
      return state.isEnabled ? wanted : VideoNeeds(pictures: !state.isCoded, units: wanted.units, bitrate: wanted.bitrate)
    }
  }

  private func tellNeeds() {
    telling.with { _ in
      if let attachment = state.with({ $0.attachment }) { source.setNeeds(needs, of: attachment) }
    }
  }

  private func followNeeds() {
    if output.takeKeyFrameRequest() { source.requestKeyFrame() }
    tellNeeds()
  }

  func stop() {
    state.with { $0.isStopped = true }
    follow(false)
  }

  func setEnabled(_ value: Bool) {
    let (isSudden, isCoded) = state.with { state in
      defer { state.isEnabled = value }
      return (state.isEnabled && !value && state.attachment != nil, state.isCoded)
    }
    if !value { output.endUnits() }
    tellNeeds()
    // Who holds the last picture must not go on showing it, however slow the source is.
    if isSudden, let newest = output.newest { process(newest) } else if isSudden, isCoded { putBlack(MonotonicClock.now()) }
  }

  private func putBlack(_ time: Instant) {
    let format = source.format
    var ledger = Ledger()
    ledger[.capture] = time
    output.put(VideoFrame(buffer: state.with { $0.blackPicture(format.width, format.height) }, ledger: ledger))
  }

  /// Follows width, height and rate; what is not given is the source's.
  func setFormat(_ settings: TrackSettings) {
    let source = source.format
    func side(_ value: Int) -> Int { min(max(value, 16), 8_192) & ~1 }
    let (width, height) = (settings.width ?? source.width, settings.height ?? source.height)
    let isSame = (width == source.width && height == source.height) || settings.resizeMode == "none"
    let size = isSame ? nil : (width: side(width), height: side(height))
    let rate = settings.frameRate.flatMap { $0 > 0 && $0 < source.framesPerSecond ? $0 : nil }
    let isUnchanged = state.with { state in
      (state.size, state.framesPerSecond) = (size, rate)
      return state.isUnchanged
    }
    if !isUnchanged { output.endUnits() }
    tellNeeds()
    output.format = VideoFanOut.Format(
      width: size?.width ?? source.width, height: size?.height ?? source.height, framesPerSecond: rate ?? source.framesPerSecond)
  }

  private func process(_ unit: AccessUnit?) {
    let (isNew, isEnabled, passes) = state.with { state in
      let isNew = state.isCoded != (unit != nil)
      state.isCoded = unit != nil
      return (isNew, state.isEnabled, !state.isStopped && state.isEnabled && state.isUnchanged)
    }
    if isNew { tellNeeds() }
    if let unit, passes { return output.put(unit) }
    // Said again with each unit: one may have been on its way when the track was switched off.
    output.endUnits()
    if let unit, !isEnabled { putBlack(unit.frame.ledger[.capture] ?? MonotonicClock.now()) }
  }

  private func process(_ frame: VideoFrame) {
    let time = frame.ledger[.capture] ?? MonotonicClock.now()
    let plan = state.with { state -> (size: (width: Int, height: Int)?, isEnabled: Bool, black: VideoBuffer?)? in
      guard !state.isStopped else { return nil }
      if state.isEnabled, let rate = state.framesPerSecond, !state.pacing.accepts(time, rate: rate) { return nil }
      guard !state.isEnabled else { return (state.size, true, nil) }
      return (state.size, false, state.blackPicture(frame.width, frame.height))
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
