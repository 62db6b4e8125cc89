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
  telephoneEvent,
  { packetize($0, .h264(packetizationMode: 1)) },
  { packetize($0, .h264(packetizationMode: 0)) },
  statistics,
  { packetize($0, .vp8) },
  { packetize($0, .opus) },
  names,
]

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let bytes = [UInt8](UnsafeBufferPointer(start: data, count: size))
  entries[Int(bytes[0]) % entries.count](bytes.span.bytes.extracting(1..<size))
  return 0
}

private func header(_ packet: RawSpan, firstIdentifier: UInt8) {
  let header: Header
  do { header = try Header(parsing: packet) } catch { return precondition(!error.description.isEmpty, "an error says what is wrong") }
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
  (again.mid, again.rid, again.repairedRid) = (extensions.mid, extensions.rid, extensions.repairedRid)
  precondition(again == extensions, "texts survive being strings")
}

private func rtcp(_ datagram: RawSpan) {
  guard RTCP.isRTCP(datagram) else { return }
  let packets: [RTCP.Packet]
  do { packets = try RTCP.parse(datagram) } catch { return precondition(!error.description.isEmpty, "an error says what is wrong") }
  let again = rewritten(packets)
  precondition(again.count == packets.count, "no packet is lost by being written")
  for (packet, other) in zip(packets, again) {
    switch packet {
    // Texts that are not UTF-8, numbers asked for twice, and bitrates beyond 18 significant bits are written as others.
    case .sourceDescription, .goodbye, .nack, .receiverEstimatedMaximumBitrate: break
    default: precondition(other == packet, "a packet survives being written")
    }
    if case .transportFeedback(let feedback) = packet { refill(feedback) }
    if case .senderReport(let report) = packet { times(report.ntpTime) }
  }
  precondition(rewritten(again) == again, "what was written once survives being written again")
}

private func rewritten(_ packets: [RTCP.Packet]) -> [RTCP.Packet] {
  let bytes = RTCP.write(packets)
  guard let again = try? RTCP.parse(bytes.span.bytes) else { preconditionFailure("written RTCP is well-formed") }
  return again
}

/// The arrivals that a feedback tells of make the same feedback.
private func refill(_ feedback: RTCP.TransportFeedback) {
  precondition(feedback.arrivals.count == feedback.deltas.count)
  var other = RTCP.TransportFeedback(
    senderSSRC: feedback.senderSSRC, mediaSSRC: feedback.mediaSSRC, baseSequenceNumber: feedback.baseSequenceNumber,
    feedbackPacketCount: feedback.feedbackPacketCount,
    firstArrival: .zero + RTCP.TransportFeedback.referenceTick * Int64(feedback.referenceTime))
  for arrival in feedback.arrivals { precondition(other.append(arrival: arrival.map { .zero + $0 }), "a report holds what it held") }
  precondition(other == feedback, "arrivals make the feedback that they were read from")
}

private func times(_ time: NTPTime) {
  let nanoseconds = time.unixNanoseconds
  // The last nanosecond of the era may be rounded into the next one.
  if time.bits >> 32 < UInt32.max {
    precondition(NTPTime(unixNanoseconds: nanoseconds).unixNanoseconds == nanoseconds, "nanoseconds survive as NTP time")
  }
  let compact = NTPTime.compact(NTPTime.interval(compact: time.compact))
  precondition(compact <= time.compact && time.compact - compact <= 1, "an interval survives in its short form")
}

private func payload(_ payload: RawSpan, _ format: PayloadFormat) {
  var depacketizer = Depacketizer(format: format)
  var frame: [UInt8] = []
  if let descriptor = try? depacketizer.descriptor(of: payload) { precondition(descriptor.mediaOffset <= payload.byteCount) }
  do { try depacketizer.append(payload, to: &frame) } catch { precondition(!error.description.isEmpty, "an error says what is wrong") }
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
  // Wrapped behind the header that it came with, it is what it was.
  var copy = [UInt8](bytes: input.extracting(0..<header.payload.upperBound))
  let expected = copy
  for index in header.payload { copy[index] = 0 }
  var copySpan = copy.mutableSpan
  var wrapped = copySpan.mutableBytes
  let payload = target.bytes.extracting(range).extracting(original.payload)
  let count = try? Retransmission.wrap(
    sequenceNumber: original.sequenceNumber, payload: payload, into: &wrapped, headerCount: header.payload.lowerBound)
  precondition(count == expected.count && copy == expected, "a retransmission survives being unwrapped")
}

