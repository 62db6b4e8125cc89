import COpus

/// Opus (RFC 6716) through libopus, with its own concealment.
final class OpusDecoder: AudioDecoder {
  /// The longest packet: 120 ms at 48 kHz.
  private static let maximumSampleCount = 5_760

  let implementationName = "libopus"
  let channelCount: Int
  private let handle: OpaquePointer
  private var scratch: [Int16]

  init(channelCount: Int) throws(CodecError) {
    guard (1...2).contains(channelCount) else { throw .invalidSetting("\(channelCount) channels, accepted are 1 and 2") }
    self.channelCount = channelCount
    var error: Int32 = 0
    guard let created = unsafe opus_decoder_create(48_000, Int32(channelCount), &error) else {
      throw .unavailable("libopus: error \(error)")
    }
    unsafe handle = unsafe created
    scratch = Array(repeating: 0, count: OpusDecoder.maximumSampleCount * channelCount)
  }

  deinit { unsafe opus_decoder_destroy(handle) }

  func decode(_ payload: RawSpan, into samples: inout [Int16]) throws(CodecError) {
    try run(payload, sampleCount: OpusDecoder.maximumSampleCount, usesErrorCorrection: false, into: &samples)
  }

  func conceal(sampleCount: Int, into samples: inout [Int16]) {
    precondition(
      sampleCount > 0 && sampleCount % 120 == 0 && sampleCount <= OpusDecoder.maximumSampleCount, "libopus conceals 2.5 to 120 ms")
    let count = unsafe opus_decode(handle, nil, 0, &scratch, Int32(sampleCount), 0)
    samples.removeAll(keepingCapacity: true)
    if count > 0 { samples.append(contentsOf: scratch[..<(Int(count) * channelCount)]) }
    while samples.count < sampleCount * channelCount { samples.append(0) }
  }

  func recover(from next: RawSpan, sampleCount: Int, into samples: inout [Int16]) throws(CodecError) -> Bool {
    guard sampleCount > 0, sampleCount % 120 == 0, sampleCount <= OpusDecoder.maximumSampleCount, carriesCopy(next) else { return false }
    try run(next, sampleCount: sampleCount, usesErrorCorrection: true, into: &samples)
    return true
  }

  func sampleCount(of payload: RawSpan) -> Int? {
    guard payload.byteCount > 0 else { return nil }
    let count = unsafe payload.withUnsafeBytes {
      unsafe opus_packet_get_nb_samples($0.baseAddress!.assumingMemoryBound(to: UInt8.self), Int32($0.count), 48_000)
    }
    return count > 0 && count <= OpusDecoder.maximumSampleCount ? Int(count) : nil
  }

  private func run(_ payload: RawSpan, sampleCount: Int, usesErrorCorrection: Bool, into samples: inout [Int16]) throws(CodecError) {
    // To libopus an empty packet means a lost one.
    guard payload.byteCount > 0 else { throw .malformed("an empty Opus packet") }
    let count = unsafe payload.withUnsafeBytes {
      unsafe opus_decode(
        handle, $0.baseAddress!.assumingMemoryBound(to: UInt8.self), Int32($0.count), &scratch, Int32(sampleCount),
        usesErrorCorrection ? 1 : 0)
    }
    // A text that is there already: this may happen on a thread that must not allocate.
    guard count > 0 else { throw .malformed(count == OPUS_INVALID_PACKET ? "an Opus packet that is corrupted" : "libopus failed") }
    samples.removeAll(keepingCapacity: true)
    samples.append(contentsOf: scratch[..<(Int(count) * channelCount)])
  }

  /// Whether the packet carries a coarse copy of the frame before it: the LBRR flag of its first SILK frame (RFC 6716 sections 3.1 and 4.2.3).
  private func carriesCopy(_ payload: RawSpan) -> Bool {
    guard payload.byteCount > 0 else { return false }
    return unsafe payload.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
      let configuration = unsafe start[0] >> 3
      guard configuration < 16 else { return false }  // CELT alone has none
      return unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: 48) { frames in
        unsafe withUnsafeTemporaryAllocation(of: opus_int16.self, capacity: 48) { sizes in
          guard unsafe opus_packet_parse(start, Int32(bytes.count), nil, frames.baseAddress!, sizes.baseAddress!, nil) > 0,
            unsafe sizes[0] > 0, let first = unsafe frames[0]
          else { return false }
          // SILK frames have 20 ms at most, so a frame of 40 or 60 ms holds two or three, each with a voice activity flag before the LBRR flag.
          let silkFrameCount: UInt8 = configuration >= 12 ? 1 : max(1, configuration & 3)
          let isStereo = unsafe start[0] & 0x04 != 0
          let flags = unsafe first[0]
          if flags & (0x80 >> silkFrameCount) != 0 { return true }
          return isStereo && flags & (0x80 >> (2 * silkFrameCount + 1)) != 0
        }
      }
    }
  }
}
