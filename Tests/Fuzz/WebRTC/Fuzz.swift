import Base
import Bytes
import SDP
import WebRTC

/// The first byte chooses: 0 reads the rest as a peer's offer and answers it, 1 as a peer's answer, 2 as two offers in a row with what an
/// application does between them; 3 as a candidate. 4 lets a connected peer send whatever the rest says, packet after packet.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let rest = [UInt8](UnsafeBufferPointer(start: data + 1, count: size - 1))
  switch data[0] % 5 {
  case 0: answer(text(rest))
  case 1: offer(text(rest))
  case 2: renegotiate(rest)
  case 3: addCandidate(text(rest))
  default: send(rest)
  }
  return 0
}

private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

private func connection() -> PeerConnection {
  var configuration = PeerConnection.Configuration(certificate: Peer.certificates.0)
  configuration.seed = 1
  return PeerConnection(configuration: configuration)
}

private func drain(_ connection: inout PeerConnection) {
  while connection.pollEvent() != nil {}
  var packet = [UInt8](repeating: 0, count: 2_048)
  var elements = packet.mutableSpan
  var span = elements.mutableBytes
  while connection.pollTransmit(into: &span, now: .zero) != nil {}
  _ = connection.statistics(now: .zero)
}

/// Whatever this side writes can be read back.
private func check(_ connection: borrowing PeerConnection) {
  guard let description = connection.localDescription?.description else { return }
  precondition((try? SessionDescription(parsing: "\(description)")) != nil, "this side writes descriptions that can be read")
}

private func answer(_ offer: String) {
  var connection = connection()
  _ = try? connection.addTrack(.audio)
  _ = try? connection.addTrack(.video)
  guard (try? connection.setRemoteDescription(.offer, sdp: offer, now: .zero)) != nil else {
    precondition(connection.signalingState == .stable, "a refused offer changes nothing")
    return
  }
  do { try connection.setLocalDescription(now: .zero) } catch { preconditionFailure("an accepted offer can be answered: \(error)") }
  check(connection)
  drain(&connection)
  // The same again from this side.
  do { try connection.setLocalDescription(now: .zero) } catch { preconditionFailure("this side can offer: \(error)") }
  check(connection)
  drain(&connection)
}

private func offer(_ answer: String) {
  var connection = connection()
  _ = try? connection.addTransceiver(.audio)
  _ = try? connection.addTransceiver(.video)
  _ = try? connection.createDataChannel(.init())
  try! connection.setLocalDescription(now: .zero)
  guard (try? connection.setRemoteDescription(.answer, sdp: answer, now: .zero)) != nil else {
    precondition(connection.signalingState == .haveLocalOffer, "a refused answer changes nothing")
    return
  }
  drain(&connection)
  _ = try? connection.addTransceiver(.video)
  do { try connection.setLocalDescription(now: .zero) } catch { preconditionFailure("this side can offer again: \(error)") }
  check(connection)
}

/// A zero byte parts two descriptions; the first byte has what is done between them.
private func renegotiate(_ input: [UInt8]) {
  guard let bits = input.first else { return }
  let parts = input.dropFirst().split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
  var connection = connection()
  guard (try? connection.setRemoteDescription(.offer, sdp: text(parts[0]), now: .zero)) != nil else { return }
  if bits & 1 != 0 { _ = try? connection.addTrack(.video) }
  if bits & 2 != 0, let first = connection.transceivers.first { try? connection.stop(first.identifier) }
  if bits & 4 != 0 {
    try? connection.setLocalDescription(.rollback, now: .zero)
  } else if bits & 8 != 0 {
    try? connection.setLocalDescription(.pranswer, now: .zero)
  } else {
    try? connection.setLocalDescription(now: .zero)
  }
  if bits & 16 != 0 { try? connection.setLocalDescription(now: .zero) }
  if bits & 32 != 0 { connection.restartIce() }
  drain(&connection)
  guard parts.count > 1 else { return }
  let before = connection.signalingState
  if (try? connection.setRemoteDescription(bits & 64 != 0 ? .answer : .offer, sdp: text(parts[1]), now: .zero)) == nil {
    let isRolledBack = bits & 64 == 0 && before == .haveLocalOffer && connection.signalingState == .stable
    precondition(connection.signalingState == before || isRolledBack, "a refused description changes nothing but for the implicit rollback")
  }
  if bits & 128 != 0 { try? connection.setLocalDescription(.rollback, now: .zero) }
  try? connection.setLocalDescription(now: .zero)
  check(connection)
  drain(&connection)
  connection.close(now: .zero)
  drain(&connection)
}

