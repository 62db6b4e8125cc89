import Base
import Bytes
import RTP

/// One entry for each thing that reads from the network. The first byte of the input chooses it, the rest is what it reads.
private let entries: [@Sendable (RawSpan) -> Void] = [
  { header($0, firstIdentifier: 1) },
  { header($0, firstIdentifier: 20) },
  rtcp,
  { payload($0, .vp8) },
  { payload($0, .h264(packetizationMode: 1)) },
  { payload($0, .opus) },
  { frame($0, .vp8) },
  { frame($0, .h264(packetizationMode: 1)) },
  retransmission,
  redundantAudio,
  { payload in _ = try? TelephoneEvent(parsing: payload) },
  { packetize($0, .h264(packetizationMode: 1)) },
  { packetize($0, .h264(packetizationMode: 0)) },
  statistics,
]

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let bytes = [UInt8](UnsafeBufferPointer(start: data, count: size))
  entries[Int(bytes[0]) % entries.count](bytes.span.bytes.extracting(1..<size))
  return 0
}

private func header(_ packet: RawSpan, firstIdentifier: UInt8) {
  guard let header = try? Header(parsing: packet) else { return }
  var map = HeaderExtensionMap()
  for kind in HeaderExtension.allCases { map.set(kind, identifier: firstIdentifier + kind.rawValue) }
  for index in 0..<header.csrcCount { _ = header.csrc(at: index, of: packet) }
  let extensions = HeaderExtensions(parsing: packet, header: header, map: map)
  // What was understood can be written, and is then understood as the same.
  var copy = [UInt8](repeating: 0, count: 2_000)
  var span = copy.mutableSpan
  var target = span.mutableBytes
  guard let written = try? header.write(extensions, map: map, into: &target) else { preconditionFailure("2,000 bytes hold any header") }
  copy.removeSubrange(written.count...)
  guard let second = try? Header(parsing: copy.span.bytes) else { preconditionFailure("a written header is well-formed") }
  var again = HeaderExtensions(parsing: copy.span.bytes, header: second, map: map)
  again.isMalformed = extensions.isMalformed
  precondition(again == extensions, "extensions survive being written")
}

private func rtcp(_ datagram: RawSpan) {
  guard RTCP.isRTCP(datagram), let packets = try? RTCP.parse(datagram) else { return }
  let bytes = RTCP.write(packets)
  guard let again = try? RTCP.parse(bytes.span.bytes) else { preconditionFailure("written RTCP is well-formed") }
  precondition(again.count == packets.count, "no packet is lost by being written")
  for case .transportFeedback(let feedback) in packets { precondition(feedback.arrivals.count == feedback.deltas.count) }
}

private func payload(_ payload: RawSpan, _ format: PayloadFormat) {
  var depacketizer = Depacketizer(format: format)
  var frame: [UInt8] = []
  if let descriptor = try? depacketizer.descriptor(of: payload) { precondition(descriptor.mediaOffset <= payload.byteCount) }
  try? depacketizer.append(payload, to: &frame)
}

/// A frame of several payloads: each behind its count in one byte.
private func frame(_ input: RawSpan, _ format: PayloadFormat) {
  var depacketizer = Depacketizer(format: format)
  var frame: [UInt8] = []
  var reader = ByteReader(input)
  while let count = try? reader.uint8(), let payload = try? reader.array(Int(count)) {
    let before = frame
    do { try depacketizer.append(payload.span.bytes, to: &frame) } catch {
      precondition(frame == before, "a refused payload leaves no trace")
    }
  }
}

private func retransmission(_ input: RawSpan) {
  guard let header = try? Header(parsing: input) else { return }
  var packet = [UInt8](bytes: input)
  var span = packet.mutableSpan
  var target = span.mutableBytes
  guard let range = try? Retransmission.unwrap(&target, header: header, ssrc: 1, payloadType: 96) else { return }
  guard let original = try? Header(parsing: target.bytes.extracting(range)) else { preconditionFailure("a restored packet is well-formed") }
  precondition(original.payload.count == header.payload.count - Retransmission.overhead, "the payload is whole")
}

private func redundantAudio(_ payload: RawSpan) {
  guard let blocks = try? RedundantAudio.blocks(of: payload) else { return }
  for block in blocks { _ = payload.extracting(block.data) }
}

/// Frames come from encoders, not from the network, but what is cut has to come together again.
private func packetize(_ frame: RawSpan, _ format: PayloadFormat) {
  var packetizer = Packetizer(format: format)
  var depacketizer = Depacketizer(format: format)
  let maximum = 40
  guard packetizer.begin(frame, maximumPayloadCount: maximum) else { return }
  var buffer = [UInt8](repeating: 0, count: maximum)
  var result: [UInt8] = []
  while true {
    var span = buffer.mutableSpan
    var target = span.mutableBytes
    guard let (count, isLast) = packetizer.next(frame, into: &target) else { preconditionFailure("a frame ends with its last payload") }
    precondition(count <= maximum, "payloads keep to their maximum")
    try? depacketizer.append(buffer.span.bytes.extracting(0..<count), to: &result)
    if isLast { return }
  }
}

private func statistics(_ input: RawSpan) {
  var statistics = ReceiverStatistics(clockRate: 90_000)
  var timestamps = TimestampUnwrapper()
  var reader = ByteReader(input)
  var now = Instant.zero
  while let number = try? reader.uint16(), let timestamp = try? reader.uint32(), let step = try? reader.uint32() {
    now += .microseconds(Int64(step))
    _ = timestamps.unwrap(timestamp)
    statistics.receive(sequenceNumber: number, timestamp: timestamp, arrival: now)
    if number % 16 == 0 { _ = statistics.reportBlock(ssrc: 1) }
  }
  _ = statistics.reportBlock(ssrc: 1)
}
