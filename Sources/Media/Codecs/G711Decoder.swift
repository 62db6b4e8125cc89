/// G.711 (RFC 3551 PCMU and PCMA), with concealment by repetition of the last pitch period.
final class G711Decoder: AudioDecoder {
  /// The longest packet that is accepted: 120 ms.
  private static let maximumByteCount = 960

  let implementationName = "parlor"
  let channelCount = 1

  private let expansion: [Int16]
  private var interpolator = TelephoneRate.Interpolator()
  private var concealment = PitchRepetition()
  private var narrow: [Int16] = []

  init(law: G711.Law) {
    expansion = G711.expansion(law)
    narrow.reserveCapacity(G711Decoder.maximumByteCount)
  }

  func decode(_ payload: RawSpan, into samples: inout [Int16]) throws(CodecError) {
    guard (1...G711Decoder.maximumByteCount).contains(payload.byteCount) else {
      throw .malformed("a G.711 packet of \(payload.byteCount) bytes")
    }
    narrow.removeAll(keepingCapacity: true)
    for index in 0..<payload.byteCount {
      narrow.append(expansion[Int(unsafe payload.unsafeLoad(fromByteOffset: index, as: UInt8.self))])
    }
    concealment.join(&narrow)
    widen(into: &samples)
  }

  func conceal(sampleCount: Int, into samples: inout [Int16]) {
    precondition(sampleCount > 0 && sampleCount % TelephoneRate.factor == 0, "a telephone sample is six at 48 kHz")
    narrow.removeAll(keepingCapacity: true)
    concealment.invent(sampleCount / TelephoneRate.factor, appendingTo: &narrow)
    widen(into: &samples)
  }

  func recover(from next: RawSpan, sampleCount: Int, into samples: inout [Int16]) throws(CodecError) -> Bool { false }

  func sampleCount(of payload: RawSpan) -> Int? {
    (1...G711Decoder.maximumByteCount).contains(payload.byteCount) ? payload.byteCount * TelephoneRate.factor : nil
  }

  private func widen(into samples: inout [Int16]) {
    samples.removeAll(keepingCapacity: true)
    interpolator.process(narrow, appendingTo: &samples)
  }
}
