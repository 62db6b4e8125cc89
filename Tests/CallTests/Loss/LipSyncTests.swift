import Base
import Bytes
import Camera
import Codecs
import Frames
import JitterBuffer
import Sound
import Testing
import WebRTC

@testable import Call

/// A person who claps once a second at one end of a call; at the other end the claps are heard and seen, in virtual time.
@Suite struct LipSyncTests {
  /// What there is between the two.
  struct Conditions {
    /// From a block's being played to its leaving the loudspeaker.
    var loudspeaker = Interval.milliseconds(20)
    /// From a picture's being handed over to its being seen.
    var display = Interval.milliseconds(16)
    var seconds = 20
    /// Changes the network on the way.
    var change: (_ seconds: Double, inout LossyLink.Conditions) -> Void = { _, _ in }
    /// Holds sound or picture back, as an application may.
    var requested = (sound: Interval.zero, picture: Interval.zero)
  }

  struct Clap {
    var second: Int
    /// From its making to its being heard, and pictures' delays at that time, in milliseconds.
    var (heard, seen): (Double, Double)
    /// How much later it is heard than seen.
    var lag: Double { heard - seen }
  }

  /// ITU-R BT.1359: what is noticed.
  private static let detectability = -45.0...125.0

  @Test func onAPlainLinkNothingIsHeldBack() throws {
    let claps = try run(Conditions())
    #expect(claps.count > 15)
    #expect(claps.allSatisfy { LipSyncTests.detectability.contains($0.lag) }, "\(claps)")
    // 50 to 65 ms of network, the picture's way through the decoder and to the screen; the sound's through packet, block and loudspeaker.
    #expect(claps.allSatisfy { $0.seen < 65 + 34 + 16 && $0.heard < 65 + 60 + 20 }, "\(claps)")
  }

  @Test func thePictureWaitsForASlowLoudspeaker() throws {
    let claps = try run(Conditions(loudspeaker: .milliseconds(300)))
    #expect(claps.filter { $0.second >= 5 }.count > 10)
    #expect(claps.filter { $0.second >= 5 }.allSatisfy { (80.0...125).contains($0.lag) }, "\(claps)")
    #expect(claps.last!.heard < 65 + 60 + 300, "and the sound for nothing")
  }

  @Test func theSoundWaitsForASlowScreen() throws {
    let claps = try run(Conditions(display: .milliseconds(250)))
    #expect(claps.filter { $0.second >= 5 }.count > 10)
    #expect(claps.filter { $0.second >= 5 }.allSatisfy { (-45.0...20).contains($0.lag) }, "\(claps)")
    #expect(claps.last!.seen < 65 + 34 + 250, "and the picture for nothing")
  }

  @Test func whatANetworkDoesInMidCallLeavesNothingBehind() throws {
    var conditions = Conditions(loudspeaker: .milliseconds(120), seconds: 40)
    conditions.change = { seconds, link in
      // Ten seconds in which packets come up to 150 ms later than others, then a way that is 100 ms longer.
      link.jitter = .milliseconds((8.0..<18).contains(seconds) ? 150 : 15)
      link.delay = .milliseconds(seconds < 25 ? 50 : 150)
    }
    let claps = try run(conditions)
    let settled = claps.filter { $0.second < 8 || (13..<25).contains($0.second) || $0.second > 27 }
    #expect(settled.count > 25 && settled.allSatisfy { LipSyncTests.detectability.contains($0.lag) }, "\(claps)")
    let (before, after) = (claps.filter { (3..<8).contains($0.second) }, claps.filter { $0.second >= 32 })
    #expect(before.count >= 4 && after.count >= 6)
    let most = (heard: before.map(\.heard).max()!, seen: before.map(\.seen).max()!)
    #expect(after.allSatisfy { $0.heard < most.heard + 100 + 20 && $0.seen < most.seen + 100 + 20 }, "\(claps)")
  }

  @Test func whatAPageAsksForOfTheOneTheOtherFollows() throws {
    let claps = try run(Conditions(seconds: 25, requested: (.milliseconds(600), .zero)))
    #expect(claps.last!.heard > 600)
    #expect(claps.filter { $0.second >= 12 }.allSatisfy { LipSyncTests.detectability.contains($0.lag) }, "\(claps)")
    let held = try run(Conditions(seconds: 25, requested: (.zero, .milliseconds(600))))
    #expect(held.last!.seen > 600)
    #expect(held.filter { $0.second >= 12 }.allSatisfy { LipSyncTests.detectability.contains($0.lag) }, "\(held)")
  }

  @Test func pictureAndSoundBelongTogetherByTheirStream() throws {
    var link = LossyLink(seed: 3, codecs: CodecCapability.all)
    let first = try link.sender.addTransceiver(.video, direction: .sendonly, streams: ["a"])
    let second = try link.sender.addTransceiver(.video, direction: .sendonly, streams: ["b"])
    let sound = try link.sender.addTransceiver(.audio, direction: .sendonly, streams: ["b"])
    try link.negotiate()
    func received(_ identifier: TransceiverIdentifier) throws -> TransceiverIdentifier {
      let mid = link.sender.transceiver(identifier)?.mid
      return try #require(link.receiver.transceivers.first { $0.mid == mid }).identifier
    }
    #expect(link.receiver.sound(of: try received(first)) == nil)
    #expect(link.receiver.sound(of: try received(second)) == (try received(sound)))
  }

