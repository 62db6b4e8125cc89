import Codecs
import Synchronization

/// Who codes a stream: the library or device, and whether that is hardware. It changes when software takes over, and
/// when a camera's own coding is used.
struct CodecImplementation: Sendable, Equatable {
  var name: String
  var isHardware: Bool

  /// A camera whose own access units are passed on.
  static let camera = CodecImplementation(name: "camera", isHardware: true)

  private init(name: String, isHardware: Bool) { (self.name, self.isHardware) = (name, isHardware) }
  init(_ encoder: any VideoEncoder) { (name, isHardware) = (encoder.implementationName, encoder.isHardware) }
  init(_ decoder: any VideoDecoder) { (name, isHardware) = (decoder.implementationName, decoder.isHardware) }
}

/// The permit that each encoder and decoder holds for its thread. A page or a peer can ask for any number of them, the machine has not.
final class CodecThreadPermit: Sendable {
  /// More than any call needs: a meeting of a hundred shows fewer at a time.
  static let limit = 192

  private static let taken = Atomic(0)

  /// Throws when too many encoders and decoders run already.
  init() throws(CodecError) {
    // A refused permit is given back by its deinitializer too.
    guard CodecThreadPermit.taken.add(1, ordering: .relaxed).newValue <= CodecThreadPermit.limit else {
      throw .unavailable("\(CodecThreadPermit.limit) encoders and decoders run already")
    }
  }

  deinit { CodecThreadPermit.taken.subtract(1, ordering: .relaxed) }
}
