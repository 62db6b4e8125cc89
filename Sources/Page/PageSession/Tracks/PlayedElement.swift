import Base
import BridgeMessages
import Call
import Frames

/// A media element that plays sound.
final class PlayedElement {
  /// The tracks' numbers.
  var tracks: [UInt32] = []
  /// 0 when it is muted.
  var volume = 1.0
  private let playout: PlayoutThread
  private var local: [UInt32: LocalPlayback] = [:]

  init(playout: PlayoutThread) { self.playout = playout }

  /// Adds to the `gains` of received sounds, and plays what does not come from a peer itself.
  func follow(_ known: [UInt32: Track], gains: inout [ObjectIdentifier: Double]) {
    var heard: Set<UInt32> = []
    for number in Set(tracks) {
      guard let track = known[number], let sound = track.sound else { continue }
      if case .receivedAudio(let received) = track.source {
        gains[ObjectIdentifier(received), default: 0] += track.isEnabled ? volume : 0
      } else {
        heard.insert(number)
        let playback = local[number] ?? LocalPlayback(sound, playout: playout)
        local[number] = playback
        playback.setGain(volume)
      }
    }
    for number in local.keys where !heard.contains(number) { local.removeValue(forKey: number)?.stop() }
  }

  func stop() {
    for playback in local.values { playback.stop() }
    local = [:]
  }
}

/// Plays the sound of a track of this machine: between its source's pace and the loudspeaker's stand a few blocks.
final class LocalPlayback: Sendable {
  private struct State {
    var blocks: [AudioBlock] = []
    var gain = 1.0
    var isStarted = false
  }

  private let state = Guarded(State())
  private let source: AudioFanOut
  private let playout: PlayoutThread
  private let identifiers = Guarded<(sink: Int, inlet: Int)?>(nil)

  /// Blocks that wait before the first is heard, and at most.
  private static let (least, most) = (2, 6)

  init(_ source: AudioFanOut, playout: PlayoutThread) {
    (self.source, self.playout) = (source, playout)
    let sink = source.add { [weak self] in self?.put($0) }
    let inlet = playout.add { [weak self] _ in self?.take() ?? .silence() }
    identifiers.with { $0 = (sink, inlet) }
  }

  func setGain(_ value: Double) { state.with { $0.gain = value } }

  func stop() {
    guard let made = identifiers.with({ $0.take() }) else { return }
    source.remove(made.sink)
    playout.remove(made.inlet)
  }

  private func put(_ block: AudioBlock) {
    state.with { state in
      if state.blocks.count >= LocalPlayback.most { state.blocks.removeFirst() }
      state.blocks.append(block)
      if state.blocks.count >= LocalPlayback.least { state.isStarted = true }
    }
  }

  private func take() -> AudioBlock {
    let taken = state.with { state -> (AudioBlock, Double)? in
      guard state.isStarted, !state.blocks.isEmpty else {
        state.isStarted = false
        return nil
      }
      return (state.blocks.removeFirst(), state.gain)
    }
    return taken.map { $0.0.scaled(by: $0.1) } ?? .silence()
  }
}
