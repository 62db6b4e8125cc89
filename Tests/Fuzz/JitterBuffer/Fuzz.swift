import Base
import Bytes
import Codecs
import Frames
import JitterBuffer
import RTP

/// The first byte chooses the stream. Then packets follow, each as a byte of order, a byte of steps, a byte of length, and its payload.
///
/// Order: bits 0-1 time that passed (0, 10, 40, 300 ms), bit 2 marker, bit 3 the payload eight times over. Steps: bits 0-2 of the sequence
/// number, bits 3-4 of the time stamp (none, a frame, back a frame, far away).
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let input = UnsafeBufferPointer(start: data, count: size)
  switch input[0] % 5 {
  case 0: video(input, format: .vp8)
  case 1: video(input, format: .h264(packetizationMode: 1))
  case 2: audio(input, codec: .opus)
  case 3: audio(input, codec: .pcmu)
  default: stretched(input)
  }
  return 0
}

private struct Packets {
  var input: UnsafeBufferPointer<UInt8>
  var offset = 1
  var now = Instant.zero
  var sequence: UInt16 = 65_530
  var timestamp: UInt32 = 4_294_960_000

  mutating func next(frame: UInt32) -> (payload: [UInt8], isMarked: Bool)? {
    guard offset + 3 <= input.count else { return nil }
    let (order, steps, count) = (input[offset], input[offset + 1], Int(input[offset + 2]))
    let end = min(input.count, offset + 3 + count)
    defer { offset = end }
    now += .milliseconds([0, 10, 40, 300][Int(order & 3)])
    sequence &+= [1, 2, 65_533, 700, 0, 33_000, 40, 65_535][Int(steps & 7)]
    timestamp &+= [0, frame, 0 &- frame, 1 << 30][Int(steps >> 3 & 3)]
    let payload = Array(input[offset + 3..<end])
    return (order & 8 != 0 ? Array(repeatElement(payload, count: 8).joined()) : payload, order & 4 != 0)
  }
}

private func video(_ input: UnsafeBufferPointer<UInt8>, format: PayloadFormat) {
  var packets = Packets(input: input)
  var buffer = VideoJitterBuffer(format: format)
  while let (payload, isMarked) = packets.next(frame: 3_000) {
    var header = Header(
      payloadType: 96, sequenceNumber: packets.sequence, timestamp: packets.timestamp, ssrc: 1, isMarked: isMarked)
    header.payload = 0..<payload.count
    buffer.insert(payload.span.bytes, header: header, arrival: packets.now)
    drain(&buffer, packets.now)
  }
  for step in 0..<4 { drain(&buffer, packets.now + .milliseconds(Int64(step) * 200)) }
  precondition(
    buffer.counters.jitterBufferEmittedCount + buffer.counters.framesDropped >= buffer.counters.framesReceived,
    "each frame is shown or dropped")
}

private func drain(_ buffer: inout VideoJitterBuffer, _ now: Instant) {
  while let frame = buffer.poll(now: now) { precondition(!frame.encoded.bytes.isEmpty, "a frame has bytes") }
  _ = buffer.pollKeyFrameRequest(now: now)
  _ = buffer.deadline
}

private func audio(_ input: UnsafeBufferPointer<UInt8>, codec: AudioCodec) {
  var packets = Packets(input: input)
  var buffer = AudioJitterBuffer(decoder: try! CodecFactory.audioDecoder(codec), clockRate: codec.clockRate)
  var played = Instant.zero
  while let (payload, _) = packets.next(frame: codec == .opus ? 960 : 160) {
    buffer.insert(payload: payload.span.bytes, sequence: packets.sequence, timestamp: packets.timestamp, arrival: packets.now)
    while played < packets.now {
      played += .milliseconds(10)
      precondition(buffer.nextBlock(now: played).samples.count == AudioBlock.sampleCount, "a block is 10 ms")
    }
  }
}

/// Real speech is never as odd as this: the stretching must not run over any end.
private func stretched(_ input: UnsafeBufferPointer<UInt8>) {
  var buffer = AudioJitterBuffer(decoder: try! CodecFactory.audioDecoder(.pcma), clockRate: 8_000)
  for (index, byte) in input.enumerated().prefix(80) {
    let payload = [UInt8](repeating: byte, count: 160).enumerated().map { UInt8(truncatingIfNeeded: $0.offset * Int(byte)) ^ $0.element }
    let now = Instant.zero + .milliseconds(Int64(index) * 20 + Int64(byte & 0x3F) * 4)
    buffer.insert(payload: payload.span.bytes, sequence: UInt16(index), timestamp: UInt32(index) * 160, arrival: now)
    for step in 0..<2 { _ = buffer.nextBlock(now: .zero + .milliseconds(Int64(index) * 20 + Int64(step) * 10)) }
  }
}
