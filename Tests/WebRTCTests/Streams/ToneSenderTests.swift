import Base
import RTP
import Testing

@testable import WebRTC

@Suite struct ToneSenderTests {
  /// Runs a sender to its end: what it said, with the milliseconds.
  private func run(_ sender: inout ToneSender, from start: Instant = .zero) -> [(time: Int64, output: ToneSender.Output)] {
    var result: [(time: Int64, output: ToneSender.Output)] = []
    while let due = sender.deadline {
      sender.handleTimeout(clockRate: 48_000, now: due)
      while let output = sender.pollOutput() { result.append(((due - start).nanoseconds / 1_000_000, output)) }
    }
    return result
  }

  private func tones(_ run: [(time: Int64, output: ToneSender.Output)]) -> [String] {
    run.compactMap { if case .tone(let tone, let rest) = $0.output { "\($0.time) \(tone)|\(rest)" } else { nil } }
  }

  @Test func tonesComeOneAfterAnotherWithPauses() {
    var sender = ToneSender()
    sender.insert("1,A", duration: .milliseconds(100), gap: .milliseconds(70), now: .zero)
    #expect(tones(run(&sender)) == ["0 1|,A", "170 ,|A", "2170 A|", "2340 |"])
    #expect(!sender.isPlaying)
  }

  @Test func anEventGrowsAndSaysItsEndThreeTimes() {
    var sender = ToneSender()
    sender.insert("#", duration: .milliseconds(50), gap: .milliseconds(30), now: .zero)
    let packets = run(&sender).compactMap { entry -> (Int64, TelephoneEvent, Bool)? in
      guard case .packet(let event, start: .zero, offset: 0, let isMarked) = entry.output else { return nil }
      return (entry.time, event, isMarked)
    }
    #expect(packets.map(\.0) == [0, 20, 40, 50, 60, 70])
    #expect(packets.map(\.1.duration) == [0, 960, 1_920, 2_400, 2_400, 2_400])
    #expect(packets.map(\.1.isEnd) == [false, false, false, true, true, true])
    #expect(packets.map(\.2) == [true, false, false, false, false, false])
    #expect(packets.allSatisfy { $0.1.event == 11 })
  }

  @Test func aLongToneGoesOnInSegments() {
    var sender = ToneSender()
    sender.insert("5", duration: .milliseconds(9_999), gap: .zero, now: .zero)
    var ends: [(UInt32, UInt16)] = []
    var marks = 0
    for entry in run(&sender) {
      guard case .packet(let event, _, let offset, let isMarked) = entry.output else { continue }
      if isMarked { marks += 1 }
      if event.isEnd { ends.append((offset, event.duration)) }
    }
    // 6,000 ms are 288,000 ticks: four whole segments and a rest.
    #expect(ends.map(\.0) == [262_140, 262_140, 262_140] && ends.map(\.1) == [25_860, 25_860, 25_860] && marks == 1)
  }

  @Test func newTonesReplaceTheRest() {
    var sender = ToneSender()
    sender.insert("123", duration: .milliseconds(100), gap: .milliseconds(50), now: .zero)
    sender.handleTimeout(clockRate: 8_000, now: .zero)
    while sender.pollOutput() != nil {}
    #expect(sender.rest == "23" && sender.isPlaying)
    sender.insert("9", duration: .milliseconds(40), gap: .milliseconds(30), now: .zero + .milliseconds(60))
    #expect(tones(run(&sender)) == ["150 9|", "220 |"])
    // An empty list ends it after the tone that is sent.
    sender.insert("12", duration: .milliseconds(100), gap: .milliseconds(50), now: .zero)
    sender.handleTimeout(clockRate: 8_000, now: .zero)
    while sender.pollOutput() != nil {}
    sender.insert("", duration: .milliseconds(100), gap: .milliseconds(50), now: .zero)
    #expect(tones(run(&sender)) == ["150 |"])
  }

  @Test func thePeerHearsTonesInPlaceOfSound() throws {
    var call = Call()
    let audio = try call.offerer.addTrack(.audio)
    #expect(call.offerer.canInsertTones(on: audio) == false)
    #expect(throws: PeerConnectionError.self) { try call.offerer.insertTones("1", on: audio, now: call.now) }
    try call.negotiate()
    call.run(for: .seconds(1))
    call.forgetEvents()
    #expect(call.offerer.canInsertTones(on: audio) == true)
    let wrong = #expect(throws: PeerConnectionError.self) { try call.offerer.insertTones("1x", on: audio, now: call.now) }
    #expect(wrong?.name == .invalidCharacter)
    let sound = [UInt8](repeating: 3, count: 40)
    let began = call.now
    call.offerer.sendAudio(sound.span.bytes, timestamp: 7_000, captureTime: began, level: 20, on: audio, now: began)
    try call.offerer.insertTones("1d", on: audio, now: call.now)
    for index in 1..<30 {
      call.run(until: began + .milliseconds(Int64(20 * index)))
      let ticks = UInt32(index * 960)
      call.offerer.sendAudio(sound.span.bytes, timestamp: 7_000 + ticks, captureTime: call.now, level: 20, on: audio, now: call.now)
    }
    call.run(for: .milliseconds(100))
    let events = call.received.filter { $0.media.codec.name == "telephone-event" }
    let heard = events.map { TelephoneEvent.init(payload: $0.packet, $0.media.header.payload) }
    #expect(Set(heard.compactMap { $0?.event }) == [1, 15])
    #expect(heard.count { $0?.isEnd == true } == 6)
    // Both tones lie on the clock of the sound.
    #expect(Set(events.map(\.media.header.timestamp)).sorted() == [7_000, 7_000 + 170 * 48])
    #expect(call.received.count - events.count == 30 - Int(call.offerer.discards["rtp.toneInstead"]))
    #expect(call.offerer.discards["rtp.toneInstead"] >= 9)
    let numbers = call.received.map(\.media.header.sequenceNumber)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
    let told = call.offererEvents.compactMap { if case .tone(audio, let tone, let rest) = $0 { "\(tone)|\(rest)" } else { nil } }
    #expect(told == ["1|D", "D|", "|"])
  }

  @Test func whoMayNotSendAnyMoreFallsSilent() throws {
    var call = Call()
    let audio = try call.offerer.addTrack(.audio)
    try call.negotiate()
    call.run(for: .seconds(1))
    try call.offerer.insertTones("123456", on: audio, now: call.now)
    call.run(for: .milliseconds(200))
    try call.offerer.stop(audio)
    call.run(for: .seconds(3))
    let told = call.offererEvents.compactMap { if case .tone(audio, let tone, _) = $0 { tone } else { nil } }
    #expect(told == ["1", "2"] && call.offerer.canInsertTones(on: audio) == false)
  }
}

extension TelephoneEvent {
  /// The event in a packet's payload.
  init?(payload packet: [UInt8], _ range: Range<Int>) {
    guard let event = try? TelephoneEvent(parsing: packet.span.bytes.extracting(range)) else { return nil }
    self = event
  }
}
