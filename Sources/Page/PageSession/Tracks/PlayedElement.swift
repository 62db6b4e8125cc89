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

/// Plays the sound of a track of this machine.
final class LocalPlayback: Sendable {
  private let heard = PlayedSound()
  private let source: AudioFanOut
  private let playout: PlayoutThread
  private let identifiers: Guarded<(sink: Int, source: Int)?>

  init(_ source: AudioFanOut, playout: PlayoutThread) {
    (self.source, self.playout) = (source, playout)
    let blocks = BlockSource()
    identifiers = Guarded((source.add { blocks.put($0) }, playout.add(blocks, as: heard)))
  }

  func setGain(_ value: Double) { heard.setGain(value) }

  func stop() {
    guard let made = identifiers.with({ $0.take() }) else { return }
    source.remove(made.sink)
    playout.remove(made.source)
  }
}