  // MARK: A call

  private func run(_ conditions: Conditions) throws -> [Clap] {
    var link = LossyLink(seed: 11, codecs: CodecCapability.all.filter { $0.name == "VP8" || $0.name == "opus" })
    link.conditions.loss = 0
    let video = try link.sender.addTransceiver(.video, direction: .sendonly)
    let audio = try link.sender.addTransceiver(.audio, direction: .sendonly)
    try link.negotiate()
    while link.sender.isConnected == false || link.receiver.isConnected == false {
      _ = link.advance(to: link.now + .milliseconds(10))
      try #require(link.now < .zero + .seconds(10))
    }
    let (shownVideo, playedAudio) = (link.receiver.transceivers[0].identifier, link.receiver.transceivers[1].identifier)

    let (camera, microphone) = (SyntheticCamera(width: 160, height: 120, framesPerSecond: 15), SyntheticMicrophone(toneAmplitude: 1_000))
    let encoder = try CodecFactory.videoEncoder(
      .vp8, settings: VideoEncoderSettings(width: 160, height: 120, framesPerSecond: 15, bitrate: 200_000))
    let (decoder, voice) = (try CodecFactory.videoDecoder(.vp8), try CodecFactory.audioEncoder(.opus))
    let format = try #require(link.sender.transceiver(video)?.sendCodec?.capability.payloadFormat)
    var (pictures, schedule, lipSync) = (VideoJitterBuffer(format: format), VideoSchedule(), LipSync())
    var sounds = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(.opus), clockRate: 48_000)
    schedule.displayDelay = conditions.display
    (schedule.requestedDelay, sounds.configuration.requestedDelay) = (conditions.requested.picture, conditions.requested.sound)
    var clicks = ClickDetector()
    var seen: [(captured: Instant, delay: Double)] = []
    var heard: [Instant] = []
    var (frame, block, soundTimestamp, wantsKeyFrame) = (0, 0, UInt32(0), true)
    var nextUpdate = link.now

    let start = link.now
    let end = start + .seconds(Int64(conditions.seconds))
    while link.now < end {
      let (nextFrame, nextBlock) = (start + .milliseconds(Int64(frame) * 1_000 / 15), start + .milliseconds(Int64(block) * 10))
      var until = min(nextFrame, nextBlock, end)
      if let deadline = pictures.deadline { until = min(until, max(deadline, link.now)) }
      conditions.change((link.now - start).seconds, &link.conditions)
      if let received = link.advance(to: until) {
        let packet = received.packet.span.bytes
        if received.media.codec.kind == .video {
          pictures.insert(packet, header: received.media.header, arrival: link.now)
        } else {
          sounds.insert(
            payload: packet.extracting(received.media.header.payload), sequence: received.media.header.sequenceNumber,
            timestamp: received.media.header.timestamp, arrival: link.now)
        }
      }
      let now = link.now
      while let assembled = pictures.poll(now: now) {
        let placement = schedule.place(timestamp: assembled.timestamp, ready: now)
        let picture = try #require(try decoder.decode(assembled.encoded))
        let code = try #require(TimeCode.read(from: picture.buffer))
        let captured = Instant.zero + .milliseconds(Int64(code.milliseconds))
        seen.append((captured, ((placement.due ?? now) + conditions.display - captured).milliseconds))
        if let clock = link.receiver.senderClock(of: shownVideo) { lipSync.notePicture(placement.position, clock: clock, now: now) }
      }
      if now >= nextFrame {
        let picture = camera.frame(at: frame, captureTime: now)
        let encoded = try #require(try encoder.encode(picture, forceKeyFrame: wantsKeyFrame))
        wantsKeyFrame = false
        link.sender.sendVideo(encoded.bytes.span.bytes, isKeyFrame: encoded.isKeyFrame, captureTime: now, on: video, now: now)
        frame += 1
      }
      if now >= nextBlock {
        if let packet = try voice.encode(microphone.block(at: block, captureTime: now)) {
          // The packet's first sample was captured with the block before.
          link.sender.sendAudio(
            packet.span.bytes, timestamp: soundTimestamp, captureTime: now - .milliseconds(10), level: 30, on: audio, now: now)
          soundTimestamp &+= voice.timestampStep
        }
        if let click = clicks.process(sounds.nextBlock(now: now), at: now + conditions.loudspeaker) { heard.append(click) }
        if now >= nextUpdate {
          if let position = sounds.position(now: now, delay: conditions.loudspeaker), let clock = link.receiver.senderClock(of: playedAudio)
          {
            lipSync.noteSound(position, clock: clock, now: now)
          }
          lipSync.update(now: now)
          schedule.synchronizationDelay = lipSync.delays.video
          sounds.configuration.synchronizationDelay = lipSync.delays.audio
          nextUpdate = now + .milliseconds(100)
        }
        block += 1
      }
    }
    // Each second's clap was made at its start; it is seen as late as the pictures around it are.
    return heard.compactMap { time in
      let second = Int(((time - start) - .milliseconds(50)).seconds)  // no sound is sooner: the network takes as long
      let made = start + .seconds(Int64(second))
      let around = seen.filter { $0.captured > made - .milliseconds(300) && $0.captured < made + .milliseconds(300) }.map(\.delay).sorted()
      guard second > 0, !around.isEmpty else { return nil }
      return Clap(second: second, heard: (time - made).milliseconds, seen: around[around.count / 2])
    }
  }
}