private func redundantAudio(_ payload: RawSpan) {
  guard let blocks = try? RedundantAudio.blocks(of: payload) else { return }
  for block in blocks { _ = payload.extracting(block.data) }
  // The oldest and the newest frame, written as a payload of their own.
  guard let first = blocks.first, let last = blocks.last else { preconditionFailure("a payload has a frame") }
  let frame = payload.extracting(last.data)
  let redundant = blocks.count > 1 ? payload.extracting(first.data) : payload.extracting(0..<0)
  var copy = [UInt8](repeating: 0, count: payload.byteCount + 5)
  var span = copy.mutableSpan
  var target = span.mutableBytes
  guard
    let count = try? RedundantAudio.write(
      payloadType: last.payloadType, frame: frame, redundant: redundant, timestampOffset: first.timestampOffset, into: &target)
  else { preconditionFailure("there is room for both frames") }
  copy.removeSubrange(count...)
  guard let again = try? RedundantAudio.blocks(of: copy.span.bytes), let newest = again.last else {
    preconditionFailure("a written payload is well-formed")
  }
  let isRedundant = redundant.byteCount > 0 && first.timestampOffset > 0
  precondition(again.count == (isRedundant ? 2 : 1) && newest.payloadType == last.payloadType)
  precondition(Array(copy[newest.data]) == Array(bytes: frame), "the frame survives being written")
  if isRedundant {
    precondition(again[0].timestampOffset == first.timestampOffset && Array(copy[again[0].data]) == Array(bytes: redundant))
  }
}

private func telephoneEvent(_ payload: RawSpan) {
  if payload.byteCount > 0, let event = TelephoneEvent.event(for: Character(Unicode.Scalar(payload.uint8(at: 0)))) {
    precondition(event < 16, "a tone is one of sixteen")
  }
  guard let event = try? TelephoneEvent(parsing: payload) else { return }
  var copy: [UInt8] = [0, 0, 0, 0]
  var span = copy.mutableSpan
  var target = span.mutableBytes
  guard (try? event.write(into: &target)) == 4, let again = try? TelephoneEvent(parsing: copy.span.bytes) else {
    preconditionFailure("a written event is well-formed")
  }
  precondition(again == event, "an event survives being written")
}

/// Encoding names and URIs of header extensions as session descriptions have them, one a line.
private func names(_ input: RawSpan) {
  for line in [UInt8](bytes: input).split(separator: 10) {
    let name = String(decoding: line, as: UTF8.self)
    if let format = PayloadFormat(encodingName: name, packetizationMode: 1) {
      precondition(PayloadFormat(encodingName: format.encodingName, packetizationMode: 1) == format, "a format is known by its name")
      precondition(format.isVideo == [.vp8, .h264(packetizationMode: 1)].contains(format))
    }
    if let kind = HeaderExtension(uri: name) { precondition(kind.uri == name, "an extension is known by its URI") }
  }
}

/// Frames come from encoders, not from the network, but what is cut has to come together again.
private func packetize(_ frame: RawSpan, _ format: PayloadFormat) {
  var packetizer = Packetizer(format: format)
  var depacketizer = Depacketizer(format: format)
  let maximum = 40
  guard packetizer.begin(frame, maximumPayloadCount: maximum) else { return }
  var buffer = [UInt8](repeating: 0, count: maximum)
  var result: [UInt8] = []
  var isRefused = false
  while true {
    var span = buffer.mutableSpan
    var target = span.mutableBytes
    guard let (count, isLast) = packetizer.next(frame, into: &target) else { preconditionFailure("a frame ends with its last payload") }
    precondition(count <= maximum, "payloads keep to their maximum")
    if (try? depacketizer.append(buffer.span.bytes.extracting(0..<count), to: &result)) == nil { isRefused = true }
    if isLast { break }
  }
  if case .h264 = format { return }  // Start codes of three bytes come back as four.
  precondition(isRefused || result == Array(bytes: frame), "a frame survives being cut")
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
  let block = statistics.reportBlock(ssrc: 1)
  precondition(block.extendedHighestSequenceNumber == statistics.extendedHighestSequenceNumber)
  precondition(statistics.packetsLost <= statistics.packetsExpected && statistics.jitter >= .zero)
  statistics.restart()
  precondition(statistics.packetsReceived == 0 && statistics.packetsExpected == 0, "a restarted source has sent nothing")
}
