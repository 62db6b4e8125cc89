import Base
import Bytes
import RTP
import Testing

@testable import WebRTC

@Suite struct RTPSourceTests {
  @Test func whoWasHeardIsTold() throws {
    var call = Call()
    let audio = try call.offerer.addTrack(.audio)
    try call.negotiate()
    call.run(for: .seconds(1))
    let heard = call.answerer.transceivers[0].identifier
    #expect(call.answerer.synchronizationSources(of: heard, now: call.now).isEmpty == true)
    let sound = [UInt8](repeating: 3, count: 40)
    call.offerer.sendAudio(sound.span.bytes, timestamp: 960, captureTime: call.now, level: 20, on: audio, now: call.now)
    call.run(for: .milliseconds(20))
    call.offerer.sendAudio(sound.span.bytes, timestamp: 1_920, captureTime: call.now, level: 127, on: audio, now: call.now)
    call.run(for: .milliseconds(20))
    var sources = call.answerer.synchronizationSources(of: heard, now: call.now)
    #expect(sources.count == 1 && sources[0].source == call.offerer.transceivers[0].source)
    #expect(sources[0].rtpTimestamp == 1_920 && sources[0].audioLevel == 0)
    #expect(call.now - sources[0].timestamp == .milliseconds(15))
    #expect(call.answerer.contributingSources(of: heard, now: call.now).isEmpty == true)
    call.offerer.sendAudio(sound.span.bytes, timestamp: 2_880, captureTime: call.now, level: 20, on: audio, now: call.now)
    call.run(for: .milliseconds(20))
    sources = call.answerer.synchronizationSources(of: heard, now: call.now)
    #expect(abs((sources[0].audioLevel ?? 0) - 0.1) < 1e-9)
    call.run(for: .seconds(10))
    #expect(call.answerer.synchronizationSources(of: heard, now: call.now).isEmpty == true)
  }

  @Test func aMixerNamesWhomItMixes() throws {
    var call = Call()
    let audio = try call.offerer.addTrack(.audio)
    try call.negotiate()
    call.run(for: .seconds(1))
    let sound = [UInt8](repeating: 3, count: 40)
    call.offerer.sendAudio(sound.span.bytes, timestamp: 960, captureTime: call.now, level: 20, on: audio, now: call.now)
    call.run(for: .milliseconds(20))
    let header = try #require(call.received.first?.media.header)
    // A packet of the same source with two contributing ones.
    var packet: [UInt8] = [0x82, header.payloadType]
    for value in [UInt16(header.sequenceNumber &+ 1)] { packet += [UInt8(value >> 8), UInt8(value & 0xFF)] }
    for value in [header.timestamp &+ 960, header.ssrc, 71, 72] { packet += (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
    call.inject(call.protect(packet + sound))
    let heard = call.answerer.transceivers[0].identifier
    let mixed = call.answerer.contributingSources(of: heard, now: call.now)
    #expect(mixed.map(\.source).sorted() == [71, 72] && mixed.allSatisfy { $0.rtpTimestamp == header.timestamp &+ 960 })
    #expect(call.answerer.synchronizationSources(of: heard, now: call.now).map(\.source) == [header.ssrc])
  }

  @Test func onlySoManyAreKept() {
    var sources = ContributingSources()
    for number in 0..<100 {
      sources.note(RTPSource(source: UInt32(number), timestamp: .zero + .milliseconds(Int64(number)), rtpTimestamp: 0))
    }
    #expect(sources.list.map(\.source) == Array(68..<100))
  }
}
