import Frames

/// G.711 (RFC 3551 PCMU and PCMA): 20 ms packets of 160 bytes.
final class G711Encoder: AudioEncoder {
  let implementationName = "parlor"
  let samplesPerFrame = 960
  let timestampStep: UInt32 = 160

  private let law: G711.Law
  private var decimator = TelephoneRate.Decimator()
  private var mono: [Int16] = []
  private var pending: [Int16] = []

  init(law: G711.Law) {
    self.law = law
    mono.reserveCapacity(AudioBlock.sampleCount)
    pending.reserveCapacity(160)
  }

  func encode(_ block: AudioBlock) throws(CodecError) -> [UInt8]? {
    mono.removeAll(keepingCapacity: true)
    block.appendSamples(channelCount: 1, to: &mono)
    decimator.process(mono, appendingTo: &pending)
    guard pending.count >= 160 else { return nil }
    defer { pending.removeAll(keepingCapacity: true) }
    return pending.map { G711.compress($0, law) }
  }

  func setBitrate(_ bitrate: Int) throws(CodecError) {}

  func setPacketLoss(_ fraction: Double) throws(CodecError) {}
}
