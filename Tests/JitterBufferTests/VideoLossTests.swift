import Base
import Camera
import Codecs
import Frames
import RTP
import Testing

@testable import JitterBuffer

/// A camera, an encoder, a bad network with retransmission, the buffer, a decoder: what is shown must be what was sent.
struct VideoLossTests {
  struct Network {
    var loss: Double
    var retransmits: Bool
    /// Up to this many milliseconds on top of 50: packets overtake each other.
    var jitter = 15
  }

  struct Outcome {
    var sent = 0
    var shown = 0
    var worst = 128.0
    var decoderErrors = 0
    var longestStall = 0
    var keyFrameRequests = 0
    var framesOnTime = 0
  }

  @Test(arguments: VideoCodec.allCases)
  func withRetransmissionEveryFrameIsShownUnharmed(codec: VideoCodec) throws {
    let outcome = try run(codec, Network(loss: 0.05, retransmits: true), seconds: 8)
    #expect(outcome.decoderErrors == 0)
    #expect(outcome.worst == 128, "the same picture as without loss, to the last pixel")
    #expect(outcome.shown >= outcome.sent - 10)
    #expect(outcome.longestStall < 400)
  }

  @Test(arguments: VideoCodec.allCases)
  func withoutRetransmissionItResumesAtKeyFramesAndShowsNothingBroken(codec: VideoCodec) throws {
    let outcome = try run(codec, Network(loss: 0.03, retransmits: false), seconds: 8)
    #expect(outcome.decoderErrors == 0)
    #expect(outcome.worst == 128)
    #expect(outcome.keyFrameRequests > 2)
    #expect(outcome.shown > outcome.sent / 5)
    #expect(outcome.longestStall < 1_200)
  }

  @Test(arguments: VideoCodec.allCases)
  func aCleanLinkAddsNoDelay(codec: VideoCodec) throws {
    let outcome = try run(codec, Network(loss: 0, retransmits: false, jitter: 8), seconds: 2)
    #expect(outcome.shown == outcome.sent && outcome.worst == 128 && outcome.keyFrameRequests == 0)
    #expect(outcome.framesOnTime >= outcome.shown, "released with its last packet")
  }

  /// Runs a call of `seconds` in steps of a millisecond. One way takes 50 ms and a little.
  private func run(_ codec: VideoCodec, _ network: Network, seconds: Int) throws -> Outcome {
    var random = RandomSource(seed: 99)
    let camera = SyntheticCamera(width: 320, height: 180)
    let encoder = try CodecFactory.videoEncoder(codec, settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 500_000))
    let (reference, decoder) = (try CodecFactory.videoDecoder(codec), try CodecFactory.videoDecoder(codec))
    let format: RTP.PayloadFormat = codec == .vp8 ? .vp8 : .h264(packetizationMode: 1)
    var source = PacketSource(format: format, sequence: 65_000)
    var buffer = VideoJitterBuffer(format: format)
    var onTheWay: [(arrival: Int, packet: PacketSource.Packet)] = []
    var originals: [UInt32: VideoBuffer] = [:]
    var outcome = Outcome()
    var (keyFrameDue, lastShown) = (Int.max, 60)
    let lastCounted = seconds * 1_000 - 700  // later frames may still be on their way at the end

    func sendOff(_ packet: PacketSource.Packet, at time: Int) {
      var departure = time
      while Double.random(in: 0..<1, using: &random) < network.loss {
        guard network.retransmits, departure < time + 400 else { return }
        departure += 115  // noticed, asked for, sent again
      }
      onTheWay.append((departure + 50 + Int.random(in: 0..<network.jitter, using: &random), packet))
    }

    for now in 0..<seconds * 1_000 {
      if now % 33 == 0 {
        let frame = camera.frame(at: now / 33)
        let isKeyFrame = now >= keyFrameDue
        if isKeyFrame { keyFrameDue = .max }
        let encoded = try #require(try encoder.encode(frame, forceKeyFrame: isKeyFrame))
        let timestamp = UInt32(truncatingIfNeeded: 4_294_900_000 + now * 90)
        originals[timestamp] = try #require(try reference.decode(encoded)).buffer
        for packet in source.packets(of: encoded.bytes, timestamp: timestamp, maximumPayloadCount: 400) { sendOff(packet, at: now) }
        if now < lastCounted { outcome.sent += 1 }
      }
      var rest: [(arrival: Int, packet: PacketSource.Packet)] = []
      for entry in onTheWay {
        if entry.arrival == now { buffer.insert(entry.packet, at: now) } else { rest.append(entry) }
      }
      onTheWay = rest
      while let frame = buffer.poll(now: instant(now)) {
        let original = try #require(originals[frame.timestamp])
        guard let shown = try? decoder.decode(frame.encoded) else {
          outcome.decoderErrors += 1
          buffer.requireKeyFrame(now: instant(now))
          continue
        }
        outcome.worst = min(outcome.worst, lumaPSNR(original, shown.buffer))
        if frame.timestamp &- 4_294_900_000 < UInt32(lastCounted * 90) { outcome.shown += 1 }
        outcome.longestStall = max(outcome.longestStall, now - lastShown)
        if frame.encoded.ledger[.receive] == instant(now) { outcome.framesOnTime += 1 }
        lastShown = now
      }
      if buffer.pollKeyFrameRequest(now: instant(now)) {
        outcome.keyFrameRequests += 1
        keyFrameDue = now + 50
      }
    }
    return outcome
  }
}
