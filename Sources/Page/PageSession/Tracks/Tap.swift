import BridgeMessages
import Call
import Frames
import Net
import Sound

/// Hands a track's sound to the page, block by block.
final class Tap {
  private let sound: AudioFanOut
  private let sink: Int

  init(number: UInt32, sound: AudioFanOut, document: Document) {
    self.sound = sound
    let loop = document.loop
    sink = sound.add { [weak document] block in
      loop.run { [weak document] in
        guard let document, !document.isClosed, document.taps[number] != nil else { return }
        guard !document.client.isCongested else { return document.count("tap.spared") }
        let bytes = block.converted(toChannelCount: 1).samples.flatMap {
          [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        document.client.send(.audio, to: document.number, target: number, bytes.span.bytes)
      }
    }
  }

  func stop() { sound.remove(sink) }
}