private func addCandidate(_ candidate: String) {
  var connection = connection()
  _ = try? connection.addTransceiver(.audio)
  try! connection.setLocalDescription(now: .zero)
  var answer = connection.localDescription!.description
  answer.media[0].setup = .active
  try! connection.setRemoteDescription(.answer, answer, now: .zero)
  try? connection.addIceCandidate(IceCandidate(candidate: candidate, sdpMid: answer.media[0].mid, sdpMLineIndex: 0), now: .zero)
  precondition(
    (try? SessionDescription(parsing: "\(connection.remoteDescription!.description)")) != nil, "a candidate in a description can be read")
  drain(&connection)
}

/// Packets, each behind a kind and a length of one byte.
private func send(_ input: [UInt8]) {
  var peer = Peer()
  let whole = input.span
  var reader = ByteReader(whole.bytes)
  while let kind = try? reader.uint8(), let length = try? reader.uint8() {
    guard let part = try? reader.span(min(Int(length), reader.remaining)) else { return }
    let bytes = Array(bytes: part)
    switch kind % 8 {
    case 0: peer.deliver(protecting: bytes, isControl: false)
    case 1: peer.deliver(protecting: bytes, isControl: true)
    case 2: peer.deliver(protecting: media(bytes), isControl: false)
    case 3: peer.deliver(protecting: control(bytes, peer.connection), isControl: true)
    case 4: peer.deliver(bytes)
    case 5: peer.deliver(applicationData: bytes)
    case 6: sendMedia(bytes, &peer)
    default:
      peer.now = peer.now + .milliseconds(Int64(length) * 4)
      peer.connection.handleTimeout(now: peer.now)
      peer.connection.requestKeyFrame(of: peer.video, now: peer.now)
      if let first = bytes.first { peer.connection.discardMissing(of: peer.video, before: UInt16(first)) }
    }
    peer.drain()
  }
  _ = peer.connection.statistics(now: peer.now)
  peer.connection.close(now: peer.now)
  peer.drain()
}

/// An RTP packet: four bytes of input say source, payload type, sequence number and time stamp, the rest is what comes behind the header.
private func media(_ input: [UInt8]) -> [UInt8] {
  guard input.count >= 4 else { return input }
  let source: UInt32 = [1_001, 1_002, 2_001, 77][Int(input[0] & 3)]
  let payloadType: UInt8 = [96, 97, 102, 103, 104, 111, 0, 110][Int(input[1] & 7)]
  // The first byte's other bits: padding, extension, contributing sources; the second's top bit is the marker.
  let first = 0x80 | (input[0] & 4) << 3 | (input[0] & 8) << 1 | (input[0] >> 4 & 1)
  let sequence = UInt16(input[2]) &+ UInt16(input[1] >> 3 & 0x0F) &* 4_096
  return [first, input[1] & 0x80 | payloadType] + bigEndian(UInt32(sequence), 2) + bigEndian(UInt32(input[3]) * 3_000, 4)
    + bigEndian(source, 4)
    + input[4...]
}

/// An RTCP packet: three bytes of input say packet type, count or format, and whom it is about; the rest is its body, filled up to whole words.
private func control(_ input: [UInt8], _ connection: borrowing PeerConnection) -> [UInt8] {
  guard input.count >= 3 else { return input }
  let own = connection.transceivers
  let about: UInt32 = [own[0].source, own[1].source, 1_001, 0][Int(input[2] & 3)]
  var body = bigEndian(1_001, 4)
  if input[2] & 4 != 0 { body += bigEndian(about, 4) }
  body += input[3...]
  if input[2] & 8 != 0 { body += bigEndian(about, 4) }
  while body.count % 4 != 0 { body.append(0) }
  return [0x80 | input[1] & 0x1F, 200 + input[0] % 8] + bigEndian(UInt32(body.count / 4), 2) + body
}

private func bigEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * (count - 1 - $0))) }
}

/// The connection sends pictures and sound, so that there is something to be asked for again.
private func sendMedia(_ input: [UInt8], _ peer: inout Peer) {
  let frame = input + [UInt8](repeating: 5, count: input.count * 20)
  peer.connection.sendVideo(frame.span.bytes, isKeyFrame: input.count > 100, captureTime: peer.now, on: peer.video, now: peer.now)
  peer.connection.sendAudio(
    input.span.bytes, timestamp: UInt32(input.count) * 960, captureTime: peer.now, level: 30, on: peer.audio, now: peer.now)
}
