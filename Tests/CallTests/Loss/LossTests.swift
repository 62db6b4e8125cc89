import Base
import Bytes
import Camera
import Codecs
import Frames
import JitterBuffer
import Sound
import Testing
import WebRTC

/// Camera and microphone at one end, eyes and ears at the other, and a bad network between them.
@Suite struct LossTests {
  /// What came of a call.
  struct Outcome {
    var framesSent = 0
    var framesShown = 0
    var decoderErrors = 0
    /// The worst likeness of a shown picture to the decode of the lossless bytes, in dB; 128 for the same to the last pixel.
    var worst = 128.0
    var wrongTimeCodes = 0
    /// When pictures were shown and asked for anew, in milliseconds from the start.
    var shownAt: [Int] = []
    var keyFrameRequestsAt: [Int] = []
    var keyFramesShownAt: [Int] = []
    var clicksHeard: [Int] = []
    var audio: AudioJitterBuffer.Counters
    /// How far playout lags behind its target at the end, in milliseconds.
    var excessDelay = 0.0
    var retransmissions = 0
    var lost = 0
    var discards: [String: Int] = [:]
  }

  @Test(arguments: VideoCodec.allCases)
  func retransmissionRepairsWhatFivePercentLossBreaks(codec: VideoCodec) throws {
    let outcome = try run(codec, seconds: 6)
    #expect(outcome.decoderErrors == 0)
    #expect(outcome.worst == 128, "the same picture as without loss")
    #expect(outcome.wrongTimeCodes == 0)
    #expect(outcome.lost > 30)
    #expect(outcome.retransmissions > 10)
    #expect(outcome.framesShown >= outcome.framesSent * 98 / 100, "\(outcome.framesShown) of \(outcome.framesSent)")
    #expect(outcome.keyFrameRequestsAt.count <= 1, "\(outcome.keyFrameRequestsAt)")
    let stalls = zip(outcome.shownAt, outcome.shownAt.dropFirst()).map { $1 - $0 }
    #expect((stalls.max() ?? 0) < 500, "\(stalls)")
    // A click at the start of each second: it is heard, whatever was lost around it.
    #expect(outcome.clicksHeard.count >= 5, "\(outcome.clicksHeard)")
    #expect(outcome.audio.concealedSamples > 0)
    #expect(outcome.audio.concealedSamples < 48_000 * 6 / 10)
    #expect(abs(outcome.excessDelay) < 40, "\(outcome.excessDelay) ms")
    #expect(
      outcome.discards.keys.allSatisfy { $0.hasPrefix("sctp") || $0.hasPrefix("dtls") || $0.hasPrefix("ice") || $0 == "srtp.early" },
      "\(outcome.discards)")
  }

  @Test(arguments: VideoCodec.allCases)
  func afterAnOutagePictureAndSoundComeBackAtOnce(codec: VideoCodec) throws {
    let (start, end) = (2_000, 4_000)
    let outcome = try run(codec, loss: 0, seconds: 9, outage: start..<end)
    #expect(outcome.decoderErrors == 0)
    #expect(outcome.worst == 128)
    // A packet shows what is missing after a frame's time and one way (50 to 65 ms); the request takes another, and finds the next frame.
    let asked = try #require(outcome.keyFrameRequestsAt.first { $0 >= end })
    #expect(asked <= end + 34 + 65 + 65 + 5)
    let shown = try #require(outcome.keyFramesShownAt.first { $0 >= asked })
    // One frame's time, one way, and what the pacer takes for a key frame.
    #expect(shown <= asked + 34 + 65 + 60, "asked \(asked), shown \(outcome.keyFramesShownAt)")
    #expect(outcome.shownAt.first { $0 >= end + 65 } == shown, "nothing stale is shown before")
    #expect(outcome.retransmissions < 20, "nobody asks for what the outage swallowed")
    // From then on the pictures flow.
    let later = outcome.shownAt.filter { $0 > end + 1_000 }
    #expect(later.count > 90, "\(later.count)")
    // No key frame is asked for once the picture is whole again, not for what the outage swallowed either.
    #expect(outcome.keyFrameRequestsAt.filter { $0 > shown + 200 } == [])
    #expect(outcome.clicksHeard.filter { $0 >= 5_000 }.count >= 3, "\(outcome.clicksHeard)")
    #expect(outcome.audio.concealedSamples > 48_000, "the outage was filled")
    #expect(outcome.audio.silentConcealedSamples > 0, "and faded")
    #expect(abs(outcome.excessDelay) < 40, "\(outcome.excessDelay) ms")
  }

  // MARK: A call

  /// One end of a call sends, the other shows; everything happens when its time has come.
  private func run(_ codec: VideoCodec, loss: Double = 0.05, seconds: Int, outage: Range<Int>? = nil) throws -> Outcome {
    let capabilities = CodecCapability.all.filter { $0.name.uppercased() == codec.rawValue.uppercased() || $0.name == "opus" }
    var link = LossyLink(seed: 7, codecs: capabilities)
    link.conditions.loss = loss
    let video = try link.sender.addTransceiver(.video, direction: .sendonly)
    let audio = try link.sender.addTransceiver(.audio, direction: .sendonly)
    try link.negotiate()
    while link.sender.isConnected == false || link.receiver.isConnected == false {
      _ = link.advance(to: link.now + .milliseconds(10))
      try #require(link.now < .zero + .seconds(10), "connects under loss")
    }
    link.senderEvents = []

    let (width, height) = (320, 192)
    let format = link.sender.transceiver(video)!.sendCodec!.capability.payloadFormat!
    let (camera, microphone) = (SyntheticCamera(width: width, height: height), SyntheticMicrophone())
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: width, height: height, bitrate: 500_000))
    let (reference, decoder) = (try CodecFactory.videoDecoder(codec), try CodecFactory.videoDecoder(codec))
    let voice = try CodecFactory.audioEncoder(.opus)
    try voice.setPacketLoss(0.05)
    var pictures = VideoJitterBuffer(format: format)
    var sounds = AudioJitterBuffer(decoder: try CodecFactory.audioDecoder(.opus), clockRate: 48_000)
    var clicks = ClickDetector()
    var originals: [UInt32: VideoBuffer] = [:]
    var outcome = Outcome(audio: sounds.counters)
    var (frame, block, soundTimestamp, wantsKeyFrame) = (0, 0, UInt32(0), false)

    let start = link.now
    func milliseconds(_ instant: Instant) -> Int { Int((instant - start).nanoseconds / 1_000_000) }
    let end = start + .seconds(Int64(seconds))
    // What is sent last may still be on its way.
    let counted = start + .seconds(Int64(seconds)) - .milliseconds(600)

    while link.now < end {
      let (nextFrame, nextBlock) = (start + .milliseconds(Int64(frame) * 100 / 3), start + .milliseconds(Int64(block) * 10))
      var until = min(nextFrame, nextBlock, end)
      if let deadline = pictures.deadline { until = min(until, max(deadline, link.now)) }
      if let received = link.advance(to: until) {
        let packet = received.packet.span.bytes
        if received.media.codec.kind == .video {
          if let roundTripTime = link.receiver.roundTripTime { pictures.follow(roundTripTime: roundTripTime) }
          pictures.insert(packet, header: received.media.header, arrival: link.now)
        } else {
          sounds.insert(
            payload: packet.extracting(received.media.header.payload), sequence: received.media.header.sequenceNumber,
            timestamp: received.media.header.timestamp, arrival: link.now)
        }
      }
      let now = link.now
      if let outage { link.conditions.isDown = outage.contains(milliseconds(now)) }

      while let assembled = pictures.poll(now: now) {
        link.receiver.discardMissing(of: link.receiver.transceivers[0].identifier, before: assembled.firstSequenceNumber)
        guard let shown = try? decoder.decode(assembled.encoded) else {
          outcome.decoderErrors += 1
          pictures.requireKeyFrame(now: now)
          continue
        }
        outcome.shownAt.append(milliseconds(now))
        if assembled.encoded.isKeyFrame { outcome.keyFramesShownAt.append(milliseconds(now)) }
        guard let code = TimeCode.read(from: shown.buffer), let original = originals[code.index] else {
          outcome.wrongTimeCodes += 1
          continue
        }
        outcome.worst = min(outcome.worst, lumaPSNR(original, shown.buffer))
        if start + .milliseconds(Int64(code.index) * 100 / 3) < counted { outcome.framesShown += 1 }
      }
      if pictures.pollKeyFrameRequest(now: now) { link.receiver.requestKeyFrame(of: link.receiver.transceivers[0].identifier, now: now) }
      for event in link.senderEvents {
        switch event {
        case .keyFrameRequested(video):
          wantsKeyFrame = true
          outcome.keyFrameRequestsAt.append(milliseconds(now))
        case .targetBitrate(let bitrate): try encoder.setBitrate(min(bitrate, 500_000), framesPerSecond: 30)
        default: break
        }
      }
      link.senderEvents = []

      if now >= nextFrame {
        let encoded = try #require(try encoder.encode(camera.frame(at: frame, captureTime: now), forceKeyFrame: wantsKeyFrame))
        wantsKeyFrame = false
        originals[UInt32(frame)] = try #require(try reference.decode(encoded)).buffer
        link.sender.sendVideo(encoded.bytes.span.bytes, isKeyFrame: encoded.isKeyFrame, captureTime: now, on: video, now: now)
        if now < counted { outcome.framesSent += 1 }
        frame += 1
      }
      if now >= nextBlock {
        if let packet = try voice.encode(microphone.block(at: block, captureTime: now)) {
          link.sender.sendAudio(packet.span.bytes, timestamp: soundTimestamp, captureTime: now, level: 30, on: audio, now: now)
          soundTimestamp &+= voice.timestampStep
        }
        if let click = clicks.process(sounds.nextBlock(now: now), at: now) { outcome.clicksHeard.append(milliseconds(click)) }
        block += 1
      }
    }
    outcome.audio = sounds.counters
    if let delay = sounds.currentDelay(now: link.now) { outcome.excessDelay = (delay - sounds.targetDelay).seconds * 1_000 }
    let report = link.receiver.statistics(now: link.now).values.first { $0["type"] == "inbound-rtp" && $0["kind"] == "video" }
    outcome.retransmissions = report?["retransmittedPacketsReceived"]?.intValue ?? 0
    outcome.lost = link.packetsLost
    outcome.discards = link.receiver.discards.values
    return outcome
  }
}
