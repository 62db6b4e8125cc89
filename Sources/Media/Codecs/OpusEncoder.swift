import COpus
import Frames

/// Opus (RFC 6716) through libopus: 20 ms frames of speech.
final class OpusEncoder: AudioEncoder {
  let implementationName = "libopus"
  let samplesPerFrame = 960
  let timestampStep: UInt32 = 960

  private let handle: OpaquePointer
  private let channelCount: Int
  private var pending: [Int16] = []
  private var packet = [UInt8](repeating: 0, count: 1_275)

  init(settings: AudioEncoderSettings) throws(CodecError) {
    guard (1...2).contains(settings.channelCount) else { throw .invalidSetting("\(settings.channelCount) channels, accepted are 1 and 2") }
    guard (0...10).contains(settings.complexity) else { throw .invalidSetting("complexity \(settings.complexity), accepted are 0 to 10") }
    channelCount = settings.channelCount
    var error: Int32 = 0
    guard let created = unsafe opus_encoder_create(48_000, Int32(settings.channelCount), OPUS_APPLICATION_VOIP, &error) else {
      throw .unavailable("libopus: error \(error)")
    }
    unsafe handle = unsafe created
    pending.reserveCapacity(samplesPerFrame * channelCount)
    _ = unsafe opus_shim_set_complexity(handle, Int32(settings.complexity))
    _ = unsafe opus_shim_set_inband_fec(handle, settings.usesForwardErrorCorrection ? 1 : 0)
    _ = unsafe opus_shim_set_dtx(handle, settings.usesDiscontinuousTransmission ? 1 : 0)
    try setBitrate(settings.bitrate)
  }

  deinit { unsafe opus_encoder_destroy(handle) }

  func setBitrate(_ bitrate: Int) throws(CodecError) {
    guard (6_000...510_000).contains(bitrate) else {
      throw .invalidSetting("Opus bitrate \(bitrate), accepted are 6000 to 510000 bits per second")
    }
    _ = unsafe opus_shim_set_bitrate(handle, Int32(bitrate))
  }

  func setPacketLoss(_ fraction: Double) throws(CodecError) {
    guard (0...1).contains(fraction) else { throw .invalidSetting("packet loss \(fraction), accepted are 0 to 1") }
    _ = unsafe opus_shim_set_packet_loss(handle, Int32((fraction * 100).rounded()))
  }

  func encode(_ block: AudioBlock) throws(CodecError) -> [UInt8]? {
    block.appendSamples(channelCount: channelCount, to: &pending)
    guard pending.count >= samplesPerFrame * channelCount else { return nil }
    defer { pending.removeAll(keepingCapacity: true) }
    let count = unsafe opus_encode(handle, pending, Int32(samplesPerFrame), &packet, Int32(packet.count))
    guard count > 0 else { throw .encodingFailed("libopus: error \(count)") }
    // With DTX a packet of at most two bytes need not be sent (opus_encode's documentation).
    return count <= 2 ? nil : Array(packet[..<Int(count)])
  }
}

extension AudioBlock {
  /// Appends the samples with another number of channels: two are mixed to one, one is doubled.
  func appendSamples(channelCount wanted: Int, to samples: inout [Int16]) {
    switch (channelCount, wanted) {
    case (2, 1):
      for index in 0..<AudioBlock.sampleCount {
        samples.append(Int16((Int32(self.samples[2 * index]) + Int32(self.samples[2 * index + 1])) / 2))
      }
    case (1, 2):
      for sample in self.samples {
        samples.append(sample)
        samples.append(sample)
      }
    default: samples.append(contentsOf: self.samples)
    }
  }
}
