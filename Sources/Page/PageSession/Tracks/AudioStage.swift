import Base
import Call
import Frames

/// Makes of a source's sound that of one track: as it is, or silence. Runs on the source's thread, and only while someone listens.
final class AudioStage: Sendable {
  private struct State {
    var source: AudioFanOut
    var isEnabled = true
    var isStopped = false
    var attachment: Int?
  }

  private let state: Guarded<State>
  /// The track's sound.
  let output: AudioFanOut

  private final class Demand: Sendable {
    private let stage = Guarded<Weak<AudioStage>>(Weak(nil))
    func set(_ stage: AudioStage) { self.stage.with { $0 = Weak(stage) } }
    func tell(_ isWanted: Bool) { stage.with { $0 }.object?.follow(isWanted) }
  }

  init(_ source: AudioFanOut) {
    state = Guarded(State(source: source))
    let demand = Demand()
    output = AudioFanOut { demand.tell($0) }
    demand.set(self)
  }

  deinit { state.with { state in state.attachment.map { state.source.remove($0) } } }

  private func follow(_ isWanted: Bool) {
    if isWanted {
      guard let source = state.with({ $0.isStopped || $0.attachment != nil ? nil : $0.source }) else { return }
      let attachment = source.add { [weak self] in self?.process($0) }
      state.with { $0.attachment = attachment }
    } else if let (source, attachment) = state.with({ state in state.attachment.take().map { (state.source, $0) } }) {
      source.remove(attachment)
    }
  }

  /// Takes another source from now on. On the thread that starts and ends what listens.
  func setSource(_ source: AudioFanOut) {
    guard state.with({ $0.source !== source }) else { return }
    let isWanted = state.with { $0.attachment != nil }
    follow(false)
    state.with { $0.source = source }
    if isWanted { follow(true) }
  }

  func stop() {
    state.with { $0.isStopped = true }
    follow(false)
  }

  func setEnabled(_ value: Bool) { state.with { $0.isEnabled = value } }

  private func process(_ block: AudioBlock) {
    let (isEnabled, isStopped) = state.with { ($0.isEnabled, $0.isStopped) }
    guard !isStopped else { return }
    guard !isEnabled else { return output.put(block) }
    var silence = AudioBlock.silence(channelCount: block.channelCount)
    silence.captureTime = block.captureTime
    output.put(silence)
  }
}
